"""The bridge as a machine: which of its four ends to wait for, how long, and how it all ends. Pure.

Two lanes hold one read each, so whoever does not take its bytes stops the other side's reading and nothing else.
Bytes are never looked at (WB-UNREAD). Time is an argument; errors are values. Source: docs/wire/bridge.md.
"""

import errno
from dataclasses import dataclass
from enum import IntFlag, StrEnum
from typing import assert_never

from hopline.errors import Misuse
from hopline.serve.bridge_outcomes import ChannelEnd, Outcome

CLOSES = frozenset({errno.EPIPE, errno.ECONNRESET})
"""Errors that only say that the other end has closed."""


@dataclass(frozen=True, slots=True)
class BridgeLimits:
    """Every bound of a bridge; the defaults are the contract's."""

    write_deadline_seconds: float = 40.0
    """How long one write, toward the server or toward stdout, may make no progress."""
    connect_timeout_seconds: float = 5.0
    """How long connecting to the socket may take."""
    read_deadline_seconds: float = 7 * 86_400.0
    """How long the socket may send nothing; no finite time covers every pause of a run, and a week is long enough."""
    read_bytes: int = 65_536
    """Most bytes of one read, and so the most that a lane holds."""


class State(StrEnum):
    """Where a bridge stands."""

    COPYING = "copying"
    """Both ways."""
    DEAF = "deaf"
    """The server takes nothing more and may still have something to say; what the client sends is dropped."""
    DRAINING = "draining"
    """The server has closed; what it sent last is on its way to stdout."""
    FLUSHING = "flushing"
    """Nobody reads stdout any more; what the client had sent before goes to the server still (WB-LAST-COMMAND)."""
    ENDED = "ended"


class Wait(IntFlag):
    """What a bridge can wait for."""

    READ_CLIENT = 1
    WRITE_SERVER = 2
    READ_SERVER = 4
    WRITE_CLIENT = 8


class Step(StrEnum):
    """What moves a bridge."""

    SERVER_DEAF = "server_deaf"
    SERVER_CLOSED = "server_closed"
    CLIENT_LEFT = "client_left"
    END = "end"


NEXT: dict[State, dict[Step, State]] = {
    State.COPYING: {
        Step.SERVER_DEAF: State.DEAF,
        Step.SERVER_CLOSED: State.DRAINING,
        Step.CLIENT_LEFT: State.FLUSHING,
        Step.END: State.ENDED,
    },
    State.DEAF: {Step.SERVER_CLOSED: State.DRAINING, Step.END: State.ENDED},
    State.DRAINING: {Step.END: State.ENDED},
    State.FLUSHING: {Step.END: State.ENDED},
    State.ENDED: {},
}


class Lane:
    """The bytes of one direction that were read and are not yet written (WB-ONE-READ)."""

    __slots__ = ("pending", "since")

    def __init__(self, data: bytes, now: float) -> None:
        self.pending = memoryview(data)
        self.since = now
        """When the oldest pending byte came, or a byte last went."""

    def hold(self, data: bytes, now: float) -> None:
        """One read's bytes, into an empty lane."""
        if self.pending:
            raise Misuse("a lane holds one read at a time")
        self.pending = memoryview(data)
        self.since = now

    def took(self, count: int, now: float) -> None:
        """`count` bytes were written; none is no progress."""
        if count:
            self.pending = self.pending[count:]
            self.since = now

    def clear(self) -> None:
        """Drop what is pending."""
        self.pending = memoryview(b"")


class Bridge:
    """Call it with what was read, written or failed; then ask `waits`, `next_deadline` and `end`.

    Args:
        limits: its bounds.
        now: monotonic seconds.
        already: bytes of the client's that were read before the bridge began.
    """

    def __init__(self, limits: BridgeLimits, now: float, already: bytes = b"") -> None:
        self._limits = limits
        self._listening_since = now
        self.to_server = Lane(already, now)
        self.to_client = Lane(b"", now)
        self.state = State.COPYING
        self.end: ChannelEnd | None = None
        """How it ended; None while it goes on."""

    @property
    def waits(self) -> Wait:
        """What can be done next; nothing else may be waited for, or a closed end would be reported without end."""
        up = Wait.WRITE_SERVER if self.to_server.pending else Wait.READ_CLIENT
        down = Wait.WRITE_CLIENT if self.to_client.pending else Wait.READ_SERVER
        match self.state:
            case State.COPYING:
                return up | down
            case State.DEAF:
                return Wait.READ_CLIENT | down
            case State.DRAINING:
                return Wait.WRITE_CLIENT
            case State.FLUSHING:
                return up
            case State.ENDED:
                return Wait(0)
            case _:
                assert_never(self.state)

    def receive_from_client(self, data: bytes, now: float) -> None:
        """Bytes read on stdin."""
        if self.state is not State.DEAF:
            self.to_server.hold(data, now)

    def receive_eof_from_client(self) -> None:
        """stdin reached its end. Replies in flight are dropped (WB-CLIENT-END)."""
        self._end(Outcome.CLIENT_CLOSED, "stdin reached its end.")

    def receive_from_server(self, data: bytes, now: float) -> None:
        """Bytes read on the socket."""
        self.to_client.hold(data, now)

    def receive_eof_from_server(self) -> None:
        """The socket reached its end."""
        self.to_server.clear()
        self._move(Step.SERVER_CLOSED)
        self._end_when_drained()

    def server_took(self, count: int, now: float) -> None:
        """The socket took `count` bytes of `to_server`."""
        self.to_server.took(count, now)

    def client_took(self, count: int, now: float) -> None:
        """stdout took `count` bytes of `to_client`; once it has all, the bridge listens again (WB-SILENCE)."""
        self.to_client.took(count, now)
        if not self.to_client.pending:
            self._listening_since = now
        self._end_when_drained()

    def client_hung_up(self) -> None:
        """Nobody reads stdout any more."""
        self._client_left()

    def server_read_failed(self, error: OSError) -> None:
        """Reading the socket failed."""
        if error.errno in CLOSES:
            self.receive_eof_from_server()
        else:
            self._end(Outcome.SERVER_FAILED, f"reading from the run's server failed: {_reason(error)}.")

    def server_write_failed(self, error: OSError) -> None:
        """Writing to the socket failed. A server that closed may have said why; that is relayed (WB-LAST-WORDS)."""
        if error.errno not in CLOSES:
            self._end(Outcome.SERVER_FAILED, f"writing to the run's server failed: {_reason(error)}.")
        elif self.state is State.FLUSHING:
            self._end(Outcome.CLIENT_CLOSED, "the client and the server both went away.")
        else:
            self.to_server.clear()
            self._move(Step.SERVER_DEAF)

    def client_failed(self, error: OSError) -> None:
        """Reading stdin or writing stdout failed."""
        if error.errno in CLOSES:
            self._client_left()
        else:
            self._end(Outcome.CLIENT_FAILED, f"stdin or stdout failed: {_reason(error)}.")

    def next_deadline(self) -> float | None:
        """When `on_time` would end it; None when there is nothing to wait for.

        That is so once it has ended, and when nobody reads stdout any more and only what stdin holds already still
        counts: then look without waiting, and when there is nothing, that is the end of stdin.
        """
        deadlines = self._deadlines()
        return min(deadlines)[0] if deadlines else None

    def on_time(self, now: float) -> None:
        """End it when a deadline has passed; call it after whatever made progress."""
        deadlines = self._deadlines()
        if not deadlines or min(deadlines)[0] > now:
            return
        _, outcome = min(deadlines)
        if outcome is Outcome.SERVER_UNRESPONSIVE:
            self._end(outcome, f"the run's server sent nothing for {self._limits.read_deadline_seconds:g} s.")
        else:
            slow = "the run's server" if outcome is Outcome.SERVER_STALLED else "stdout"
            self._end(outcome, f"{slow} took no byte for {self._limits.write_deadline_seconds:g} s.")

    def _deadlines(self) -> list[tuple[float, Outcome]]:
        waits, limits = self.waits, self._limits
        found = []
        if waits & Wait.WRITE_SERVER:
            found.append((self.to_server.since + limits.write_deadline_seconds, Outcome.SERVER_STALLED))
        if waits & Wait.WRITE_CLIENT:
            found.append((self.to_client.since + limits.write_deadline_seconds, Outcome.CLIENT_STALLED))
        if waits & Wait.READ_SERVER:
            found.append((self._listening_since + limits.read_deadline_seconds, Outcome.SERVER_UNRESPONSIVE))
        return found

    def _client_left(self) -> None:
        self.to_client.clear()
        if self.state is State.COPYING:
            self._move(Step.CLIENT_LEFT)
        else:
            self._end(Outcome.CLIENT_CLOSED, "the client went away.")

    def _end_when_drained(self) -> None:
        if self.state is State.DRAINING and not self.to_client.pending:
            self._end(Outcome.SERVER_CLOSED, "the run's server closed the connection; everything it sent was relayed.")

    def _end(self, outcome: Outcome, detail: str) -> None:
        self._move(Step.END)
        self.end = ChannelEnd(outcome, detail)

    def _move(self, step: Step) -> None:
        after = NEXT[self.state].get(step)
        if after is None:
            raise Misuse(f"a bridge that is {self.state} cannot have {step}")
        self.state = after


def _reason(error: OSError) -> str:
    return f"{error.strerror or error} ({errno.errorcode.get(error.errno or 0, error.errno)})"
