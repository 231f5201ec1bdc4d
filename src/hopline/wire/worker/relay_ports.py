"""What connects a relay machine with the world: sources, targets and effects."""

from enum import StrEnum

import msgspec


class Source(StrEnum):
    """What the relay reads."""

    COMMANDS = "commands"
    SIDEBAND = "sideband"
    STDOUT = "stdout"
    STDERR = "stderr"


class Target(StrEnum):
    """What the relay writes into the worker."""

    STDIN = "stdin"
    SIDEBAND = "sideband"


class SignalWorker(msgspec.Struct, frozen=True):
    """Send SIGINT to the direct worker, then call `interrupted` with the same id."""

    request_id: int


class KillWorker(msgspec.Struct, frozen=True):
    """Send SIGKILL to the direct worker; its exit is observed like any other."""


class CloseInput(msgspec.Struct, frozen=True):
    """Close the descriptor of a target."""

    target: Target


class HangUp(msgspec.Struct, frozen=True):
    """Tell the direct worker that its terminal goes away: SIGHUP, and SIGCONT so that a stopped one hears of it."""


class ResizeTerminal(msgspec.Struct, frozen=True):
    """Set the size of the worker's terminal; the system tells whoever is in its foreground."""

    columns: int
    rows: int


class EndTerminalInput(msgspec.Struct, frozen=True):
    """Call `input_end` with what means the end of input to the terminal as it is set now.

    Args:
        unfinished: what was written last is no whole line.
    """

    unfinished: bool


class ReapWorker(msgspec.Struct, frozen=True):
    """Reap the worker, whose exit was observed; nothing is signalled after it (WW-EXIT-UNREAPED)."""


class Finish(msgspec.Struct, frozen=True):
    """The relay is done.

    Args:
        status: its exit status.
        message: one sentence for fd 2, or empty.
    """

    status: int
    message: str


Effect = SignalWorker | KillWorker | HangUp | ResizeTerminal | EndTerminalInput | CloseInput | ReapWorker | Finish
