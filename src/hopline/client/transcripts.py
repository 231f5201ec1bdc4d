"""The conversation that a person means by a session's id: an agent's transcript on disk, or a run's events. Blocking.

Claude Code keeps a conversation as `projects/<folder>/<id>.jsonl` in its configuration folder.
"""

import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import msgspec

from hopline.client import Subscription, dial
from hopline.client.batches import read_lines
from hopline.client.connection import ANSWER_SECONDS
from hopline.client.history import bearings
from hopline.errors import RunGone, Unavailable, UsageError
from hopline.records import RunRecord, resolve
from hopline.settings import home

_FILE_NAME = re.compile(r"[A-Za-z0-9_-]{1,128}")
_LINES_SEARCHED = 200
_LONGEST_LINE = 1 << 20


@dataclass(slots=True)
class Transcript:
    """A file to be sent. Close it when it was.

    Args:
        session_id: the full one.
        path: that this user's hub can open; of a run, a file without a name that is gone when it is closed.
        cwd: where the conversation took place; None when nothing says so.
        file: held open for `path`, when it has no name.
    """

    session_id: str
    path: Path
    cwd: str | None
    file: IO[bytes] | None = None

    def close(self) -> None:
        """Let go of it."""
        if self.file is not None:
            self.file.close()


def find(session_id: str) -> Transcript:
    """The transcript of an agent's session of that id, else the events of the run that `session_id` means.

    Raises RunGone when there is neither, UsageError when it means several.
    """
    found = _agent_transcripts(session_id)
    if len(found) > 1:
        places = ", ".join(str(path) for path in found[:3])
        raise UsageError(f"session {session_id} has several transcripts ({places}); name one with --transcript.")
    if found:
        return at(session_id, found[0])
    try:
        record = resolve(session_id)
    except RunGone:
        raise RunGone(
            f"there is no session {session_id!r}: no transcript {_projects()}/*/{session_id}.jsonl, and no run; "
            "name the file with --transcript PATH."
        ) from None
    return _exported(record)


def at(session_id: str, path: Path) -> Transcript:
    """The file at `path` as the transcript of a session. Raises UsageError when it is no plain file."""
    if not path.is_file():
        raise UsageError(f"{path} is no file; name a transcript with --transcript PATH.")
    return Transcript(session_id, path.absolute(), stated_cwd(path))


def stated_cwd(path: Path) -> str | None:
    """The working directory that a transcript's lines name first; None when none of the first lines does."""
    try:
        with path.open("rb") as file:
            for _ in range(_LINES_SEARCHED):
                if not (line := file.readline(_LONGEST_LINE)):
                    return None
                if (cwd := _cwd_of(line)) is not None:
                    return cwd
    except OSError:
        return None
    return None


class _Line(msgspec.Struct):
    cwd: str | None = None


_line = msgspec.json.Decoder(_Line)


def _cwd_of(line: bytes) -> str | None:
    try:
        cwd = _line.decode(line).cwd
    except msgspec.MsgspecError:
        return None
    return cwd if cwd and cwd.startswith("/") else None


def _projects() -> Path:
    named = os.environ.get("CLAUDE_CONFIG_DIR")
    return (Path(named) if named else Path.home() / ".claude") / "projects"


def _agent_transcripts(session_id: str) -> list[Path]:
    if _FILE_NAME.fullmatch(session_id) is None:
        return []
    return sorted(path for path in _projects().glob(f"*/{session_id}.jsonl") if path.is_file())


def _exported(record: RunRecord) -> Transcript:
    """Every event of the run until now, one JSON line each, as the journal holds them."""
    here = bearings(dial(record))
    file = tempfile.TemporaryFile(dir=home())  # noqa: SIM115  # the transcript holds it open
    try:
        after = 0
        subscription = Subscription(dial(record), after=0, store_id=here.store_id)
        try:
            while after < here.sequence:
                if (frame := subscription.next_frame(ANSWER_SECONDS)) is None:
                    raise Unavailable(f"the server of run {record.id} left at event {after}; try again.")
                batch = read_lines(frame)
                file.writelines(
                    bytes(event) + b"\n" for head, event in batch.lines if after < head.sequence <= here.sequence
                )
                after = max(after, batch.through_sequence)
        finally:
            subscription.close()
        file.flush()
    except BaseException:
        file.close()
        raise
    return Transcript(str(record.id), Path(f"/proc/{os.getpid()}/fd/{file.fileno()}"), record.cwd, file)
