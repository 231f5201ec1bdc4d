"""What goes into the worker: its fd 0 and its sideband, with bounds, receipts and their end.

Source: docs/wire/worker.md, "Input and interrupts" (WW-STDIN-STREAM, WW-STDIN-RECEIPT, WW-INPUT-BOUND).
"""

from typing import assert_never

from msgspec import UNSET, UnsetType

from hopline.wire.worker.codec import encode
from hopline.wire.worker.limits import RelayLimits
from hopline.wire.worker.messages import Evaluate, Resize, SidebandShutdown, Stdin, StdinBytes, StdinClose, StdinResult
from hopline.wire.worker.relay_ports import CloseInput, Effect, EndTerminalInput, HangUp, ResizeTerminal, Target
from hopline.wire.worker.worker_input import WorkerInput

_CLOSED = "the worker's input is closed"


class WorkerInputs:
    """Both pipes into one worker. What goes wrong is returned as a sentence, for the relay to fail with.

    Args:
        limits: capacities.
        sideband: whether there is one.
        terminal: whether fd 0 is a terminal, whose input has ends but no closing.
    """

    def __init__(self, limits: RelayLimits, *, sideband: bool, terminal: bool = False) -> None:
        self._limits = limits
        self._terminal = terminal
        self._pipes = {target: WorkerInput() for target in Target}
        self._receipts: list[StdinResult] = []
        self._effects: list[Effect] = []
        self._open = set(Target)
        self.changed = False
        """Whether receipts or closed targets may wait to be taken."""
        if not sideband:
            self._pipes[Target.SIDEBAND].close()
            self._open.remove(Target.SIDEBAND)

    def obey(self, command: Evaluate | Stdin | StdinBytes | StdinClose | Resize) -> str | None:
        """Queue what a command brings; a terminal's size waits behind nothing."""
        self.changed = True
        match command:
            case Evaluate():
                if not self._pipes[Target.SIDEBAND].accepting:
                    return "evaluate for a worker without a sideband"  # WW-NO-SIDEBAND
                return self._put(Target.SIDEBAND, encode(command), None)
            case StdinClose() if self._terminal:
                self._pipes[Target.STDIN].put_end()
                return None
            case StdinClose():
                self._pipes[Target.STDIN].close_when_empty()
                return None
            case Resize() if self._terminal:
                self._effects.append(ResizeTerminal(command.columns, command.rows))
                return None
            case Resize():
                return "resize for a worker without a terminal"
            case Stdin():
                return self._put_stdin(command.data.encode(), command.request_id)
            case StdinBytes():
                return self._put_stdin(command.data, command.request_id)
            case _:
                assert_never(command)

    def buffers(self, target: Target) -> list[bytes | memoryview]:
        """What to offer to the pipe."""
        return self._pipes[target].buffers()

    def wrote(self, target: Target, count: int) -> None:
        """The pipe took `count` bytes."""
        self.changed = True
        self._receipts.extend(StdinResult(request_id) for request_id in self._pipes[target].wrote(count))

    def stalled(self, target: Target) -> None:
        """The pipe takes no more for now."""
        self.changed = True
        self._pipes[target].stalled()

    def failed(self, target: Target, message: str) -> str | None:
        """The worker closed its end: an answer to input that asked for one, otherwise a failure."""
        self.changed = True
        unwritten = self._pipes[target].close()
        for request_id in unwritten:
            if request_id is None:
                return f"cannot write worker {target}: {message}"
            self._receipts.append(StdinResult(request_id, message))
        return None

    def retire(self) -> None:
        """Close fd 0 and tell the sideband, whatever still waits; a terminal hangs up (WW-TELL-WORKER)."""
        self.changed = True
        if self._terminal:
            self._effects.append(HangUp())
        stdin, sideband = self._pipes[Target.STDIN], self._pipes[Target.SIDEBAND]
        stdin.offer_last()
        stdin.close_when_empty()
        if sideband.accepting:
            sideband.put(encode(SidebandShutdown()), keep=True)
            sideband.offer_last()

    def close(self) -> None:
        """The worker is gone."""
        self.changed = True
        for pipe in self._pipes.values():
            pipe.close()

    def take_receipts(self) -> list[StdinResult]:
        """Receipts that are due, in order."""
        self._receipts.extend(StdinResult(request_id) for request_id in self._pipes[Target.STDIN].wrote(0))
        receipts, self._receipts = self._receipts, []
        return receipts

    def take_effects(self) -> list[Effect]:
        """What to do now, in order; each is returned once."""
        effects, self._effects = self._effects, []
        stdin = self._pipes[Target.STDIN]
        if stdin.take_end():
            effects.append(EndTerminalInput(stdin.unfinished))
        return [*effects, *map(CloseInput, self.take_closed())]

    def end_with(self, data: bytes) -> None:
        """The bytes that `EndTerminalInput` asked for."""
        self.changed = True
        self._pipes[Target.STDIN].end_with(data)

    def take_closed(self) -> list[Target]:
        """Targets whose descriptor is to be closed now, each once."""
        closed = []
        for target in sorted(self._open):
            pipe = self._pipes[target]
            if pipe.should_close():
                pipe.close()
            if pipe.closed:
                self._open.remove(target)
                closed.append(target)
        return closed

    def _put_stdin(self, data: bytes, request_id: int | UnsetType) -> str | None:
        owed = None if request_id is UNSET else request_id
        if self._pipes[Target.STDIN].accepting:
            return self._put(Target.STDIN, data, owed)
        if owed is None:
            return f"cannot write worker stdin: {_CLOSED}"
        self._receipts.append(StdinResult(owed, _CLOSED))
        return None

    def _put(self, target: Target, data: bytes, request_id: int | None) -> str | None:
        if sum(pipe.weight for pipe in self._pipes.values()) + len(data) > self._limits.input_bytes:
            return f"more than {self._limits.input_bytes} bytes of input wait for the worker"  # WW-INPUT-BOUND
        if data or request_id is not None:
            self._pipes[target].put(data, request_id)
        return None
