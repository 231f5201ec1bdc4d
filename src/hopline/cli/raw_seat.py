"""Sitting down at a worker's terminal: what it shows already, and the size that makes it draw that again."""

import time
from dataclasses import dataclass, field

from hopline.cli.raw_terminal import RawTerminal
from hopline.cli.terminal_modes import TerminalModes
from hopline.client.batches import Output
from hopline.client.history import Bearings
from hopline.client.peers import Peer
from hopline.errors import HoplineError
from hopline.wire.client.requests import CommandResize

PAST_EVENTS = 1024
"""How much of the past is read for the modes that the worker's terminal is in."""

RECENT_BYTES = 8 * 1024
"""How much of it is shown when the worker does not have the screen to itself."""

SHRUNK_SECONDS = 0.1
"""How long the terminal is one column narrower: long enough for the worker to see it and draw."""


@dataclass(frozen=True, slots=True)
class RawSeat:
    """A terminal that becomes the worker's.

    Args:
        terminal: ours.
        late: whether the worker has drawn something that nobody will draw again unless its size changes.
        modes: that its terminal is in.
        recent: what it wrote last.
    """

    terminal: RawTerminal
    late: bool = False
    modes: TerminalModes = field(default_factory=TerminalModes)
    recent: bytes = b""


def late_seat(terminal: RawTerminal, past: Bearings) -> RawSeat:
    """A seat at a run that has been going on, of which `past` is the end."""
    modes = TerminalModes()
    written = [event.data for event in past.events if isinstance(event, Output)]
    for data in written:
        modes.receive(data)
    return RawSeat(terminal, True, modes, b"" if modes.alternate else _last_lines(b"".join(written[-64:])))


def redraw(peer: Peer, seat: RawSeat) -> None:
    """Give the worker's terminal the size of ours; a late comer sees to it that it is another one than before.

    A worker that has ended needs none: then nothing happens.
    """
    columns, rows = seat.terminal.size()
    same = (peer.record.columns, peer.record.rows) == (columns, rows)
    if same and not seat.late:
        return
    try:
        if same:
            _resize(peer, columns - 1 or 2, rows)
            time.sleep(SHRUNK_SECONDS)
        _resize(peer, columns, rows)
    except HoplineError:
        pass


def _resize(peer: Peer, columns: int, rows: int) -> None:
    with peer.connect() as connection:
        connection.ask(CommandResize(columns=columns, rows=rows))


def _last_lines(data: bytes) -> bytes:
    if len(data) <= RECENT_BYTES:
        return data
    return data[-RECENT_BYTES:].partition(b"\n")[2]
