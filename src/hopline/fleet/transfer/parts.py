"""Part files of transcripts that are arriving, and how a whole one gets into its place. Blocking; called in threads.

A part is `<digest>.part` in a private folder, mode 0600. Its SHA-256 is kept up as it grows, so that the end of a
transfer costs no second reading; a part that was left by an earlier process is read once.
"""

import hashlib
import os
import secrets
import sys
import time
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from hopline.journal.space import Space

MAX_PARTS = 16
"""How many unfinished transcripts are kept; the one that grew least lately leaves first."""

PART_SECONDS = 7 * 86_400.0
"""How long one that does not grow is kept."""

_READ_BYTES = 1 << 20
_WRITE_OUT_BYTES = 8 << 20
"""After so many the disk begins to take them, so that little is left for the sync at the end."""


@dataclass(slots=True)
class _Open:
    descriptor: int
    inode: int
    size: int
    hash: "hashlib._Hash"
    changed_at: int
    """Nanoseconds, by the file's own word, when we wrote to it last."""
    written_out: int = 0
    """Up to where the disk was told to begin."""


class Parts:
    """The part files of one folder. For each digest, one thread at a time.

    Args:
        folder: private, and made already.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: OrderedDict[str, _Open] = OrderedDict()
        self._room = Space(folder, -1)

    def close(self) -> None:
        """Let go of every part; they stay where they are."""
        while self._open:
            os.close(self._open.popitem()[1].descriptor)

    def spare(self) -> int:
        """Bytes that the volume can give; less than 0 when what should stay free is not."""
        self._room.look()
        return self._room.spare

    def held(self, digest: str) -> int:
        """Bytes of the part; 0 when there is none."""
        try:
            return self._path(digest).lstat().st_size
        except FileNotFoundError:
            return 0

    def restart(self, digest: str) -> None:
        """An empty part, whatever was there. Raises OSError."""
        self.forget(digest)
        self._sweep()
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        self._adopt(digest, os.open(self._path(digest), flags, 0o600))

    def cut(self, digest: str, size: int) -> None:
        """Keep only the first `size` bytes of a part that has at least as many. Raises OSError."""
        part = self._part(digest)
        if part.size == size:
            return
        os.ftruncate(part.descriptor, size)
        self._release(digest)
        self._part(digest)

    def append(self, digest: str, data: bytes) -> None:
        """Add to the part. Raises OSError; then the part is gone, so that it frees what it took."""
        part = self._part(digest)
        try:
            rest = memoryview(data)
            while rest:
                rest = rest[os.pwrite(part.descriptor, rest, part.size + len(data) - len(rest)) :]
            part.changed_at = os.fstat(part.descriptor).st_mtime_ns
        except OSError:
            self.forget(digest)
            raise
        part.hash.update(data)
        part.size += len(data)
        if part.size - part.written_out >= _WRITE_OUT_BYTES:
            _write_out(part.descriptor, part.written_out, part.size)
            part.written_out = part.size

    def is_whole(self, digest: str) -> bool:
        """Whether the part is what its name says. If so it is on the disk; if not it is gone. Raises OSError."""
        part = self._part(digest)
        if part.hash.hexdigest() != digest:
            self.forget(digest)
            return False
        os.fsync(part.descriptor)
        return True

    def place(self, digest: str, target: Path) -> None:
        """Give a whole part its place, durably. Raises FileExistsError when something is there, else OSError."""
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        part = self._path(digest)
        try:
            os.link(part, target, follow_symlinks=False)
        except FileExistsError:
            raise
        except OSError:  # another volume, or one without hard links
            _copy_into_place(part, target)
        _sync_folder(target.parent)
        self.forget(digest)

    def forget(self, digest: str) -> None:
        """Remove the part, if there is one. Raises OSError."""
        self._release(digest)
        self._path(digest).unlink(missing_ok=True)

    def _path(self, digest: str) -> Path:
        return self._folder / f"{digest}.part"

    def _part(self, digest: str) -> _Open:
        """The part, open, and as it is on the disk now."""
        path = self._path(digest)
        if (part := self._open.get(digest)) is not None:
            self._open.move_to_end(digest)
            status = path.lstat()
            if (status.st_ino, status.st_size, status.st_mtime_ns) == (part.inode, part.size, part.changed_at):
                return part
            self._release(digest)  # somebody else had a hand in it
        return self._adopt(digest, os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC))

    def _adopt(self, digest: str, descriptor: int) -> _Open:
        try:
            running, size = hashlib.sha256(), 0
            status = os.fstat(descriptor)
            while data := os.pread(descriptor, _READ_BYTES, size):
                running.update(data)
                size += len(data)
            part = _Open(descriptor, status.st_ino, size, running, status.st_mtime_ns)
        except OSError:
            os.close(descriptor)
            raise
        self._open[digest] = part
        if len(self._open) > MAX_PARTS:
            self._release(next(iter(self._open)))
        return part

    def _release(self, digest: str) -> None:
        if (part := self._open.pop(digest, None)) is not None:
            os.close(part.descriptor)

    def _sweep(self) -> None:
        """Make room for one more: old parts leave, then those that grew least lately."""
        ages = sorted((path.stat().st_mtime, path.stem) for path in self._folder.glob("*.part"))
        stale = time.time() - PART_SECONDS
        surplus = len(ages) - MAX_PARTS + 1
        for place, (grown_at, digest) in enumerate(ages):
            if place < surplus or grown_at < stale:
                self.forget(digest)


def _write_out(descriptor: int, begin: int, end: int) -> None:
    """Let the disk begin with these bytes, without waiting for it: Linux writes what will not be needed soon."""
    if sys.platform == "linux":
        os.posix_fadvise(descriptor, begin, end - begin, os.POSIX_FADV_DONTNEED)


def _copy_into_place(part: Path, target: Path) -> None:
    """As a link, where none can be made: copied beside the target, then renamed. Raises FileExistsError, OSError."""
    temporary = target.parent / f".{target.name}.{secrets.token_hex(8)}"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with part.open("rb") as source, os.fdopen(descriptor, "wb") as copy:
            while data := source.read(_READ_BYTES):
                copy.write(data)
            copy.flush()
            os.fsync(copy.fileno())
        try:
            os.link(temporary, target)
        except FileExistsError:
            raise
        except OSError:
            if os.path.lexists(target):
                raise FileExistsError(target) from None
            temporary.rename(target)
    finally:
        temporary.unlink(missing_ok=True)


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
