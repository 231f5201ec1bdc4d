"""What stands at a transcript's place, and the digest of a file. Blocking; called in threads."""

import hashlib
import os
import stat
from collections import OrderedDict
from pathlib import Path

import msgspec

from hopline.fleet.transfer.plan import chunk_count
from hopline.fleet.transfer.rules import InPlace

_KNOWN = 64
_READ_BYTES = 1 << 20


class Standing:
    """Tells what is at a place, and reads a file only once for as long as it does not change."""

    def __init__(self) -> None:
        self._digests: OrderedDict[tuple[str, int, int, int], str] = OrderedDict()

    def look(self, target: Path, digest: str, total: int) -> InPlace:
        """Compare what is at `target` with a transcript of `total` chunks. Raises OSError when it cannot be read."""
        try:
            status = target.stat()
        except FileNotFoundError:
            return InPlace.ANOTHER if os.path.lexists(target) else InPlace.NOTHING
        if not stat.S_ISREG(status.st_mode) or chunk_count(status.st_size) != total:
            return InPlace.ANOTHER
        return InPlace.THE_SAME if self._digest(target, status) == digest else InPlace.ANOTHER

    def _digest(self, target: Path, status: os.stat_result) -> str:
        key = (str(target), status.st_ino, status.st_size, status.st_mtime_ns)
        if (known := self._digests.get(key)) is not None:
            self._digests.move_to_end(key)
            return known
        with target.open("rb") as file:
            found = digest_of(file.fileno(), status.st_size)
        self._digests[key] = found
        if len(self._digests) > _KNOWN:
            self._digests.popitem(last=False)
        return found


class _Event(msgspec.Struct):
    sequence: int
    run_id: str
    type: str


def is_journal(path: Path) -> bool:
    """Whether the file holds a run's events rather than an agent's conversation. Raises OSError."""
    with path.open("rb") as file:
        first = file.readline(_READ_BYTES)
    try:
        msgspec.json.decode(first, type=_Event)
    except msgspec.MsgspecError:
        return False
    return True


def digest_of(descriptor: int, size: int) -> str:
    """The SHA-256, in hex, of the first `size` bytes; of fewer when the file has become shorter. Raises OSError."""
    running, offset = hashlib.sha256(), 0
    while offset < size and (data := os.pread(descriptor, min(_READ_BYTES, size - offset), offset)):
        running.update(data)
        offset += len(data)
    return running.hexdigest()
