"""Which event may come when: the order of one generation's life, and of its worker's operations.

Two machines that a controller asks before it tells anything: `Lifecycle` for what the relay says, `Operations` for
what the worker says. Each answers with the reason why the event may not come, or None. The relay checks only shape;
the order is policed here (docs/wire/worker.md, "Order" and "Operations").
"""

import binascii

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

_Producer = Stream | str
SIDEBAND = "sideband"
"""The third producer beside the two streams."""


class Lifecycle:
    """What the relay may say next: started first, nothing after a producer's closure, nothing after the outcome."""

    def __init__(self) -> None:
        self.started = False
        self.ended = False
        """The outcome came."""
        self._open: set[_Producer] = {"stdout", "stderr", SIDEBAND}
        self._failed_to_launch = False
        self._shutdown_started = False

    @property
    def all_closed(self) -> bool:
        """Whether every closure came."""
        return not self._open

    def worker_started(self) -> str | None:
        """The worker was acquired."""
        if self.started:
            return "a second worker_started"
        if refusal := self._refuse_after_the_end("worker_started"):
            return refusal
        self.started = True
        return None

    def produced(self, producer: _Producer, kind: str) -> str | None:
        """Output or a semantic event of `producer`."""
        if refusal := self._refuse_outside_life(kind):
            return refusal
        return None if producer in self._open else f"{kind} after the closure of {producer}"

    def closed(self, producer: _Producer) -> str | None:
        """A closure."""
        if refusal := self._refuse_outside_life(f"closure of {producer}"):
            return refusal
        if producer not in self._open:
            return f"a second closure of {producer}"
        self._open.remove(producer)
        return None

    def shutdown_started(self, *, sent: bool) -> str | None:
        """The relay accepted the shutdown, which may come only once one was sent."""
        if refusal := self._refuse_outside_life("shutdown_started"):
            return refusal
        if not sent:
            return "shutdown_started without a shutdown"
        if self._shutdown_started:
            return "a second shutdown_started"
        self._shutdown_started = True
        return None

    def receipt(self, kind: str) -> str | None:
        """A receipt for a command."""
        return self._refuse_outside_life(kind)

    def fatal(self) -> str | None:
        """A diagnostic; before worker_started it says that the launch failed, and nothing follows."""
        if refusal := self._refuse_after_the_end("fatal"):
            return refusal
        self._failed_to_launch = not self.started
        return None

    def outcome(self) -> str | None:
        """The worker's end, the last event of all."""
        if refusal := self._refuse_outside_life("the outcome"):
            return refusal
        self.ended = True
        return None

    def _refuse_outside_life(self, what: str) -> str | None:
        if not self.started and not self._failed_to_launch:
            return f"{what} before worker_started"
        return self._refuse_after_the_end(what)

    def _refuse_after_the_end(self, what: str) -> str | None:
        if self.ended:
            return f"{what} after the outcome"
        return f"{what} after a failed launch" if self._failed_to_launch else None


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
                pass
        return None


def _kind(event: SemanticEvent) -> str:
    return str(event.__struct_config__.tag)


def _refuse_image(data: str) -> str | None:
    try:
        binascii.a2b_base64(data, strict_mode=True)
    except ValueError as error:
        return f"an image whose data is not base64 ({error})"
    return None
