"""What a lease is of: KIND:VALUE, checked, and paths as leases count them."""

import re

from hopline.errors import UsageError

PATH_GLOB = "path_glob"
MAX_VALUE_CHARACTERS = 512

_WILD = re.compile(r"[*?\[{]")
_HOME = re.compile(r"~[A-Za-z0-9_.-]*(/|$)")


def parse_resource(text: str) -> tuple[str, str]:
    """KIND and VALUE. Raises UsageError."""
    kind, colon, value = text.partition(":")
    if not colon or not value or not re.fullmatch(r"[a-z0-9_-]{1,32}", kind):
        raise UsageError(f"{text[:80]!r} is not KIND:VALUE; write for example path_glob:src/auth/** or branch:main")
    if len(value) > MAX_VALUE_CHARACTERS or not value.isprintable():
        raise UsageError(
            f"the value of {text[:40]!r}... is not 1 to {MAX_VALUE_CHARACTERS} printable characters; shorten it."
        )
    return kind, value


def claimable(kind: str, value: str) -> str:
    """The value as it can hold something: an absolute path inside a repository counts from its top.

    Raises UsageError for a `path_glob` that no path of a repository begins with.
    """
    if kind != PATH_GLOB:
        return value
    if value.startswith("/"):
        return _below_the_top(value)
    wrong = None
    if value != value.strip():
        wrong = "begins or ends with a blank"
    elif "\\" in value:
        wrong = "has a backslash; paths are written with /"
    elif value.startswith("!"):
        wrong = "begins with !, and leases know no exceptions"
    elif _HOME.match(value):
        wrong = "begins with ~, and paths count from the top of a repository; ./~ is meant literally"
    if wrong is not None:
        raise UsageError(
            f"path_glob:{value[:80]} {wrong}: it would hold nothing. Write for example path_glob:src/auth/**"
        )
    return value


def _below_the_top(value: str) -> str:
    """An absolute path or pattern, relative to the top of the repository we are in."""
    import os

    from hopline.cli.guard_paths import top

    wild = _WILD.search(value)
    whole = value.rfind("/", 0, wild.start()) if wild else len(value)
    fixed, rest = value[:whole], value[whole:]
    root = top()
    if root is not None:
        below = os.path.relpath(os.path.realpath(fixed or "/"), root.resolve())
        if below == ".":
            return rest.strip("/") or "**"
        if below != ".." and not below.startswith("../"):
            closing = "/" if not rest and value.endswith("/") else ""
            return below + rest + closing
    where = "and no repository is here" if root is None else f"and the repository here is {root}"
    raise UsageError(
        f"path_glob:{value[:80]} begins at the root of the file system {where}: it would hold nothing. "
        "Paths count from the top of a repository; write for example path_glob:src/auth/**"
    )
