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
    """All events of one generation, in the order in which they leave."""

    def __init__(self, limits: RelayLimits, *, sideband: bool) -> None:
        self._limits = limits
        self._queue = OutputQueue(limits)
        self._raw = {Source.STDOUT: RawProducer("stdout"), Source.STDERR: RawProducer("stderr")}
        self.sideband = SidebandProducer(limits.line_bytes)
        self._sources: dict[Source, Producer] = {Source.SIDEBAND: self.sideband, **self._raw}
        self._receipts = Producer()
        self._turns: deque[Producer] = deque([*self._sources.values(), self._receipts])
        if not sideband:
            self.sideband.end()

    @property
    def waiting(self) -> bool:
        """Whether anything waits for the consumer."""
        return len(self._queue) > 0

    @property
    def drained(self) -> bool:
        """Whether every source was read to the end of what was available, and everything is in the queue."""
        return all(producer.drained for producer in self._sources.values()) and not any(
            producer.held for producer in self._turns
        )

    def wants(self, source: Source) -> bool:
        """Whether to read a source now."""
        return self._sources[source].wants_more and self._queue.has_room

    def receive(self, source: Source, data: bytes | memoryview, *, cut: bool) -> str | None:
        """One read of a source. Returns what is wrong with it."""
        problem = None
        if source is Source.SIDEBAND:
            problem = self.sideband.receive(bytes(data))
        else:
            self._raw[source].receive(data)
        self._sources[source].took(len(data), cut=cut)
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
        self._receipts.held.extend(map(encode, receipts))
        return len(self._receipts.held) <= self._limits.receipts

    def admit(self) -> None:
        """Move what producers hold into the queue, taking turns, until one finds no room."""
        idle = 0
        while idle < len(self._turns):
            producer = self._turns[0]
            if producer.held:
                if not self._queue.admit(producer.held[0]):
                    return
                producer.held.popleft()
                idle = 0
            else:
                idle += 1
            self._turns.rotate(-1)

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
        for producer in self._turns:
            producer.held.clear()
            producer.end()

    def buffers(self) -> list[bytes | memoryview]:
        """What to offer to one gathered write."""
        return self._queue.buffers()

    def wrote(self, count: int) -> None:
        """The consumer took `count` bytes."""
        self._queue.wrote(count)
