"""`hopline session`: hand a conversation to another machine, and see which went where."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from hopline.cli.places import json_option

if TYPE_CHECKING:
    from hopline.client.transcripts import Transcript
    from hopline.wire.hub.sessions import SendSession, SessionSent


HUB_TRIES = 3
"""Hubs that one transfer may lose, less one."""

_STATES = {"sent": "unconfirmed", "received": "in place"}


@click.group()
def session() -> None:
    """Hand conversations of agents, and recorded runs, to your other machines."""


@session.command()
@click.argument("peer", metavar="PEER")
@click.argument("session_id", metavar="ID")
@click.option(
    "--cwd", metavar="DIR", help="Where it took place. Default: what it says itself, else the current folder."
)
@click.option("--remote-cwd", metavar="DIR", default="", help="Where it goes on over there. Default: the same.")
@click.option(
    "--transcript",
    metavar="PATH",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="The file, when ID does not find it.",
)
@click.option("--max-size", metavar="SIZE", help="Send no more than this. Default: 1 GiB.")
@click.option("--no-start", is_flag=True, help="Do not start this machine's hub.")
@json_option
def send(
    peer: str,
    session_id: str,
    cwd: str | None,
    remote_cwd: str,
    transcript: Path | None,
    max_size: str | None,
    no_start: bool,
    as_json: bool,
) -> int:
    """Send the session ID to PEER, and say how it is resumed there.

    ID is a session of Claude Code, whose transcript is found by it, or a RUN, whose events are sent. The transcript
    is put where the agent over there looks for sessions of that folder; another file is never overwritten. A transfer
    that was cut goes on by itself, or when the command is given again.
    """
    from hopline.client.transcripts import at, find
    from hopline.settings import parse_size
    from hopline.wire.hub.sessions import MAX_SEND_BYTES, SendSession

    max_bytes = MAX_SEND_BYTES if max_size is None else parse_size(max_size)
    found = find(session_id) if transcript is None else at(session_id, transcript)
    try:
        asked = SendSession(
            peer=peer,
            session_id=found.session_id,
            transcript=str(found.path),
            cwd=_place(found, cwd),
            remote_cwd=remote_cwd,
            max_bytes=max_bytes,
        )
        sent = _sent(asked, no_start, as_json)
    finally:
        found.close()
    return _told(sent, as_json)


def _sent(asked: "SendSession", no_start: bool, quiet: bool) -> "SessionSent":
    """Ask the hub; one that is killed meanwhile is started again, and goes on where it was."""
    from hopline.cli.transfer_view import follow
    from hopline.client.hub import HubClient, HubLeft
    from hopline.wire.hub.sessions import SendProgress, SessionSent

    for tries_left in reversed(range(HUB_TRIES)):
        try:
            with HubClient.open(start=not no_start) as hub, follow(quiet=quiet) as progress:
                return hub.call("session.send", asked, SessionSent, (SendProgress, progress))
        except HubLeft:
            if no_start or not tries_left:
                raise
            sys.stderr.write("the hub has left in the middle; it is started again, and the transfer taken up.\n")
    raise AssertionError("the last try raises")


@session.command("ls")
@click.option("--no-start", is_flag=True, help="Do not start this machine's hub.")
@json_option
def ls(no_start: bool, as_json: bool) -> int:
    """List sessions that were sent and received, newest last."""
    import msgspec

    from hopline.client.hub import HubClient
    from hopline.rendering import age, plain, plural, seconds_since, size, table
    from hopline.wire.hub.sessions import ListSessions, SessionList

    with HubClient.open(start=not no_start) as hub:
        found = hub.call("session.ls", ListSessions(), SessionList)
    if as_json:
        sys.stdout.write(msgspec.json.encode(found).decode() + "\n")
        return 0
    if not found.sessions:
        sys.stdout.write("no sessions yet; send one: hopline session send PEER ID\n")
        return 0
    rows = [
        (
            one.session_id,
            f"{'to' if one.direction == 'sent' else 'from'} {one.peer}",
            _STATES.get(one.state, one.state),
            size(one.bytes),
            age(seconds_since(one.at)),
            plain(one.cwd),
        )
        for one in found.sessions
    ]
    sys.stdout.write(table(("SESSION", "PEER", "STATE", "SIZE", "AGE", "FOLDER"), rows))
    if found.dropped:
        sys.stderr.write(f"{plural(found.dropped, 'older session')} not shown.\n")
    return 0


def _place(found: "Transcript", cwd: str | None) -> str:
    """An absolute folder. Symbolic links stay: the agent counts by the path that it was started with."""
    return os.path.abspath(cwd) if cwd is not None else found.cwd or str(Path.cwd())  # noqa: PTH100  # keeps links


def _told(sent: "SessionSent", as_json: bool) -> int:
    import msgspec

    from hopline.cli.statuses import DONE, FAILED
    from hopline.rendering import age, plain, size

    arrived = sent.state == "received"
    if as_json:
        sys.stdout.write(msgspec.json.encode(sent).decode() + "\n")
    elif arrived:
        spared = sent.bytes - sent.bytes_sent
        kept = f", {size(spared)} of it was there already" if spared else ""
        span = f"{sent.seconds:.1f}s" if sent.seconds < 10 else age(sent.seconds)
        sys.stdout.write(
            f"session {sent.session_id} is on {sent.peer}: {plain(sent.remote_path or '')}\n"
            f"  {size(sent.bytes)} in {span}{kept}; sha256 {sent.digest}\n"
            f"  to go on there: {plain(sent.resume or '')}\n"
        )
    if not arrived:
        sys.stderr.write(
            f"hopline: session {sent.session_id} was sent, and {sent.peer} has not said that it arrived; "
            "see later: hopline session ls. A claudectl says nothing when it has no folder "
            f"{plain(sent.cwd)}: then name one it has with --remote-cwd\n"
        )
    return DONE if arrived else FAILED
