"""Everything that can be known to be wrong with a run before anything is started for it."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from hopline.errors import Unavailable, UsageError

MAX_NAME_CHARACTERS = 64
MAX_SHOWN_CHARACTERS = 80
"""Of what was refused, in the sentence that refuses it."""

_OURS = frozenset({"HOPLINE_RUN", "HOPLINE_SESSION", "HOPLINE_GENERATION", "HOPLINE_SERVER"})


def checked_cwd(cwd: str | None) -> str:
    """The worker's working folder as an absolute path; the current one when None. Raises Unavailable."""
    try:
        path = str(Path.cwd()) if cwd is None else str(Path(cwd).expanduser().absolute())
    except FileNotFoundError:
        raise Unavailable("the current folder is gone; cd to one that exists, or name one with --cwd.") from None
    check_text([path])
    if not Path(path).exists():
        raise Unavailable(f"the folder {path} does not exist; name another with --cwd.")
    if not Path(path).is_dir():
        raise Unavailable(f"{path} is not a folder; name one with --cwd.")
    if not os.access(path, os.X_OK):
        raise Unavailable(f"you may not enter the folder {path}; name another with --cwd.")
    return path


def check_program(program: str, cwd: str, search_path: str | None) -> None:
    """Raises Unavailable when `program` cannot be started from `cwd` as a shell would find it.

    Args:
        program: the first word of the command.
        cwd: absolute folder that a relative path counts from.
        search_path: the worker's PATH; None for the system's default.
    """
    if "/" in program:
        _check_file(Path(cwd, program), program)
        return
    folders = (os.defpath if search_path is None else search_path).split(os.pathsep)
    candidates = [path for folder in folders if (path := Path(cwd, folder, program)).exists() and not path.is_dir()]
    if not candidates:
        raise Unavailable(f"there is no program {program!r} on PATH; check the spelling or give its path.")
    if not any(os.access(path, os.X_OK) for path in candidates):
        _check_file(candidates[0], str(candidates[0]))


def _check_file(path: Path, shown: str) -> None:
    if not path.exists():
        raise Unavailable(f"there is no program {shown!r}; check the path.")
    if path.is_dir():
        raise Unavailable(f"{shown!r} is a folder, not a program; name a program.")
    if not os.access(path, os.X_OK):
        raise Unavailable(f"{shown!r} is not executable; run: chmod +x {path}")


def parse_env(pairs: Sequence[str]) -> dict[str, str]:
    """The variables of --env K=V, the last of a name winning. Raises UsageError."""
    found = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise UsageError(f"--env {pair!r} is not NAME=VALUE; write for example --env LANG=C.UTF-8")
        if name in _OURS:
            raise UsageError(f"--env may not set {name}: hopline sets it so that the worker can name its run.")
        found[name] = value
    return found


def checked_origins(origins: Sequence[str]) -> list[str]:
    """The web origins of --origin as browsers write them. Raises UsageError."""
    if not origins:
        return []
    from hopline.serve.gateway.origins import parse_origin

    try:
        return [parse_origin(origin) for origin in origins]
    except ValueError as error:
        raise UsageError(f"--origin: {error}") from None


def checked_name(name: str | None, program: str) -> str:
    """The run's name: `name`, else what the program is called. Raises UsageError for one that RUN could not mean."""
    if name is None:
        name = program.rstrip("/").rpartition("/")[2][:MAX_NAME_CHARACTERS] or "run"
        return name if _usable(name) else "run"
    if not _usable(name):
        raise UsageError(
            f"--name {shortened(name)}: a name has 1 to {MAX_NAME_CHARACTERS} printable characters, no spaces at its "
            "ends, and begins with neither @ nor -."
        )
    return name


def check_text(words: Sequence[str]) -> None:
    """Raises UsageError when a word cannot travel as JSON text: it is not UTF-8, or holds a NUL."""
    for word in words:
        try:
            word.encode()
        except UnicodeEncodeError:
            raise UsageError(
                f"{shortened(word)} is not UTF-8; give the folder or file another name, or wrap it in a script."
            ) from None
        if "\0" in word:
            raise UsageError(f"{shortened(word)} holds a NUL byte, which no command line can carry.")


def shortened(word: str) -> str:
    """`word` quoted, cut to what a sentence can hold."""
    return repr(word) if len(word) <= MAX_SHOWN_CHARACTERS else f"{word[:MAX_SHOWN_CHARACTERS]!r}…"


def worker_path(env: Mapping[str, str]) -> str | None:
    """The PATH that the worker will have: --env's, else ours."""
    return env.get("PATH", os.environ.get("PATH"))


def _usable(name: str) -> bool:
    return 0 < len(name) <= MAX_NAME_CHARACTERS and name.isprintable() and name.strip() == name and name[0] not in "@-"
