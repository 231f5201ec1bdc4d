"""What is known of a run outside its journal: the request to start it, and its record on disk.

`runs/<id>/record.json` (0600, replaced atomically) is written by the run's server alone; `runs/<id>/lock` is held by
that server for its lifetime. Whether a run is live is asked of the lock, never of a pid.
"""

import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from hopline import __version__
from hopline.errors import RunGone, Unavailable, UsageError
from hopline.ids import RunId
from hopline.settings import runs_folder

RECORD_FILE = "record.json"
LOCK_FILE = "lock"
JOURNAL_FOLDER = "journal"
LOG_FILE = "server.log"

ENDED = frozenset({"completed", "failed", "stopped"})
"""Statuses that a run never leaves (frontend reference 6.1)."""


class RunSpec(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What `hopline run` asks of a new run server; one JSON line on the server's fd 0."""

    id: RunId
    name: str
    command: list[str]
    cwd: str
    env: dict[str, str] = {}
    """Added to the server's own environment for the worker."""
    runner: str = "direct"
    durability: str = "normal"
    journal_reserve: int = -1
    max_journal: int = 0
    when_journal_full: str = "pause"
    stop_grace_seconds: float = 1.0
    unix_write_deadline_seconds: float = 0.0
    pty: bool = False
    """Whether the worker gets a terminal instead of pipes."""
    columns: int = 80
    rows: int = 24
    """The terminal's size at the start."""
    web: bool = False
    """Whether the server is also this run's gateway (docs/wire/gateway.md)."""
    web_port: int = 0
    """The gateway's on 127.0.0.1; 0 for any free one."""
    web_origins: list[str] = []
    """Further web origins that its page is reached by, as `parse_origin` gives them."""
    attached: bool = False
    """The starter will subscribe: the server waits for it before it leaves."""


class RunRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """One run as listings show it: the instance record of the client wire (docs/wire/client.md)."""

    id: RunId
    run_id: str
    name: str
    status: str
    """starting, running, pausing, paused, stopping, stopped, completed or failed."""
    pid: int
    """The run server's."""
    socket_path: str
    started_at: str
    command: list[str]
    cwd: str
    journal: str
    """The journal's folder."""
    runner: str = "direct"
    pty: bool = False
    """Whether the worker has a terminal instead of pipes."""
    columns: int | None = None
    rows: int | None = None
    """The size of its terminal now; None without one."""
    ended_at: str | None = None
    exit_code: int | None = None
    """The last worker's, when it exited."""
    signal: int | None = None
    """The signal that ended the last worker."""
    waiting: str | None = None
    """Why the worker is held back, such as a full disk; None when it is not."""
    descendants: str | None = None
    """What became of the last worker's processes: gone, remaining or unknown; None until they were looked for."""
    survivors: int = 0
    """How many of them remained."""
    url: str | None = None
    """The page of the run's own gateway with its token: whoever has it may do everything; None without one."""
    generation: int = 1
    hostname: str = msgspec.field(default_factory=lambda: os.uname().nodename)
    protocol_version: int = 1
    hopline_version: str = __version__
    version: int = 1


class Started(msgspec.Struct, frozen=True, tag_field="outcome", tag="serving"):
    """First line on a run server's fd 1: it listens, and this is its record."""

    record: RunRecord


class StartFailed(msgspec.Struct, frozen=True, tag_field="outcome", tag="failed"):
    """First line on a run server's fd 1: it could not start, and nothing half-made is left."""

    code: str
    message: str
    exit_code: int = 1


StartReport = Started | StartFailed


def run_folder(run_id: str) -> Path:
    """The state folder of a run."""
    return runs_folder() / run_id


def write_record(record: RunRecord) -> None:
    """Replace the record on disk. Raises OSError."""
    folder = run_folder(record.id)
    temporary = folder / (RECORD_FILE + ".new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(msgspec.json.encode(record))
    temporary.replace(folder / RECORD_FILE)


def read_record(run_id: str) -> RunRecord:
    """The record of a run. Raises RunGone when there is none, Unavailable when it cannot be understood."""
    path = run_folder(run_id) / RECORD_FILE
    try:
        return msgspec.json.decode(path.read_bytes(), type=RunRecord)
    except FileNotFoundError:
        raise RunGone(f"there is no run {run_id!r}; `hopline ls --all` lists them.") from None
    except (OSError, msgspec.MsgspecError) as error:
        raise Unavailable(f"cannot read {path}: {error}; `hopline doctor` can look at it.") from error


def run_ids() -> list[str]:
    """Every run that has a folder, in no order."""
    try:
        return [entry.name for entry in os.scandir(runs_folder()) if entry.is_dir()]
    except FileNotFoundError:
        return []


def records() -> Iterator[RunRecord]:
    """Every readable record, oldest first; a run whose server has not written one yet is left out."""
    found = []
    for run_id in run_ids():
        try:
            found.append(read_record(run_id))
        except (RunGone, Unavailable):
            continue
    yield from sorted(found, key=lambda record: (record.started_at, record.id))


def resolve(run: str) -> RunRecord:
    """The run that RUN means: an id, a unique prefix of one, a name (the newest so named), or @last.

    Raises RunGone when nothing matches and UsageError when a prefix is ambiguous.
    """
    if run == "@last":
        every = list(records())
        if not every:
            raise RunGone("there is no run yet; start one: hopline run -- CMD")
        return every[-1]
    ids = run_ids()
    if run in ids:
        return read_record(run)
    named = [record for record in records() if record.name == run]
    if named:
        return named[-1]
    prefixed = sorted(run_id for run_id in ids if run and run_id.startswith(run))
    if len(prefixed) > 1:
        raise UsageError(f"{run!r} begins {len(prefixed)} run ids ({', '.join(prefixed[:5])}); write more of it.")
    if not prefixed:
        raise RunGone(f"there is no run {run!r}; `hopline ls --all` lists them.")
    return read_record(prefixed[0])


def hold_lock(run_id: str) -> int:
    """Take the run's lock for this process's lifetime. Returns its descriptor; raises Unavailable if it is held."""
    descriptor = os.open(run_folder(run_id) / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(descriptor)
        raise Unavailable(f"run {run_id} already has a server; attach to it: hopline attach {run_id}") from None
    return descriptor


def is_live(run_id: str) -> bool:
    """Whether the run's server lives: somebody holds its lock."""
    try:
        descriptor = os.open(run_folder(run_id) / LOCK_FILE, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def shown_status(record: RunRecord) -> str:
    """The status for a person: `interrupted` when the server is gone and the run had not ended."""
    return record.status if record.status in ENDED or is_live(record.id) else "interrupted"
