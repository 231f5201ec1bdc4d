"""What goes to the controller: the producers, whose turn it is, the queue, and the terminal block.

Source: docs/wire/worker.md, "Output" and "Retirement" (WW-READERS-WAIT, WW-TERMINAL-ORDER).
"""

from collections import deque

from hopline.wire.worker.codec import encode
from hopline.wire.worker.limits import RelayLimits
from hopline.wire.worker.messages import (
    Fatal,
    Outcome,
    RelayEvent,
    StderrClosed,
    StdinResult,
    StdoutClosed,
    WorkerSidebandClosed,
)
from hopline.wire.worker.output_queue import OutputQueue
from hopline.wire.worker.producers import Producer, RawProducer, SidebandProducer
from hopline.wire.worker.relay_ports import Source

_MESSAGE_CHARACTERS = 4096
"""Most that a `fatal` says: what a peer sent may be quoted in it."""


class RelayEvents:
    """All events of one generation, in the order in which they leave.

    Args:
        limits: capacities.
        sideband: whether there is one.
        terminal: whether stdout and stderr are one terminal, told as stdout.
    """

    def __init__(self, limits: RelayLimits, *, sideband: bool, terminal: bool = False) -> None:
        self._limits = limits
        self._queue = OutputQueue(limits)
        self.sideband = SidebandProducer(limits.line_bytes)
        self._sources: dict[Source, RawProducer | SidebandProducer] = {
            Source.SIDEBAND: self.sideband,
            Source.STDOUT: RawProducer("stdout"),
            Source.STDERR: RawProducer("stderr"),
        }
        self._receipts = Producer()
        self._waiting: deque[Producer] = deque()
        """Producers that hold frames, the one whose turn it is first."""
        if not sideband:
            self.sideband.end()
        if terminal:
            self._sources[Source.STDERR].end()

    @property
    def waiting(self) -> bool:
        """Whether anything waits for the consumer."""
        return len(self._queue) > 0

    @property
    def drained(self) -> bool:
        """Whether every source was read to the end of what was available, and everything is in the queue."""
        return not self._waiting and all(producer.drained for producer in self._sources.values())

    def wants(self, source: Source) -> bool:
        """Whether to read a source now."""
        return self._sources[source].wants_more and self._queue.has_room

    def receive(self, source: Source, data: bytes | memoryview, *, cut: bool) -> str | None:
        """One read of a source. Returns what is wrong with it."""
        producer = self._sources[source]
        waited = bool(producer.held)
        problem = producer.receive(data)
        producer.took(len(data), cut=cut)
        if producer.held and not waited:
            self._waiting.append(producer)
        return problem

    def end(self, source: Source) -> None:
        """A source has ended, or is not read any more."""
        self._sources[source].end()

    def would_block(self, source: Source) -> None:
        """A read of a source found nothing."""
        self._sources[source].would_block()

    def begin_drain(self, available: dict[Source, int]) -> None:
        """The worker is gone; `available` is the most that each pipe can hold of its own output."""
        for source, producer in self._sources.items():
            producer.begin_drain(available.get(source, 0))

    def cut(self) -> None:
        """Sources that gave a full pipe since the exit are not read on (WW-DRAIN-AVAILABLE)."""
        for producer in self._sources.values():
            producer.cut_if(True)

    def supervise(self, event: RelayEvent) -> bool:
        """Queue a supervisor event; False when their allowance is used up."""
        return self._queue.admit_supervisor(encode(event))

    def answer(self, receipts: list[StdinResult]) -> bool:
        """Queue receipts for input, which wait for room like output; False when too many wait."""
        if receipts and not self._receipts.held:
            self._waiting.append(self._receipts)
        self._receipts.held.extend(map(encode, receipts))
        return len(self._receipts.held) <= self._limits.receipts

    def admit(self) -> None:
        """Move what producers hold into the queue, a frame a turn, until one finds no room (WW-READERS-WAIT)."""
        while self._waiting:
            producer = self._waiting[0]
            if not self._queue.admit(producer.held[0]):
                return
            producer.held.popleft()
            if producer.held:
                self._waiting.rotate(-1)
            else:
                self._waiting.popleft()

    def finish(self, failure: str, outcome: Outcome | None) -> None:
        """Queue the terminal block (WW-TERMINAL-ORDER)."""
        for producer in self._sources.values():
            producer.end()
        block: list[RelayEvent] = [StdoutClosed(), StderrClosed()]
        if failure:
            block.append(Fatal(failure[:_MESSAGE_CHARACTERS]))
        block.append(WorkerSidebandClosed())
        if outcome is not None:
            block.append(outcome)
        for event in block:
            self._queue.push_terminal(encode(event))

    def only(self, event: Fatal) -> None:
        """There is no worker: this event is all there will be (WW-LAUNCH-FATAL)."""
        for producer in self._sources.values():
            producer.end()
        self._queue.push_terminal(encode(Fatal(event.message[:_MESSAGE_CHARACTERS])))

    def abandon(self) -> None:
        """The consumer is gone or given up: nothing more is written (WW-ABORTED-FRAME)."""
        self._queue.clear()
        for producer in (*self._sources.values(), self._receipts):
            producer.held.clear()
            producer.end()
        self._waiting.clear()

    def buffers(self) -> list[bytes | memoryview]:
        """What to offer to one gathered write."""
        return self._queue.buffers()

    def wrote(self, count: int) -> None:
        """The consumer took `count` bytes."""
        self._queue.wrote(count)
