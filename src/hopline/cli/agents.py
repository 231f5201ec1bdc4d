"""`hopline steer`, `pause` and `resume`: what an agent takes at its next boundary, and a plain command not at all.

A server without an agent acknowledges all the same and records that nothing came of it (decision 0024), so what the
run is, or else what was recorded, is read before anything is said.
"""

import sys
import time
from typing import TYPE_CHECKING

import click

from hopline.cli.places import peer, run_argument

if TYPE_CHECKING:
    from hopline.client.batches import Output
    from hopline.client.peers import Peer
    from hopline.wire.client.commands import CommandPause, CommandResume, CommandSteer
    from hopline.wire.client.events import RunEvent

RECORDED_SECONDS = 2.0
"""How long the record of a command that was acknowledged is waited for."""

_INSTEAD = {
    "steer": "write to its input: hopline send",
    "pause": "interrupt it: hopline interrupt",
    "resume": "see how it stands: hopline show",
}
"""What a person can do with a plain command instead: words, and the command without its RUN."""


@click.command()
@run_argument
@click.argument("text")
def steer(run: str, text: str) -> int:
    """Give RUN's agent TEXT to go by, from its next boundary on.

    A plain command has no agent: write to its input with `hopline send`.
    """
    if not text.strip():
        raise click.UsageError("nothing to steer with: TEXT is empty")
    from hopline.wire.client.commands import CommandSteer

    words = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    return _ask(peer(run), "steer", CommandSteer(text=words), "the agent takes it at its next boundary")


@click.command()
@run_argument
def pause(run: str) -> int:
    """Pause RUN once its agent's current call is done.

    A plain command has no agent and no boundary to pause at: `hopline interrupt` reaches it.
    """
    from hopline.wire.client.commands import CommandPause

    return _ask(peer(run), "pause", CommandPause(), "it pauses after the agent's current call")


@click.command()
@run_argument
@click.option("--fallback", is_flag=True, help="Go on with the fallback provider.")
@click.option("--when-capacity-returns", "waits", is_flag=True, help="Not now: once the provider has capacity again.")
def resume(run: str, fallback: bool, waits: bool) -> int:
    """Let RUN's paused agent go on."""
    if fallback and waits:
        raise click.UsageError("--fallback and --when-capacity-returns exclude one another")
    from hopline.wire.client.commands import CommandResume

    command = CommandResume(fallback=fallback, when="capacity_returns" if waits else "now")
    return _ask(peer(run), "resume", command, "it goes on once there is capacity" if waits else "it goes on")


def _ask(there: "Peer", action: str, command: "CommandSteer | CommandPause | CommandResume", then: str) -> int:
    """Send it and say what is known of it. Raises Refused when there is no agent."""
    from hopline.client.history import bearings
    from hopline.errors import Refused

    here = bearings(there.dial_live(action))
    with there.dial_live(action) as connection:
        try:
            response = connection.ask(command)
        except Refused as error:
            raise Refused(f"{str(error).rstrip('.')}; see: {there.command('show')}", code=error.code) from error
    status = response.ack.status if response.ack is not None else "accepted"
    alone = f"Nothing to {action}: this run is a plain command, without an agent"
    if refusal := alone if _is_plain(here.events) else _refusal(there, action, here.sequence):
        words, _, command_line = _INSTEAD[action].partition(": hopline ")
        raise Refused(f"{refusal.rstrip('.')}; {words}: {there.command(command_line)}", code="operation_failed")
    sys.stdout.write(f"{status}: {then}; see what becomes of it: {there.command('show')}\n")
    return 0


def _is_plain(events: "list[Output | RunEvent]") -> bool:
    """Whether a run that began so is a plain command: then nothing comes of it, however late that is recorded."""
    from hopline.wire.client.events import RunEvent, payload_of
    from hopline.wire.client.payloads import RunStarted

    begun = [payload_of(event) for event in events if isinstance(event, RunEvent) and event.type == "run_started"]
    return bool(begun) and isinstance(begun[-1], RunStarted) and begun[-1].outer_loop == "command"


def _refusal(there: "Peer", action: str, since: int) -> str | None:
    """Why nothing came of the command, as recorded after event `since`; None when something may."""
    from hopline.wire.client.events import decode_events
    from hopline.wire.client.requests import QueryEvents

    deadline = time.monotonic() + RECORDED_SECONDS
    with there.dial_live(action) as connection:
        while (left := deadline - time.monotonic()) > 0:
            answer = connection.ask(QueryEvents(after_sequence=since, timeout_ms=int(left * 1000)))
            for event in decode_events(answer.events):
                since = event.sequence
                if event.type == "control" and event.text.removeprefix("/").split(":")[0] == action:
                    told = event.diagnostic.summary if event.diagnostic is not None else "nothing came of it"
                    return told if event.status in ("cancelled", "failed") else None
    return None
