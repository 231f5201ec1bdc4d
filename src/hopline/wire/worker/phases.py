"""Which event may come when: the order of one generation's life, and of its worker's operations.

Two machines that a controller asks before it tells anything: `Lifecycle` for what the relay says, `Operations` for
what the worker says. Each answers with the reason why the event may not come, or None. The relay checks only shape;
the order is policed here (docs/wire/worker.md, "The controller": WW-STARTED-FIRST, WW-TERMINAL-ORDER, WW-PHASE).
"""

import binascii
from typing import Literal, assert_never

from hopline.wire.worker.messages import (
    CellStarted,
    Completed,
    ConsoleDiagnostic,
    ConsoleOutput,
    Image,
    InputCancelled,
    InputReceived,
    InputRequested,
    Ready,
    RuntimeInitialized,
    SemanticEvent,
)
from hopline.wire.worker.output import Stream
from hopline.wire.worker.reports import Fault, FaultToken

_Producer = Stream | Literal["sideband"]


class Lifecycle:
    """What the relay may say next: started first, nothing after a producer's closure, nothing after the outcome."""

    def __init__(self) -> None:
        self.started = False
        """worker_started came."""
        self.ended = False
        """The outcome came."""
        self._open: set[_Producer] = {"stdout", "stderr", "sideband"}
        self._launch_failed = False
        self._shutdown_started = False

    @property
    def all_closed(self) -> bool:
        """Whether every closure came."""
        return not self._open

    @property
    def _over(self) -> bool:
        return self.ended or self._launch_failed

    def worker_started(self) -> Fault | None:
        """The worker was acquired."""
        if self._over:
            return Fault(FaultToken.TERMINAL_ORDER, "worker_started came after the end")
        if self.started:
            return Fault(FaultToken.STARTED_FIRST, "worker_started came twice")
        self.started = True
        return None

    def produced(self, producer: _Producer, kind: str) -> Fault | None:
        """Output or a semantic event of `producer`."""
        if fault := self._outside_life(kind):
            return fault
        if producer not in self._open:
            return Fault(FaultToken.TERMINAL_ORDER, f"{kind} came after the closure of {producer}")
        return None

    def closed(self, producer: _Producer) -> Fault | None:
        """A closure."""
        if fault := self._outside_life(f"the closure of {producer}"):
            return fault
        if producer not in self._open:
            return Fault(FaultToken.TERMINAL_ORDER, f"the closure of {producer} came twice")
        self._open.remove(producer)
        return None

    def receipt(self, kind: str, *, awaited: bool) -> Fault | None:
        """A receipt, or the acceptance of the shutdown; `awaited` if something was sent that it can answer."""
        if fault := self._outside_life(kind):
            return fault
        return None if awaited else Fault(FaultToken.PHASE, f"{kind} answers nothing that was sent")

    def shutdown_started(self, *, sent: bool) -> Fault | None:
        """The relay accepted the shutdown, once, if some of one was written."""
        fault = self.receipt("shutdown_started", awaited=sent and not self._shutdown_started)
        self._shutdown_started = True
        return fault

    def fatal(self) -> Fault | None:
        """A diagnostic; before worker_started it says that the launch failed, and nothing follows."""
        if self._over:
            return Fault(FaultToken.TERMINAL_ORDER, "fatal came after the end")
        self._launch_failed = not self.started
        return None

    def outcome(self) -> Fault | None:
        """The worker's end, the last event of all."""
        fault = self._outside_life("the outcome")
        self.ended = True
        return fault

    def _outside_life(self, what: str) -> Fault | None:
        if self._over:
            return Fault(FaultToken.TERMINAL_ORDER, f"{what} came after the end")
        return None if self.started else Fault(FaultToken.STARTED_FIRST, f"{what} came before worker_started")


class Operations:
    """What the worker may say next: ready once and first, one operation at a time, one managed read at a time."""

    def __init__(self) -> None:
        self.ready = False
        self.busy = False
        """An operation was submitted and has not completed."""
        self.input_requested = False
        """A managed read waits."""
        self._initialized = False

    def refuse_evaluate(self) -> str | None:
        """Why an operation cannot be submitted now, for the caller."""
        if not self.ready:
            return "the worker is not ready"
        if self.busy:
            return "an operation is under way"
        return None

    def begin(self) -> None:
        """An operation was submitted."""
        self.busy = True

    def receive(self, event: SemanticEvent) -> str | None:
        """Take one semantic event; the answer is why it may not come now."""
        if not self.ready and not isinstance(event, Ready):
            return f"{_kind(event)} before ready"
        match event:
            case Ready():
                if self.ready:
                    return "a second ready"
                self.ready = True
            case RuntimeInitialized():
                if self._initialized:
                    return "a second runtime_initialized"
                self._initialized = True
            case Completed():
                if not self.busy:
                    return "completed without an operation"
                if self.input_requested:
                    return "completed while input is requested"
                self.busy = False
            case InputRequested():
                if self.input_requested:
                    return "a second input_requested while one waits"
                self.input_requested = True
            case InputReceived() | InputCancelled():
                if not self.input_requested:
                    return f"{_kind(event)} without input_requested"
                self.input_requested = False
            case Image(data=data):
                return _refuse_image(data)
            case CellStarted() | ConsoleOutput() | ConsoleDiagnostic():
                return None
            case _:
                assert_never(event)
        return None


def _kind(event: SemanticEvent) -> str:
    return str(event.__struct_config__.tag)


def _refuse_image(data: str) -> str | None:
    try:
        binascii.a2b_base64(data, strict_mode=True)
    except ValueError as error:
        return f"an image whose data is not base64 ({error})"
    return None
