"""The requests that steer a run. A plain command answers pause, resume and steer as a run without an agent does
(docs/wire/client.md, "Commands"; decision 0024).
"""

from typing import Annotated, ClassVar, Literal

from msgspec import Meta

from hopline.wire.client.asking import GraceMillis, RequestBase

MAX_TERMINAL_CELLS = 65_535
"""What the kernel's window size holds in one direction."""

Cells = Annotated[int, Meta(ge=1, le=MAX_TERMINAL_CELLS)]


class CommandPause(RequestBase, frozen=True, kw_only=True, tag="command.pause"):
    """Pause at the agent's next boundary."""

    mutating: ClassVar[bool] = True

    mode: Literal["after_current_agent_call"] = "after_current_agent_call"


class CommandResume(RequestBase, frozen=True, kw_only=True, tag="command.resume"):
    """Go on, now or when a provider's capacity is back; `fallback` excludes the latter (`invalid_request`)."""

    mutating: ClassVar[bool] = True

    fallback: bool = False
    """Switch to the fallback provider."""
    when: Literal["now", "capacity_returns"] = "now"


class CommandSteer(RequestBase, frozen=True, kw_only=True, tag="command.steer"):
    """Words for the agent, taken at its next boundary."""

    mutating: ClassVar[bool] = True

    text: Annotated[str, Meta(min_length=1)]


class CommandStop(RequestBase, frozen=True, kw_only=True, tag="command.stop"):
    """Retire the worker and end the run as stopped."""

    mutating: ClassVar[bool] = True

    mode: Literal["after_current_agent_call"] = "after_current_agent_call"
    grace_ms: GraceMillis | None = None
    """Beyond the seed: how long the worker may take to leave before it is killed; None for the run's own setting."""


class CommandInterrupt(RequestBase, frozen=True, kw_only=True, tag="command.interrupt"):
    """Beyond the seed: SIGINT to the direct worker; the Response waits for the receipt."""

    mutating: ClassVar[bool] = True


class CommandInput(RequestBase, frozen=True, kw_only=True, tag="command.input"):
    """Beyond the seed: bytes for the worker's stdin, or its end; the Response comes when they are accepted.

    `text` and `bytes_base64` exclude one another; `close` may stand alone or follow the bytes of the same request.
    """

    mutating: ClassVar[bool] = True

    text: str | None = None
    bytes_base64: bytes | None = None
    """Bytes here; standard padded base64 on the wire."""
    close: bool = False

    def __post_init__(self) -> None:
        if self.text is not None and self.bytes_base64 is not None:
            raise ValueError("text and bytes_base64 exclude one another")
        if self.text is None and self.bytes_base64 is None and not self.close:
            raise ValueError("one of text, bytes_base64 and close is needed")

    def data(self) -> bytes:
        """The bytes to write, in either form."""
        return self.text.encode("utf-8", "replace") if self.text is not None else self.bytes_base64 or b""


class CommandResize(RequestBase, frozen=True, kw_only=True, tag="command.resize"):
    """Beyond the seed: the size of the worker's pseudo-terminal, in cells. Refused with `no_terminal` without one."""

    mutating: ClassVar[bool] = True

    columns: Cells
    rows: Cells


class CommandRestart(RequestBase, frozen=True, kw_only=True, tag="command.restart"):
    """Beyond the seed: retire this generation and, once it is gone, launch the next."""

    mutating: ClassVar[bool] = True

    grace_ms: GraceMillis | None = None


Command = (
    CommandPause
    | CommandResume
    | CommandSteer
    | CommandStop
    | CommandInterrupt
    | CommandInput
    | CommandResize
    | CommandRestart
)
