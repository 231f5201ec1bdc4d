"""Who a journal is: `store.json`, written once when the journal is made and never changed."""

import os
from pathlib import Path

import msgspec

from hopline.clock import rfc3339
from hopline.errors import Corrupt, Unavailable
from hopline.ids import new_store_id

STORE_FILE = "store.json"
SEGMENTS_FOLDER = "segments"
INDEX_FILE = "index.db"
SPINE_FILE = "spine.jsonl"
SEGMENT_DIGITS = 20
FORMAT = 1
"""Version of the files' format; a reader refuses a greater one."""


class Identity(msgspec.Struct, frozen=True):
    """The content of store.json; unknown keys of a later edition of the same format are ignored."""

    format: int
    store_id: str
    run_id: str
    created_at: str


def create_identity(folder: Path, run_id: str, *, durable: bool, store_id: str = "") -> Identity:
    """Make the journal's folders, its empty first segment and last store.json, all private to this user.

    `store_id` is made up when it is "".
    Raises Unavailable when there is a journal already or the files cannot be made; nothing half-made is left then.
    """
    identity = Identity(FORMAT, store_id or new_store_id(), run_id, rfc3339())
    segments = folder / SEGMENTS_FOLDER
    made: list[Path] = []
    try:
        if (folder / STORE_FILE).exists() or (segments.is_dir() and any(segments.iterdir())):
            raise Unavailable(f"{folder} already holds a journal; open it, or choose another folder.")
        for path in (folder, segments):
            if not path.is_dir():
                path.mkdir(mode=0o700, parents=path is folder)
                made.append(path)
        for path, content in (
            (segment_path(folder, 1), b""),
            (folder / (STORE_FILE + ".new"), msgspec.json.encode(identity) + b"\n"),
        ):
            made.append(path)
            _write_private(path, content, durable=durable)
        (folder / (STORE_FILE + ".new")).replace(folder / STORE_FILE)
        if durable:
            for path in (segments, folder, folder.parent):
                sync_folder(path)
    except OSError as error:
        _remove(made)
        raise Unavailable(
            f"cannot make a journal in {folder}: {error.strerror}; free some room there or set HOPLINE_HOME elsewhere."
        ) from error
    return identity


def discard_identity(folder: Path) -> None:
    """Take back what `create_identity` made, as long as nothing else is in it."""
    segments = folder / SEGMENTS_FOLDER
    _remove([folder, segments, segment_path(folder, 1), folder / STORE_FILE])


def read_identity(folder: Path) -> Identity:
    """Who the journal in `folder` is. Raises Unavailable when there is none or it is newer than us, Corrupt else."""
    path = folder / STORE_FILE
    try:
        identity = msgspec.json.decode(path.read_bytes(), type=Identity)
    except FileNotFoundError:
        raise Unavailable(f"{folder} holds no journal (there is no {STORE_FILE}); check the path.") from None
    except OSError as error:
        raise Unavailable(f"cannot read {path}: {error.strerror}; check its owner and mode.") from error
    except (msgspec.MsgspecError, ValueError) as error:
        raise Corrupt(f"{path} does not say what journal this is ({error}); restore it from a copy.") from error
    if identity.format > FORMAT:
        raise Unavailable(
            f"{path} has format {identity.format} and this hopline reads up to {FORMAT}; update hopline to open it."
        )
    return identity


def segment_path(folder: Path, first: int) -> Path:
    """The file of the segment that begins with this sequence."""
    return folder / SEGMENTS_FOLDER / f"{first:0{SEGMENT_DIGITS}d}.jsonl"


def sync_folder(folder: Path) -> None:
    """Put the folder's entries on stable storage. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_private(path: Path, content: bytes, *, durable: bool) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        if durable:
            os.fsync(file.fileno())


def _remove(made: list[Path]) -> None:
    for path in reversed(made):
        try:
            path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
        except OSError:
            continue
