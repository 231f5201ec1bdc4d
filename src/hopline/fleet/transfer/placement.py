"""Where a conversation from another machine is put, and the command that resumes it. Pure (docs/wire/peer.md).

Nothing here trusts its input: the session id and the working directory come from a peer.
"""

import re
import shlex
from dataclasses import dataclass

from hopline.wire.peer.texts import is_printable

MAX_CWD_BYTES = 4096
"""The longest working directory that is taken."""

MAX_SLUG_BYTES = 255
"""The longest name of a folder; a slug is ASCII, so bytes are characters."""

_SESSION_ID = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_-]{0,127}")
_OUTSIDE = re.compile(r"[^A-Za-z0-9]")


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a transcript goes, under the person's home, and what resumes it."""

    path: str
    """Relative to the home folder."""
    resume: str
    """For a shell; everything in it that came from the peer is quoted."""


def is_session_id(text: str) -> bool:
    """Whether `text` may name a session: 1 to 128 of letters, digits, `_` and `-`, not beginning with `-`.

    One that begins with `-` would be an option of the command that resumes it.
    """
    return _SESSION_ID.fullmatch(text) is not None


def why_not_cwd(cwd: str) -> str | None:
    """What is wrong with a working directory, as the end of a sentence; None for a good one."""
    try:
        length = len(cwd.encode())
    except UnicodeEncodeError:
        return "is not UTF-8"
    if not cwd.startswith("/"):
        return "is not absolute"
    if length > MAX_CWD_BYTES:
        return f"has {length} bytes; at most {MAX_CWD_BYTES} are taken"
    if not is_printable(cwd):
        return "has control characters"
    if ".." in cwd.split("/"):
        return "has a .. in it"
    if len(slug(cwd)) > MAX_SLUG_BYTES:
        return f"makes a folder's name of more than {MAX_SLUG_BYTES} characters"
    return None


def slug(cwd: str) -> str:
    """The name of the folder that holds the conversations of `cwd`: what is no ASCII letter or digit becomes `-`."""
    return _OUTSIDE.sub("-", cwd.rstrip("/") or "/")


def reading(path: str) -> str:
    """The command, for a shell, that shows what cannot be resumed: a run's events."""
    return f"less {shlex.quote(path)}"


def place(cwd: str, session_id: str) -> Placement:
    """The place of a session whose id and working directory were found good."""
    return Placement(
        f".claude/projects/{slug(cwd)}/{session_id}.jsonl",
        f"cd {shlex.quote(cwd)} && claude --resume {session_id} --fork-session",
    )
