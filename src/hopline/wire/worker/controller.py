"""The server's end of the worker wire: one generation as a pure machine.

Bytes of the relay go in with `receive`, what they mean comes out as values, in order; commands go in with `send_*`,
and their bytes are written from `writer`. Nothing a relay or a worker sends ever raises: the first violation comes
out as a `Fault`, after which the generation must be retired by force (docs/wire/worker.md, "The controller").
"""

from collections.abc import Callable

from hopline.errors import Misuse
from hopline.wire.jsonl import LineSplitter
from hopline.wire.worker.codec import FrameRefused, decode_event
from hopline.wire.worker.commands import CommandWriter
from hopline.wire.worker.input_window import InputWindow
from hopline.wire.worker.messages import (
    Evaluate,
    Fatal,
    Interrupt,
    InterruptResult,
    Resize,
    SemanticEvent,
    ShutdownStarted,
    Stderr,
    StderrBytes,
    StderrClosed,
    StdinClose,
    StdinResult,
    Stdout,
    StdoutBytes,
    StdoutClosed,
    WorkerExited,
    WorkerSidebandClosed,
    WorkerSignaled,
    WorkerStarted,
)
from hopline.wire.worker.output import OutputJoiner, Stream
from hopline.wire.worker.phases import Lifecycle, Operations
from hopline.wire.worker.reports import Fault, FaultToken, Report, StreamEnded

MAX_EVENT_BYTES = 64 * 1024 * 1024
"""Longest line taken from a relay. Ours sends raw output in 64 KiB pieces; only a sideband frame can be this long."""

MAX_INTERRUPTS = 8
"""Most interrupts without a receipt; their receipts must stay within its supervisor allowance."""


_NotRaw = (
    WorkerStarted
    | StdoutClosed
    | StderrClosed
    | WorkerSidebandClosed
    | InterruptResult
    | StdinResult
    | ShutdownStarted
    | WorkerExited
    | WorkerSignaled
    | Fatal
    | SemanticEvent
)


class Controller:
    """One generation's wire, server side; a receipt that comes late stays with it (WW-OLD-GENERATION).

    Args:
        sideband: whether the worker has one; without it any semantic event is a violation.
        max_event_bytes: longest line taken.
    """

    def __init__(self, *, sideband: bool, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self.writer = CommandWriter()
        self.input = InputWindow()
        self.operations = Operations()
        self._lifecycle = Lifecycle()
        self._sideband = sideband
        self._lines = LineSplitter(max_event_bytes)
        self._joiner = OutputJoiner()
        self._interrupts: set[int] = set()
        self._next_interrupt = 1
        self._fault: Fault | None = None
        self._deaf = False
        self._hear: Callable[[bytes | None], None] = self._line
        self._worker_unheard = False
        self._reports: list[Report] = []

    @property
    def started(self) -> bool:
        """Whether the worker was acquired."""
        return self._lifecycle.started

    @property
    def ended(self) -> bool:
        """Whether the outcome came."""
        return self._lifecycle.ended

    def receive(self, data: bytes) -> list[Report]:
        """What `data`, the next bytes of the relay, says. After a broken transport nothing more is heard."""
        if not self._deaf:
            for line in self._lines.receive(data):
                self._hear(line)
        return self._take()

    def receive_eof(self) -> list[Report]:
        """What the end of the relay's stream says; called once."""
        if not self._deaf and self._lines.partial():
            self._break(Fault(FaultToken.NEWLINE, "the relay's stream ended inside a frame"))
        self._joiner.close("stdout")
        self._joiner.close("stderr")
        self._flush()
        clean = not self._deaf and self._lifecycle.ended and self._lifecycle.all_closed
        self._reports.append(StreamEnded(clean))
        self._deaf = True
        return self._take()

    def send_input(self, data: bytes) -> bool:
        """Queue a piece of stdin for which `input.has_room`; False when admission has closed."""
        if not self.input.has_room(len(data)):
            raise Misuse(f"{len(data)} bytes of input do not fit the window; wait for its receipts.")
        return self.writer.admitting and self.writer.push(self.input.frame(data))

    def send_input_close(self) -> bool:
        """Queue the end of stdin, after all input; False when admission has closed."""
        return self.writer.push(StdinClose())

    def send_interrupt(self) -> int | None:
        """Queue an interrupt ahead of input; its request_id, or None when too many wait or admission has closed."""
        if len(self._interrupts) >= MAX_INTERRUPTS:
            return None
        request_id = self._next_interrupt
        if not self.writer.push_urgent(Interrupt(request_id=request_id)):
            return None
        self._next_interrupt += 1
        self._interrupts.add(request_id)
        return request_id

    def send_resize(self, columns: int, rows: int) -> bool:
        """Queue the size of the worker's terminal, which must be one, ahead of input; False when admission closed."""
        return self.writer.push_resize(Resize(columns=columns, rows=rows))

    def send_evaluate(self, language: str, source: str) -> str | None:
        """Submit one operation; the answer is why it was not taken, or None."""
        refusal = self.operations.refuse_evaluate()
        if refusal is None and not self.writer.push(Evaluate(language=language, source=source)):
            refusal = "the worker is being retired"
        if refusal is None:
            self.operations.begin()
        return refusal

    def _line(self, line: bytes | None) -> None:
        if line is None:
            self._break(Fault(FaultToken.INPUT_BOUND, "the relay sent a line over the bound"))
            return
        try:
            event = decode_event(line)
        except FrameRefused as refusal:
            self._break(Fault(FaultToken.STRICT, f"the relay sent a line that is no event: {refusal}"))
            return
        match event:
            case Stdout(data=text):
                if self._may_produce("stdout", "stdout"):
                    self._joiner.text("stdout", line, text)
            case Stderr(data=text):
                if self._may_produce("stderr", "stderr"):
                    self._joiner.text("stderr", line, text)
            case StdoutBytes(data=octets):
                if self._may_produce("stdout", "stdout_bytes"):
                    self._joiner.octets("stdout", octets)
            case StderrBytes(data=octets):
                if self._may_produce("stderr", "stderr_bytes"):
                    self._joiner.octets("stderr", octets)
            case _:
                self._other(event)

    def _other(self, event: _NotRaw) -> None:
        self._flush()
        lifecycle = self._lifecycle
        match event:
            case WorkerStarted():
                self._tell(event, lifecycle.worker_started())
            case StdoutClosed():
                self._close("stdout", event)
            case StderrClosed():
                self._close("stderr", event)
            case WorkerSidebandClosed():
                self._tell(event, lifecycle.closed("sideband"))
            case InterruptResult(request_id=request_id):
                awaited = request_id in self._interrupts
                self._interrupts.discard(request_id)
                self._tell(event, lifecycle.receipt("interrupt_result", awaited=awaited))
            case StdinResult(request_id=request_id, error=error):
                awaited = self.input.answered(request_id, error if isinstance(error, str) else None)
                self._tell(event, lifecycle.receipt("stdin_result", awaited=awaited))
            case ShutdownStarted():
                self._tell(event, lifecycle.shutdown_started(sent=self.writer.shutdown_begun))
            case WorkerExited() | WorkerSignaled():
                self._tell(event, lifecycle.outcome())
            case Fatal():
                self._tell(event, lifecycle.fatal())
            case _:
                self._semantic(event)

    def _semantic(self, event: SemanticEvent) -> None:
        kind = str(event.__struct_config__.tag)
        if fault := self._lifecycle.produced("sideband", kind):
            self._break(fault)
        elif not self._worker_unheard:
            refusal = self.operations.receive(event) if self._sideband else f"{kind} without a sideband"
            if refusal is None:
                self._reports.append(event)
            else:
                self._worker_unheard = True
                self._fault_once(Fault(FaultToken.PHASE, f"the worker broke the order of its messages: {refusal}"))

    def _may_produce(self, stream: Stream, kind: str) -> bool:
        fault = self._lifecycle.produced(stream, kind)
        if fault is not None:
            self._break(fault)
        return fault is None

    def _close(self, stream: Stream, event: StdoutClosed | StderrClosed) -> None:
        self._joiner.close(stream)
        self._flush()
        self._tell(event, self._lifecycle.closed(stream))

    def _tell(self, event: _NotRaw, fault: Fault | None) -> None:
        if fault is None:
            self._reports.append(event)
        else:
            self._break(fault)

    def _break(self, fault: Fault) -> None:
        """The transport cannot be believed any more: nothing after this is heard."""
        self._fault_once(fault)
        self._deaf = True
        self._hear = _ignore

    def _fault_once(self, fault: Fault) -> None:
        self._flush()
        if self._fault is None:
            self._fault = fault
            self._reports.append(fault)

    def _flush(self) -> None:
        self._reports.extend(self._joiner.take())

    def _take(self) -> list[Report]:
        self._flush()
        reports, self._reports = self._reports, []
        return reports


def _ignore(line: bytes | None) -> None:
    """What hears the lines after a broken transport."""
