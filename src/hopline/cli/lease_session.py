"""Under which session a command holds leases: --session, else the run's, else one name a login and terminal."""

import os
import re
from pathlib import Path

import click

from hopline.errors import UsageError

MAX_SESSION_CHARACTERS = 128

session_option = click.option(
    "--session", metavar="S", help="Whose lease. Default: the run's, else one name for this login and terminal."
)
"""The claiming session."""

_UNSET_LOGIN = "4294967295"


def session_name(given: str | None) -> str:
    """The session: as given, else HOPLINE_SESSION, else the login and terminal. Raises UsageError."""
    name = given if given is not None else os.environ.get("HOPLINE_SESSION") or login_name()
    if not 1 <= len(name) <= MAX_SESSION_CHARACTERS or "@" in name or not name.isprintable():
        raise UsageError(f"{name[:80]!r} is no session; it has 1 to 128 printable characters and no @.")
    return name


def login_name() -> str:
    """User, login and terminal, such as `ann-c2-pts3`: the same for every command typed there, hooks included."""
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
    fields = Path("/proc/self/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    device = int(fields[4])  # tty_nr, proc(5)
    major, minor = os.major(device), os.minor(device)
    return [f"pts{minor + 256 * (major - 136)}" if 136 <= major <= 143 else f"tty{major}.{minor}"]
