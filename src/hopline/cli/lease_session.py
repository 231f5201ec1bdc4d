"""Under which session a command holds leases: --session, else the run's, else one name a login and terminal."""

import os
import re
from pathlib import Path

import click

from hopline.errors import UsageError

MAX_SESSION_CHARACTERS = 128

session_option = click.option(
    "--session",
    metavar="S",
    help="Whose lease. Default: HOPLINE_SESSION, which a run's worker has, else a name for this login and terminal.",
)
"""The claiming session."""

_UNSET_LOGIN = "4294967295"


def session_name(given: str | None, call: str | None = None) -> str:
    """The session: as given, else HOPLINE_SESSION, else the agent's of a tool call, else the login and terminal.

    Raises UsageError.
    """
    name = given if given is not None else os.environ.get("HOPLINE_SESSION") or call or login_name()
    if not 1 <= len(name) <= MAX_SESSION_CHARACTERS or "@" in name or not name.isprintable() or name != name.strip():
        raise UsageError(
            f"{name[:80]!r} is no session; it has 1 to 128 printable characters, no @, and no blank at either end."
        )
    return name


def shared_name(given: str | None) -> str:
    """A warning when nothing tells this program from others of this user and machine; empty otherwise."""
    if given is not None or os.environ.get("HOPLINE_SESSION") or _terminal():
        return ""
    return (
        f"no session is named and there is no terminal: this counts as {login_name()}, like every such program of "
        "yours on this machine, so none of them keeps another out. Start agents with hopline run, or give each its "
        "own HOPLINE_SESSION or --session\n"
    )


def login_name() -> str:
    """User, login and terminal, such as `ann-pts3-1f2e3d4c`: the same for every command typed there, hooks included.

    What is typed at a terminal later, in another session on it, has another name.
    """
    parts = [_user(), *_login(), *_terminal()]
    return "-".join(re.sub(r"[^A-Za-z0-9_.]", "", part) or "x" for part in parts)


def _user() -> str:
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid{os.getuid()}"


def _login() -> list[str]:
    """What the system numbers this login by, so that a terminal's next user has another name."""
    try:
        number = Path("/proc/self/sessionid").read_text(encoding="ascii").strip()
    except OSError:
        return []
    return [f"login{number}"] if number not in ("", _UNSET_LOGIN) else []


def _terminal() -> list[str]:
    """The controlling terminal, also when input and output are redirected."""
    try:
        descriptor = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return []
    os.close(descriptor)
    fields = _stat("self")
    device = int(fields[4])  # tty_nr, proc(5)
    major, minor = os.major(device), os.minor(device)
    name = f"pts{minor + 256 * (major - 136)}" if 136 <= major <= 143 else f"tty{major}.{minor}"
    return [name, _leader(fields[3])]


def _leader(session: str) -> str:
    """Eight digits that stand for the session on the terminal: its leader and since when that runs."""
    import hashlib

    try:
        since = _stat(session)[19]  # starttime
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii")
    except OSError:
        since = boot = ""  # the leader has left, or is not to be seen
    return hashlib.sha256(f"{boot} {session} {since}".encode()).hexdigest()[:8]


def _stat(process: str) -> list[str]:
    """What proc(5) says of a process, from its state on."""
    text = Path(f"/proc/{process}/stat").read_text(encoding="ascii", errors="replace")
    return text.rpartition(")")[2].split()
