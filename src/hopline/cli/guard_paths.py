"""Which paths a commit, a push or an agent's tool call is about to change, relative to the repository's top."""

import json
import os
import re
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hopline.errors import Unavailable, UsageError

_ZERO = re.compile(r"0+")
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+)$", re.MULTILINE)
_PATH_KEYS = ("file_path", "notebook_path", "path")

MAX_CALL_BYTES = 64 << 20


def git(*arguments: str, cwd: Path | None = None, check: bool = True) -> bytes:
    """What git prints. Raises Unavailable with its sentence."""
    try:
        done = subprocess.run(["git", *arguments], capture_output=True, cwd=cwd, check=False)
    except OSError as error:
        raise Unavailable(f"git cannot be run: {error.strerror}; install it.") from error
    if check and done.returncode:
        said = done.stderr.decode(errors="replace").strip().partition("\n")[0]
        raise Unavailable(f"git {arguments[0]} failed: {said}")
    return done.stdout if not done.returncode else b""


def top(folder: Path | None = None) -> Path | None:
    """The top of the repository that `folder` (the current one) is in."""
    found = git("rev-parse", "--show-toplevel", cwd=folder, check=False).decode(errors="surrogateescape").rstrip("\n")
    return Path(found) if found else None


def staged() -> list[str]:
    """What the commit under way changes itself: of a merge only what differs from both sides."""
    changed = _names(git("diff", "--cached", "--name-only", "--no-renames", "-z"))
    if not git("rev-parse", "-q", "--verify", "MERGE_HEAD", check=False):
        return changed
    brought = set(_names(git("diff", "--cached", "--name-only", "--no-renames", "-z", "MERGE_HEAD")))
    return [name for name in changed if name in brought]


def pushed(remote: str, lines: Iterable[str]) -> list[str]:
    """What the commits change that a push gives to `remote`; `lines` are what git tells its pre-push hook."""
    found: dict[str, None] = {}
    for line in lines:
        fields = line.split()
        if len(fields) != 4 or _ZERO.fullmatch(fields[1]):  # a branch that is deleted changes no file
            continue
        there = [f"--remotes={remote}"]
        if not _ZERO.fullmatch(fields[3]) and git("cat-file", "-t", fields[3], check=False):
            there.append(fields[3])
        told = git("log", "-c", "--format=", "--name-only", "--no-renames", "-z", fields[1], "--not", *there)
        found |= dict.fromkeys(_names(told))
    return list(found)


def read_call(text: str) -> dict[str, Any]:
    """What an agent tells its hook on standard input. Raises UsageError when it is no JSON object."""
    try:
        call: Any = json.loads(text)
    except (ValueError, RecursionError):
        call = None
    if not isinstance(call, dict):
        raise UsageError("--hook reads a tool call as JSON on standard input, and this is none.")
    return call


def session_of(call: dict[str, Any]) -> str | None:
    """The agent's own name for its session."""
    session = call.get("session_id")
    return session if isinstance(session, str) and session else None


def called(call: dict[str, Any]) -> list[str]:
    """The files that a tool call of an agent names.

    Claude Code names one file, Codex the files of a patch. A call that names none changes none that is known of.
    """
    given: Any = call.get("tool_input") or {}
    folder = call.get("cwd")
    if not isinstance(given, dict):
        return []
    found = [given[key] for key in _PATH_KEYS if isinstance(given.get(key), str)]
    patch = given.get("command") or given.get("patch") or given.get("input")
    if isinstance(patch, str):
        found += [name.strip() for name in _PATCHED.findall(patch)]
    base = folder if isinstance(folder, str) else ""
    return [os.path.join(base, name) for name in found]  # noqa: PTH118  # names may be anything


def relative(paths: Iterable[str]) -> list[str]:
    """The paths as leases have them: below the top of the repository they are in, else absolute.

    A link is two paths: its own, and that of what it leads to, which is what is written.
    """
    tops: dict[str, str | None] = {}
    found: dict[str, None] = {}
    for name in paths:
        folder, own = os.path.split(os.path.abspath(name))  # noqa: PTH100  # ".." goes before links are followed
        path = os.path.join(os.path.realpath(folder), own)  # noqa: PTH118  # pathlib raises for links in a circle
        for one in dict.fromkeys((path, os.path.realpath(path))):
            found[_below_top(one, tops)] = None
    return list(found)


def _below_top(path: str, tops: dict[str, str | None]) -> str:
    folder = Path(path).parent
    while not folder.is_dir():
        folder = folder.parent
    here = str(folder)
    if here not in tops:
        root = top(folder)
        tops[here] = None if root is None else os.path.realpath(root)
    root_path = tops[here]
    inside = root_path is not None and path.startswith(root_path.rstrip("/") + "/")
    return os.path.relpath(path, root_path) if inside else path


def _names(told: bytes) -> list[str]:
    return [name.decode(errors="replace") for name in told.split(b"\0") if name.strip(b"\n")]
