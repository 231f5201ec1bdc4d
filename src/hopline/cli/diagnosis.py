"""What `hopline doctor` looks for: processes, sockets and folders that no live run owns, and journals with trouble.

The doctor is the one face that looks into journals itself, through `hopline.journal.repair`, and at processes,
through `hopline.worker.survivors`: it is for runs that no server can speak for any more.
"""

import shutil
from collections.abc import Callable
from pathlib import Path

import msgspec

from hopline.client import connect, facts, socket_gone
from hopline.client.batches import Head
from hopline.errors import Corrupt, HoplineError, RunGone, Unavailable
from hopline.journal import repair
from hopline.journal.port import Damage
from hopline.journal.view import JournalView
from hopline.records import ENDED, JOURNAL_FOLDER, hold_lock, is_live, read_record, run_folder, run_ids
from hopline.settings import runtime_folder
from hopline.worker import processes, survivors

ANSWER_SECONDS = 2.0
"""How long a live run's server may take to answer nothing much."""

Progress = Callable[[str, int, int], None]
"""Told the run, the bytes done and the bytes there are to do."""


class Orphan(msgspec.Struct, frozen=True, kw_only=True):
    """A process of a run that has no server."""

    run_id: str
    pid: int
    name: str
    started_at: str
    start_time: float


class JournalHealth(msgspec.Struct, frozen=True, kw_only=True):
    """One journal, every byte of it looked at."""

    run_id: str
    events: int = 0
    bytes: int = 0
    torn_bytes: int = 0
    """Length of an unfinished last line; --repair cuts it."""
    index: str = "current"
    """current, behind, missing or unusable; --repair makes it current."""
    damage: list[str] = []
    """Places whose bytes are lost; they stay where they are and readers step over them."""
    end_missing: str | None = None
    """That the record says the run ended and the journal does not; nothing can mend it."""
    trouble: str | None = None
    """Why it could not be read at all."""

    @property
    def repairable(self) -> bool:
        """Whether --repair would change something."""
        return bool(self.torn_bytes) or self.index != "current"

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong with it."""
        return not self.repairable and not self.damage and self.end_missing is None and self.trouble is None


def marked_runs() -> set[str]:
    """Ids of the runs that some process names in its environment."""
    marks = (processes.environment(process.pid) for process in processes.every() if not process.ended)
    return {mark.decode("ascii", "replace") for env in marks if env and (mark := env.get(b"HOPLINE_RUN"))}


def orphans(only: str | None = None) -> list[Orphan]:
    """Processes of the runs kept here, or of one, that have no server any more.

    Runs of another HOPLINE_HOME are not ours to judge. Finding none proves nothing about processes that cleared
    their environment.
    """
    marked = marked_runs() & set(run_ids()) if only is None else {only}
    return [
        Orphan(run_id=run_id, pid=one.pid, name=one.name, started_at=one.started_at, start_time=one.start_time)
        for run_id in sorted(marked)
        if not is_live(run_id)
        for one in survivors.find(run_id).processes
    ]


class Unreachable(msgspec.Struct, frozen=True, kw_only=True):
    """A live run whose server cannot be asked."""

    run_id: str
    pid: int
    reason: str
    """Why, and the next step."""


def unreachable(only: str | None = None) -> list[Unreachable]:
    """Live runs, or the one, whose server does not answer within ANSWER_SECONDS."""
    chosen = run_ids() if only is None else [only]
    found = [(run_id, _why_unreachable(run_id)) for run_id in sorted(chosen) if is_live(run_id)]
    return [
        Unreachable(run_id=run_id, pid=read_record(run_id).pid, reason=reason) for run_id, reason in found if reason
    ]


def _why_unreachable(run_id: str) -> str | None:
    try:
        record = read_record(run_id)
    except Unavailable:  # it has not begun, or what is broken is its record
        return None
    try:
        with connect(record.socket_path) as connection:
            connection.check(ANSWER_SECONDS)
    except RunGone:
        over = not is_live(run_id) or read_record(run_id).status in ENDED
        return None if over else str(socket_gone(record))
    except HoplineError as error:
        return str(error)
    return None


def stale_sockets(only: str | None = None) -> list[Path]:
    """Folders of sockets that nobody listens on any more."""
    try:
        folders = sorted((runtime_folder() / "runs").iterdir())
    except OSError:
        return []
    return [folder for folder in folders if only in (None, folder.name) and _is_stale(folder)]


def half_made() -> list[Path]:
    """State folders whose server never got as far as a record, and is gone."""
    return [run_folder(run_id) for run_id in sorted(run_ids()) if not is_live(run_id) and _has_no_record(run_id)]


def look_at(run_id: str, progress: Progress) -> JournalHealth:
    """Read every byte of the run's journal, live or not, and change nothing."""
    try:
        found = repair.check(run_folder(run_id) / JOURNAL_FOLDER, lambda done, total: progress(run_id, done, total))
    except (Corrupt, Unavailable) as error:
        return JournalHealth(run_id=run_id, trouble=str(error))
    live = is_live(run_id)
    return JournalHealth(
        run_id=run_id,
        events=found.events,
        bytes=found.bytes,
        torn_bytes=0 if live else found.torn_bytes,
        index="current" if live and found.index in ("behind", "missing") else found.index,
        damage=[_place(place) for place in found.damage],
        end_missing=None if live else _missing_end(run_id, found.last_sequence),
    )


def _place(damage: Damage) -> str:
    """The damage in one sentence; an event more or less is what matters, so that comes first."""
    lost = damage.last_sequence - damage.first_sequence + 1
    if lost <= 0:
        head = "no event is lost, but"
    elif lost == 1:
        head = f"event {damage.first_sequence} is lost:"
    else:
        head = f"events {damage.first_sequence} to {damage.last_sequence} are lost:"
    return f"{head} {damage.reason}, at bytes {damage.start} to {damage.end} of {damage.path}"


def _missing_end(run_id: str, last_sequence: int) -> str | None:
    """What there is to say when the record tells of an end that the journal does not hold."""
    try:
        status = read_record(run_id).status
        if status not in ENDED:
            return None
        view = JournalView.open(run_folder(run_id) / JOURNAL_FOLDER)
    except HoplineError:
        return None
    try:
        kinds = {msgspec.json.decode(line, type=Head).type for line in view.spine(last_sequence)}
    finally:
        view.close()
    return None if kinds & facts.RUN_ENDS else facts.end_missing(status, last_sequence)


def mend(health: JournalHealth, progress: Progress) -> JournalHealth:
    """The journal after --repair: its torn end cut, its index current. A live run's is left alone."""
    if not health.repairable or is_live(health.run_id):
        return health
    folder = run_folder(health.run_id) / JOURNAL_FOLDER
    try:
        lock = hold_lock(health.run_id)
    except Unavailable:
        return health
    import os

    try:
        repair.repair(folder, live=False, progress=lambda done, total: progress(health.run_id, done, total))
    except HoplineError as error:
        return msgspec.structs.replace(health, trouble=str(error))
    finally:
        os.close(lock)
    return look_at(health.run_id, progress)


def remove(folder: Path) -> bool:
    """Remove a stale socket's folder or a half-made run's. False when a server came up in it meanwhile."""
    if is_live(folder.name) or not (_is_stale(folder) if folder.parent == runtime_folder() / "runs" else True):
        return False
    shutil.rmtree(folder, ignore_errors=True)
    return not folder.exists()


def _is_stale(folder: Path) -> bool:
    if is_live(folder.name):
        return False
    try:
        connect(str(folder / "control.sock")).close()
    except RunGone:
        return True
    except HoplineError:
        return False
    return False


def _has_no_record(run_id: str) -> bool:
    try:
        read_record(run_id)
    except RunGone:
        return True
    except Unavailable:
        return False
    return False
