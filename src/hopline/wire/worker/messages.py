"""Every frame of the worker wire as a frozen struct; `kind` is the tag and unknown fields are refused.

Source: docs/wire/worker.md, "Commands" and "Events". Integers are u64.
"""

from typing import Annotated, ClassVar

import msgspec
from msgspec import UNSET, Meta, UnsetType

MAX_U64 = 2**64 - 1

Cells = Annotated[int, Meta(ge=1, le=65_535)]
"""A terminal's width or height, which the system keeps in 16 bits."""


class Frame(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="kind", omit_defaults=True):
    """Root of all frames."""

    semantic: ClassVar[bool] = False
    """Whether the frame crosses the worker's sideband too, flat and unchanged."""


class Evaluate(Frame, frozen=True, tag="evaluate"):
    """Run one complete cell in the worker; forwarded to the sideband."""

    semantic: ClassVar[bool] = True
    language: str
    """Name of the language; `python` is ours."""
    source: str


class Stdin(Frame, frozen=True, tag="stdin"):
    """Bytes for the worker's fd 0: the UTF-8 of `data`, nothing added."""

    data: str
    request_id: int | UnsetType = UNSET
    """Beyond the seed: when present, one `stdin_result` answers when the bytes are in the worker's pipe."""


class StdinBytes(Frame, frozen=True, tag="stdin_bytes"):
    """Beyond the seed: as `stdin`, for bytes that are not UTF-8."""

    data: bytes
    """Padded standard base64 on the wire."""
    request_id: int | UnsetType = UNSET


class StdinClose(Frame, frozen=True, tag="stdin_close"):
    """Beyond the seed: close the worker's fd 0 once everything queued before is written."""


class Resize(Frame, frozen=True, tag="resize"):
    """Beyond the seed: the size of the worker's terminal from now on."""

    columns: Cells
    rows: Cells


class Interrupt(Frame, frozen=True, tag="interrupt"):
    """SIGINT to the direct worker; one `interrupt_result` answers."""

    request_id: int


class Shutdown(Frame, frozen=True, tag="shutdown"):
    """Retire the worker. The first one ends command parsing and fixes the deadline."""

    grace_millis: int
    """Milliseconds left for the worker to exit, counted when the frame was serialised, rounded up."""


class SidebandShutdown(Frame, frozen=True, tag="shutdown"):
    """What the worker's sideband gets for a shutdown: no payload."""


class WorkerStarted(Frame, frozen=True, tag="worker_started"):
    """The direct worker was acquired; always the first lifecycle event."""

    pid: int
    """In the relay's own pid namespace: never signal it from outside one."""


class Stdout(Frame, frozen=True, tag="stdout"):
    """One raw chunk that is wholly valid UTF-8."""

    data: str


class Stderr(Frame, frozen=True, tag="stderr"):
    """One raw chunk that is wholly valid UTF-8."""

    data: str


class StdoutBytes(Frame, frozen=True, tag="stdout_bytes"):
    """One raw chunk that is not valid UTF-8 as a whole."""

    data: bytes


class StderrBytes(Frame, frozen=True, tag="stderr_bytes"):
    """One raw chunk that is not valid UTF-8 as a whole."""

    data: bytes


class StdoutClosed(Frame, frozen=True, tag="stdout_closed"):
    """No stdout chunk follows."""


class StderrClosed(Frame, frozen=True, tag="stderr_closed"):
    """No stderr chunk follows."""


class WorkerSidebandClosed(Frame, frozen=True, tag="worker_sideband_closed"):
    """No semantic event follows."""


class InterruptResult(Frame, frozen=True, tag="interrupt_result"):
    """Receipt for one signal attempt: accepted for delivery, which says nothing about what the worker does."""

    request_id: int
    error: str | UnsetType = UNSET


class StdinResult(Frame, frozen=True, tag="stdin_result"):
    """Beyond the seed: receipt for a stdin command that carried a request_id."""

    request_id: int
    error: str | UnsetType = UNSET


class ShutdownStarted(Frame, frozen=True, tag="shutdown_started"):
    """The explicit shutdown was accepted."""


class WorkerExited(Frame, frozen=True, tag="worker_exited"):
    """Outcome: the direct worker's exit code. Nothing follows."""

    code: int


class WorkerSignaled(Frame, frozen=True, tag="worker_signaled"):
    """Outcome: the signal that ended the direct worker. Nothing follows."""

    signal: int


class Fatal(Frame, frozen=True, tag="fatal"):
    """Diagnostic of a transport or launch failure."""

    message: str


class Ready(Frame, frozen=True, tag="ready"):
    """The worker's first semantic frame, sent once: its services are connected."""

    semantic: ClassVar[bool] = True


class RuntimeInitialized(Frame, frozen=True, tag="runtime_initialized"):
    """The worker's bootstrap ended."""

    semantic: ClassVar[bool] = True
    interrupted: bool


class CellStarted(Frame, frozen=True, tag="cell_started"):
    """Accepted and forwarded; carries nothing."""

    semantic: ClassVar[bool] = True


class ConsoleOutput(Frame, frozen=True, tag="console_output"):
    """Text that the worker's runtime printed."""

    semantic: ClassVar[bool] = True
    data: str


class ConsoleDiagnostic(Frame, frozen=True, tag="console_diagnostic"):
    """Diagnostic text of the worker's runtime, such as a traceback."""

    semantic: ClassVar[bool] = True
    data: str


class Image(Frame, frozen=True, tag="image"):
    """A picture that a cell displayed."""

    semantic: ClassVar[bool] = True
    data: str
    """Base64. A relay checks only that it is a string; the controller checks the encoding."""
    mime_type: str


class InputRequested(Frame, frozen=True, tag="input_requested"):
    """A managed read waits for stdin."""

    semantic: ClassVar[bool] = True
    prompt: str


class InputReceived(Frame, frozen=True, tag="input_received"):
    """The managed read got its line."""

    semantic: ClassVar[bool] = True


class InputCancelled(Frame, frozen=True, tag="input_cancelled"):
    """The managed read ended without a line."""

    semantic: ClassVar[bool] = True


class Completed(Frame, frozen=True, tag="completed"):
    """The one operation under way ended."""

    semantic: ClassVar[bool] = True


Command = Evaluate | Stdin | StdinBytes | StdinClose | Resize | Interrupt | Shutdown
SemanticEvent = (
    Ready
    | RuntimeInitialized
    | CellStarted
    | ConsoleOutput
    | ConsoleDiagnostic
    | Image
    | InputRequested
    | InputReceived
    | InputCancelled
    | Completed
)
RawOutput = Stdout | Stderr | StdoutBytes | StderrBytes
Outcome = WorkerExited | WorkerSignaled
RelayEvent = (
    WorkerStarted
    | RawOutput
    | StdoutClosed
    | StderrClosed
    | WorkerSidebandClosed
    | InterruptResult
    | StdinResult
    | ShutdownStarted
    | Outcome
    | Fatal
)
Event = RelayEvent | SemanticEvent
