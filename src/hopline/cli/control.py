"""`hopline send`, `interrupt`, `restart` and `stop`: each says what is proven, and nothing more."""

import sys
from typing import TYPE_CHECKING

import click

from hopline.cli.places import peer, run_argument, ssh_option

if TYPE_CHECKING:
    from typing import IO

    from hopline.wire.client.responses import Response

PIECE_BYTES = 1 << 16


@click.command()
@run_argument
@ssh_option
@click.argument("text", required=False)
@click.option("--file", "file", metavar="F", help="Send this file's bytes as they are; - for standard input.")
@click.option("--eof", is_flag=True, help="End the worker's standard input, after what is sent.")
@click.option("--no-newline", is_flag=True, help="Send TEXT without a newline after it.")
def send(run: str, host: str | None, text: str | None, file: str | None, eof: bool, no_newline: bool) -> int:
    """Write TEXT and a newline, or a file, to the standard input of RUN's worker.

    `delivered` means that all of it is in the worker's input, `accepted` that some of it still waits for the worker to
    make room. Whether the worker has read it is not known.
    """
    if text is not None and file is not None:
        raise click.UsageError("TEXT and --file exclude one another")
    if text is None and file is None and not eof:
        raise click.UsageError("nothing to send: give TEXT, --file or --eof")
    if no_newline and text is None:
        raise click.UsageError("--no-newline goes with TEXT")
    there = peer(run, host)
    from hopline.wire.client.requests import CommandInput

    sent, answers = 0, list["Response"]()
    with there.dial_live("send to") as connection:
        if text is not None:
            data = text.encode("utf-8", "surrogateescape") + (b"" if no_newline else b"\n")
            for start in range(0, len(data), PIECE_BYTES):
                answers.append(connection.ask(CommandInput(bytes_base64=data[start : start + PIECE_BYTES]), _FOREVER))
            sent = len(data)
        elif file is not None:
            with _opened(file) as source:
                while data := source.read(PIECE_BYTES):
                    answers = [connection.ask(CommandInput(bytes_base64=data), _FOREVER)]
                    sent += len(data)
        if eof:
            connection.ask(CommandInput(close=True), _FOREVER)
    sys.stdout.write(_sent(sent, answers, ended=eof) + "\n")
    return 0


def _sent(size: int, answers: "list[Response]", *, ended: bool) -> str:
    """What is proven of `size` bytes sent, by the last answer: later bytes are never delivered before earlier ones."""
    if not size:
        return "accepted: the worker's input ends" if ended else "accepted: nothing was sent"
    after = ", which ends after them" if ended else ""
    last = answers[-1].ack
    if last is not None and last.status == "delivered":
        return f"delivered: {size} bytes are in the worker's input{after}"
    return f"accepted: {size} bytes are on their way to the worker's input{after}; it has not made room for all of them"


@click.command()
@run_argument
def interrupt(run: str) -> int:
    """Send SIGINT to RUN's worker: to the program itself, not to what it started.

    `delivered` means that the system took the signal; what the worker does about it is the worker's business.
    """
    there = peer(run)
    from hopline.wire.client.requests import CommandInterrupt

    with there.dial_live("interrupt") as connection:
        response = connection.ask(CommandInterrupt())
    status = response.ack.status if response.ack is not None else "accepted"
    sys.stdout.write(f"{status} (the worker decides what to do; stopping it is: {there.command('stop')})\n")
    return 0


@click.command()
@run_argument
@click.option(
    "--grace", metavar="S", type=click.FloatRange(min=0, max=86_400), help="Seconds to leave before the kill."
)
def restart(run: str, grace: float | None) -> int:
    """Retire RUN's worker and, once it is gone, start its command again in the same run."""
    from hopline.cli.endings import restart_and_tell

    return restart_and_tell(peer(run), grace)


@click.command()
@run_argument
@ssh_option
@click.option(
    "--grace", metavar="S", type=click.FloatRange(min=0, max=86_400), help="Seconds to leave before the kill."
)
def stop(run: str, host: str | None, grace: float | None) -> int:
    """End RUN and wait for it.

    Tells four facts, each proven by itself: the stop was accepted, how the worker ended, what became of its
    descendants, and that the run is stopped.
    """
    from hopline.cli.endings import stop_and_tell

    return stop_and_tell(peer(run, host), grace)


_FOREVER = 7 * 86_400.0
"""A worker may take its input as slowly as it likes; Ctrl-C ends the waiting."""


def _opened(file: str) -> "IO[bytes]":
    from pathlib import Path

    from hopline.errors import Unavailable

    if file == "-":
        return sys.stdin.buffer
    try:
        return Path(file).open("rb")
    except OSError as error:
        raise Unavailable(f"cannot read {file}: {error.strerror}; check the path.") from error
