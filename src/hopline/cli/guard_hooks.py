"""The git hooks of `hopline lease guard`: put in front of what is there, and taken away without a trace."""

import os
import shlex
import sys
from pathlib import Path

from hopline.cli.guard_paths import git, top
from hopline.errors import Unavailable, UsageError

HOOKS = {"pre-commit": "--staged", "pre-push": "--pushed"}
"""What each asks `guard check`."""

MARK = "# hopline lease guard"
KEPT = ".before-hopline"
"""What a hook that was there is called while ours is in its place."""

_KEPT_ENVIRONMENT = ("HOPLINE_HOME", "HOPLINE_CONFIG", "XDG_RUNTIME_DIR")


def install(folder: Path | None, session: str | None) -> list[Path]:
    """Put the hooks into the repository that `folder` (the current one) is in. Returns them.

    Args:
        session: whose leases do not refuse; None to find out at each commit.

    Raises UsageError outside a repository, Unavailable when a hook cannot be written.
    """
    hooks = hooks_folder(folder)
    hooks.mkdir(parents=True, exist_ok=True)
    written = []
    for name, what in HOOKS.items():
        path = hooks / name
        if path.exists() and not is_ours(path):
            kept = path.with_name(name + KEPT)
            if kept.exists():
                raise Unavailable(f"{kept} is there already; move it away, or back to {path}, and install again.")
            path.rename(kept)
        path.unlink(missing_ok=True)
        path.write_text(script(name, what, session), encoding="utf-8")
        path.chmod(0o755)
        written.append(path)
    return written


def uninstall(folder: Path | None) -> list[Path]:
    """Take the hooks away and put back what was there. Returns those that were ours, or had been taken away already."""
    removed = []
    for path in _hooks(folder):
        kept = path.with_name(path.name + KEPT)
        there = path.exists() or path.is_symlink()
        if there and not is_ours(path):
            continue
        if kept.exists() or kept.is_symlink():
            kept.replace(path)
        elif there:
            path.unlink()
        else:
            continue
        removed.append(path)
    return removed


def left_behind(folder: Path | None) -> list[tuple[Path, Path]]:
    """Hooks that somebody else wrote in place of ours, each with the one that was there before ours."""
    pairs = [(path, path.with_name(path.name + KEPT)) for path in _hooks(folder)]
    return [(path, kept) for path, kept in pairs if (kept.exists() or kept.is_symlink()) and not is_ours(path)]


def _hooks(folder: Path | None) -> list[Path]:
    hooks = hooks_folder(folder)
    return [hooks / name for name in HOOKS]


def hooks_folder(folder: Path | None) -> Path:
    """Where git looks for hooks, which core.hooksPath may have moved. Raises UsageError outside a repository."""
    here = folder or Path.cwd()
    if top(here) is None:
        raise UsageError(f"{here} is in no git repository with files; go to one.")
    told = git("rev-parse", "--git-path", "hooks", cwd=here).decode(errors="surrogateescape").rstrip("\n")
    return (here / told).resolve()


def is_ours(path: Path) -> bool:
    """Whether the hook was written by `install`."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").splitlines()[1].startswith(MARK)
    except (OSError, IndexError):
        return False


def script(name: str, what: str, session: str | None) -> str:
    """The text of a hook."""
    settings = "".join(
        f': "${{{key}:={_in_quotes(value)}}}"; export {key}\n'
        for key in _KEPT_ENVIRONMENT
        if (value := os.environ.get(key))
    )
    chosen = f" --session {shlex.quote(session)}" if session is not None else ""
    python = shlex.quote(sys.executable)
    pipe = 'printf "%s" "$told" | ' if name == "pre-push" else ""
    read = 'told="$(cat)\n"\n' if name == "pre-push" else ""
    return f"""#!/bin/sh
{MARK}: refuses paths that somebody else holds a lease of.
# Taken away by: hopline lease guard uninstall. Switched off for one command by: HOPLINE_GUARD=off git ...
before=$(dirname "$0")/{name}{KEPT}
{read}if [ -x "$before" ]; then
    {pipe}"$before" "$@" || exit $?
fi
[ "$HOPLINE_GUARD" = off ] && exit 0
{settings}if [ -x {python} ]; then
    {pipe}{python} -m hopline lease guard check {what}{chosen} "$@"
else
    {pipe}hopline lease guard check {what}{chosen} "$@"
fi
"""


def _in_quotes(text: str) -> str:
    """For the inside of double quotes within a parameter expansion."""
    return "".join(f"\\{one}" if one in '\\"$`}' else one for one in text)
