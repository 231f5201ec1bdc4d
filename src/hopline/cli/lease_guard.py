"""`hopline lease guard`: refuses a commit, a push or an agent's edit of what somebody else holds."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hopline.cli.lease_session import session_name, session_option
from hopline.cli.places import json_option
from hopline.cli.statuses import DONE, FAILED, UNDECIDED
from hopline.errors import HoplineError, UsageError

if TYPE_CHECKING:
    from hopline.wire.hub.leases import PathsChecked

BLOCKED = 2
"""What agents read as: do not make this tool call, and tell the model why."""

SHOWN = 5
"""How many held paths a refusal names."""

_BATCH_BYTES = 400_000
"""Of paths asked about at once, well within a control line."""

no_start_option = click.option("--no-start", is_flag=True, help="Do not start this machine's hub.")
_folder_option = click.option(
    "--repository",
    "folder",
    metavar="DIR",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Default: the one you are in.",
)


class NotKnown(HoplineError):
    """Whether somebody else holds the paths cannot be told, so they are not let through."""

    def __init__(self, error: HoplineError, status: int) -> None:
        super().__init__(f"{error} Whether somebody else holds these paths is not known; go on: HOPLINE_GUARD=off")
        self.exit_status = status


@click.group()
def guard() -> None:
    """Refuse changes to what somebody else has claimed, since a promise of an agent is none.

    Paths count from the top of the repository. HOPLINE_GUARD=off switches it off for one command.
    """


@guard.command()
@_folder_option
@click.option("--session", metavar="S", help="Whose leases do not refuse. Default: whoever commits, as for claims.")
def install(folder: Path | None, session: str | None) -> int:
    """Put a pre-commit and a pre-push hook into a repository. Hooks that are there are kept, and run first."""
    from hopline.cli.guard_hooks import KEPT, install

    for path in install(folder, session_name(session) if session is not None else None):
        kept = path.with_name(path.name + KEPT)
        sys.stdout.write(f"{path}{f' (runs {kept.name} first)' if kept.exists() else ''}\n")
    return DONE


@guard.command()
@_folder_option
def uninstall(folder: Path | None) -> int:
    """Take the hooks away again, and put back what was there."""
    from hopline.cli.guard_hooks import left_behind, uninstall

    removed = uninstall(folder)
    left = left_behind(folder)
    sys.stdout.write("".join(f"{path}\n" for path in removed) or ("" if left else "there is no guard here\n"))
    for path, kept in left:
        sys.stderr.write(
            f"{path} was written by somebody else since and is left as it is; what was there before the guard is "
            f"{kept}: move it back, or delete it\n"
        )
    return FAILED if left else DONE


@guard.command()
def session() -> int:
    """Tell, as a line of shell, the session that an agent's start-up hook has on stdin, for its later claims.

    Nothing when HOPLINE_SESSION is set already, as in a run.
    """
    import shlex

    from hopline.cli import guard_paths

    call = guard_paths.session_of(guard_paths.read_call(sys.stdin.read(guard_paths.MAX_CALL_BYTES)))
    if not os.environ.get("HOPLINE_SESSION"):
        if call is None:
            raise UsageError("the hook's input names no session_id; set HOPLINE_SESSION before you start the agent.")
        sys.stdout.write(f"export HOPLINE_SESSION={shlex.quote(session_name(call))}\n")
    return DONE


@guard.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("--staged", is_flag=True, help="What is about to be committed.")
@click.option("--pushed", is_flag=True, help="What is about to be pushed: PATH is the remote, as in a pre-push hook.")
@click.option("--hook", is_flag=True, help="What the tool call on stdin changes; exits with 2, as agents' hooks do.")
@session_option
@no_start_option
@json_option
def check(
    paths: tuple[str, ...],
    staged: bool,
    pushed: bool,
    hook: bool,
    session: str | None,
    no_start: bool,
    as_json: bool,
) -> int:
    """Tell whether somebody else holds PATH exclusively.

    Exits with 1 when somebody does, and with another status when that is not known.
    """
    if os.environ.get("HOPLINE_GUARD") == "off":
        sys.stderr.write("the lease guard is off (HOPLINE_GUARD=off)\n")
        return DONE
    try:
        wanted, call = _wanted(paths, staged=staged, pushed=pushed, hook=hook)
        checked = _ask(wanted, session_name(session, call), start=not no_start)
    except HoplineError as error:
        raise NotKnown(
            error, BLOCKED if hook else UNDECIDED if error.exit_status == FAILED else error.exit_status
        ) from error
    if as_json:
        import msgspec

        sys.stdout.write(msgspec.json.encode(checked).decode() + "\n")
    held = [one for answer in checked for one in answer.held]
    if not held:
        return DONE
    sys.stderr.write(refusal(checked))
    return BLOCKED if hook else FAILED


def refusal(checked: "list[PathsChecked]") -> str:
    """Who holds what, until when, and how to get it."""
    import shlex

    from hopline.cli.lease_words import span
    from hopline.rendering import plain

    held = [one for answer in checked for one in answer.held]
    more = sum(answer.more for answer in checked) + max(0, len(held) - SHOWN)
    lines = []
    for one in held[:SHOWN]:
        lease = one.lease
        left = span(lease.ttl_left_millis, lease.expires_at)
        why = f", {lease.reason}" if lease.reason else ""
        lines.append(
            plain(
                f"hopline: {one.path} is held by {lease.owner_session_id} until {lease.expires_at}, {left} more "
                f"({lease.resource_kind}:{lease.resource_value}{why})"
            )
        )
    if more:
        lines.append(f"hopline: and {more} more")
    first = held[0].lease
    wait = plain(f"hopline lease claim {shlex.quote(f'{first.resource_kind}:{first.resource_value}')} --wait")
    lines.append(
        f"hopline: you are {plain(checked[0].owner)}. Wait for it: {wait}; or go on all the same: HOPLINE_GUARD=off"
    )
    return "\n".join(lines) + "\n"


def _wanted(paths: tuple[str, ...], *, staged: bool, pushed: bool, hook: bool) -> tuple[list[str], str | None]:
    """The paths, and the session that a tool call belongs to."""
    from hopline.cli import guard_paths

    if staged + pushed + hook + (bool(paths) and not pushed) != 1:
        raise UsageError("say what to check: PATH..., --staged, --pushed REMOTE or --hook.")
    if staged:
        return guard_paths.staged(), None
    if pushed:
        return guard_paths.pushed(paths[0] if paths else "origin", sys.stdin), None
    if hook:
        call = guard_paths.read_call(sys.stdin.read(guard_paths.MAX_CALL_BYTES))
        return guard_paths.relative(guard_paths.called(call)), guard_paths.session_of(call)
    return guard_paths.relative(paths), None


def _ask(paths: list[str], session: str, *, start: bool) -> "list[PathsChecked]":
    from hopline.client.hub import HubClient
    from hopline.wire.hub.leases import CheckPaths, PathsChecked

    if not paths:
        return []
    with HubClient.open(start=start) as hub:
        return [
            hub.call("lease.check", CheckPaths(session=session, paths=some), PathsChecked) for some in batches(paths)
        ]


def batches(paths: list[str]) -> Iterator[list[str]]:
    """All paths, in parts that one question holds."""
    some: list[str] = []
    size = 0
    for path in paths:
        size += 6 * len(path) + 3  # a character takes at most six bytes in JSON, escaped
        if some and size > _BATCH_BYTES:
            yield some
            some, size = [], 6 * len(path) + 3
        some.append(path)
    yield some
