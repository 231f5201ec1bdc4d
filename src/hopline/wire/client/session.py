"""One frontend connection as a machine: bytes in, requests and refusals out, whatever the peer sends.

Nothing a peer sends raises. Requests are taken one at a time; an accepted subscribe replaces the parser by one that
drops everything (docs/wire/client.md, "Connections"; WP-ROLES).
"""

from collections import deque
from collections.abc import Callable
from enum import StrEnum

import msgspec
from msgspec import UNSET

from hopline.errors import Misuse
from hopline.wire.client.requests import (
    MAX_REQUEST_LINE_BYTES,
    Request,
    RequestRefused,
    decode_request,
    identity_of,
)
from hopline.wire.client.responses import Code, Diagnostic, diagnosed, validation_paths
from hopline.wire.jsonl import LineSplitter


class State(StrEnum):
    """Where a connection stands."""

    READING = "reading"
    """The next request may be taken."""
    ANSWERING = "answering"
    """One request is out; its Response is due."""
    STREAMING = "streaming"
    """A subscription owns the connection until the peer leaves."""
    CLOSED = "closed"


class Step(StrEnum):
    """What moves a connection."""

    TAKEN = "taken"
    ANSWERED = "answered"
    SUBSCRIBED = "subscribed"
    CLOSED = "closed"


NEXT: dict[State, dict[Step, State]] = {
    State.READING: {Step.TAKEN: State.ANSWERING, Step.CLOSED: State.CLOSED},
    State.ANSWERING: {
        Step.ANSWERED: State.READING,
        Step.SUBSCRIBED: State.STREAMING,
        Step.CLOSED: State.CLOSED,
    },
    State.STREAMING: {Step.CLOSED: State.CLOSED},
    State.CLOSED: {Step.CLOSED: State.CLOSED},
}


class Received(msgspec.Struct, frozen=True):
    """A request of this wire; exactly one Response is due, or a subscription."""

    request: Request
    request_id: str
    client_id: str


class Rejected(msgspec.Struct, frozen=True):
    """A message that is no request; exactly one failed Response is due and the connection stays open."""

    request_id: str
    client_id: str
    diagnostic: Diagnostic


class ClientSession:
    """The server's end of one connection, on any carrier.

    A stream carrier calls `receive` with bytes, a message carrier `receive_message` with whole messages. After each,
    `take` gives what is next; each Received is followed by `answered` or `subscribed` before the next `take` gives
    anything, each Rejected by `answered`. While `full` is true the carrier should stop reading.

    Args:
        new_id: makes a fresh random id: for a request without one and for each diagnostic.
    """

    def __init__(self, new_id: Callable[[], str]) -> None:
        self._new_id = new_id
        self._splitter = LineSplitter(MAX_REQUEST_LINE_BYTES)
        self._waiting: deque[bytes | None] = deque()
        self._waiting_bytes = 0
        self._ended = False
        self.state = State.READING

    @property
    def full(self) -> bool:
        """Whether a whole request's worth of bytes waits already."""
        return self._waiting_bytes >= MAX_REQUEST_LINE_BYTES

    @property
    def done(self) -> bool:
        """Whether nothing is left to do: closed, or the peer has ended and every request of its was answered."""
        return self.state is State.CLOSED or (self._ended and not self._waiting and self.state is State.READING)

    @property
    def ended(self) -> bool:
        """Whether the peer sends nothing more."""
        return self._ended

    def receive(self, data: bytes) -> None:
        """Bytes of a stream carrier, however they were cut."""
        if self.state in (State.READING, State.ANSWERING):
            for line in self._splitter.receive(data):
                self._hold(line)

    def receive_message(self, message: bytes) -> None:
        """One whole message of a message carrier."""
        if self.state in (State.READING, State.ANSWERING):
            self._hold(message if len(message) <= MAX_REQUEST_LINE_BYTES else None)

    def receive_eof(self) -> None:
        """The peer sends nothing more; what it sent before is still answered."""
        self._ended = True

    def take(self) -> Received | Rejected | None:
        """What is next, or None: nothing is there, or the previous one is not answered yet."""
        if self.state is not State.READING or not self._waiting:
            return None
        line = self._waiting.popleft()
        self._move(Step.TAKEN)
        if line is None:
            return self._too_large()
        self._waiting_bytes -= len(line) + 1
        try:
            request = decode_request(line)
        except RequestRefused as refusal:
            return self._rejected(line, str(refusal))
        request_id = self._new_id() if request.request_id is UNSET else request.request_id
        return Received(request, request_id, request.client_id)

    def answered(self) -> None:
        """The Response that was due has been handed to the carrier."""
        self._move(Step.ANSWERED)

    def subscribed(self) -> None:
        """The request that was taken is an accepted subscribe: the connection is the stream's now."""
        self._move(Step.SUBSCRIBED)
        self._forget()

    def close(self) -> None:
        """The connection is over, from either side."""
        self._move(Step.CLOSED)
        self._forget()

    def _hold(self, line: bytes | None) -> None:
        self._waiting.append(line)
        if line is not None:
            self._waiting_bytes += len(line) + 1

    def _forget(self) -> None:
        self._waiting.clear()
        self._waiting_bytes = 0
        self._splitter = LineSplitter(MAX_REQUEST_LINE_BYTES)

    def _move(self, step: Step) -> None:
        after = NEXT[self.state].get(step)
        if after is None:
            raise Misuse(f"a {self.state} connection cannot be {step}")
        self.state = after

    def _too_large(self) -> Rejected:
        diagnostic = diagnosed(
            self._new_id(),
            Code.REQUEST_TOO_LARGE,
            f"A request is longer than {MAX_REQUEST_LINE_BYTES} bytes; it was dropped.",
            hint="Send it in smaller parts.",
            scope="protocol",
            retryability="never",
        )
        return Rejected("unknown", "", diagnostic)

    def _rejected(self, line: bytes, message: str) -> Rejected:
        diagnostic = diagnosed(
            self._new_id(),
            Code.INVALID_VALUE,
            "Request received invalid input",
            detail=message,
            scope="protocol",
            retryability="never",
            validation_paths=validation_paths(message),
        )
        return Rejected(*identity_of(line), diagnostic)
