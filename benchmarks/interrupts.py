"""Interrupt to receipt, on the relay alone: idle, and under a flood that nobody reads."""

import array
import fcntl
import os
import select
import termios
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.context import Context
from benchmarks.harness import OURS, Bar, Benchmark, Row, Sample, Side, percentile
from benchmarks.processes import PIPE_BYTES, Stage, TookTooLong
from benchmarks.relay import ORACLE, relay_argv

IDLE_TRIALS = 300
FLOOD_TRIALS = 100
FLOOD_BYTES = 20_000_000_000
"""Never reached: the flood ends with its relay, or by its own alarm."""
RECEIPT = b'"interrupt_result"'


@dataclass(slots=True)
class Session:
    """One relay with a worker that notes the time of each SIGINT in a FIFO and goes on."""

    commands: int
    output: int
    signals: int
    pid: int

    def interrupt(self, number: int) -> int:
        """Ask for an interrupt. Returns the moment before, in CLOCK_MONOTONIC ns."""
        frame = b'{"kind":"interrupt","request_id":%d}\n' % number
        moment = time.monotonic_ns()
        os.write(self.commands, frame)
        return moment

    def receipt(self, seconds: float = 10.0) -> int:
        """Read output until a receipt is there. Returns the moment it was."""
        end, tail = time.monotonic() + seconds, b""
        while time.monotonic() < end:
            if not select.select([self.output], [], [], 1.0)[0]:
                continue
            data = os.read(self.output, PIPE_BYTES)
            if RECEIPT in tail + data[:64] or RECEIPT in data:
                return time.monotonic_ns()
            if not data:
                raise RuntimeError("the relay ended before its receipt")
            tail = data[-32:]
        raise TookTooLong(f"no receipt within {seconds:g} s")

    def signalled(self, seconds: float = 10.0) -> int:
        """The moment at which the worker's handler ran."""
        if not select.select([self.signals], [], [], seconds)[0]:
            raise TookTooLong(f"the worker got no SIGINT within {seconds:g} s")
        return int.from_bytes(os.read(self.signals, 8), "little")


def begin(context: Context, stage: Stage, room: Path, relay: list[str], load: list[str]) -> Session:
    """Start the relay and wait until its worker catches SIGINT."""
    fifo = room / "signals"
    os.mkfifo(fifo)
    signals = stage.keep(os.open(fifo, os.O_RDWR))
    command_end, commands = stage.pipe()
    output, output_end = stage.pipe()
    environment = {"LOAD_INTERRUPTS": str(fifo), "LOAD_SECONDS": "60"}
    pid = stage.start([*relay, *load], env=environment, stdin=command_end, stdout=output_end)
    stage.close(command_end, output_end)
    session = Session(commands, output, signals, pid)
    session.signalled()
    return session


def finish(stage: Stage, session: Session) -> None:
    """Retire the worker at once and wait for the relay."""
    os.write(session.commands, b'{"kind":"shutdown","grace_millis":0}\n')
    while os.read(session.output, PIPE_BYTES):
        continue
    stage.finish(session.pid, 10)


def idle(context: Context, relay: list[str], trials: int) -> list[float]:
    """Milliseconds from the command to its receipt, with a worker that does nothing."""
    found = []
    with context.room("idle") as room, context.stage() as stage:
        session = begin(context, stage, room, relay, context.programs.patient(60))
        for number in range(trials):
            asked = session.interrupt(number)
            found.append((session.receipt() - asked) / 1e6)
            session.signalled()
            time.sleep(0.002)
        finish(stage, session)
    return found


def settled(output: int) -> None:
    """Wait until the pipe to the consumer has not grown for 30 ms: relay and worker are blocked."""
    size, same = array.array("i", [0]), 0
    before = -1
    for _ in range(1000):
        fcntl.ioctl(output, termios.FIONREAD, size)
        same = same + 1 if size[0] == before else 0
        before = size[0]
        if same >= 6:
            return
        time.sleep(0.005)


def flooded(context: Context, relay: list[str], trials: int) -> tuple[list[float], list[float]]:
    """Milliseconds to the worker's handler while the consumer stays blocked, and to the receipt once it reads on.

    The second is counted from the command too; the consumer starts to read when the signal has arrived.
    """
    to_signal, to_receipt = [], []
    with context.room("flood") as room, context.stage() as stage:
        session = begin(context, stage, room, relay, context.programs.flood("ansi", FLOOD_BYTES))
        for number in range(trials):
            settled(session.output)
            asked = session.interrupt(number)
            to_signal.append((session.signalled() - asked) / 1e6)
            to_receipt.append((session.receipt() - asked) / 1e6)
        finish(stage, session)
    return to_signal, to_receipt


def side(name: str, values: list[list[float]], share: float) -> Side:
    """One sample a repetition: the wanted percentile of its trials."""
    samples = []
    for trials in values:
        ranks = ", ".join(f"p{rank} {percentile(trials, rank / 100):.3f}" for rank in (50, 90, 99))
        samples.append(Sample(percentile(trials, share), note=f"{ranks} ms of {len(trials)}"))
    return Side(name, "ms", tuple(samples))


def measure_idle(context: Context) -> list[Row]:
    """Median of each repetition, three in turns."""
    relays = {name: relay_argv(context, name) for name in (OURS, ORACLE)}
    values: dict[str, list[list[float]]] = {name: [] for name in relays}
    for _ in range(3):
        for name, relay in relays.items():
            values[name].append(idle(context, relay, context.size(IDLE_TRIALS)))
    ours, theirs = (side(name, values[name], 0.5) for name in (OURS, ORACLE))
    return [Row("interrupt-idle", "interrupt to receipt, idle, median", ours, theirs, Bar("<", 1, "ms"))]


def measure_flood(context: Context) -> list[Row]:
    """p99 of each repetition, two in turns."""
    relays = {name: relay_argv(context, name) for name in (OURS, ORACLE)}
    signals: dict[str, list[list[float]]] = {name: [] for name in relays}
    receipts: dict[str, list[list[float]]] = {name: [] for name in relays}
    for _ in range(2):
        for name, relay in relays.items():
            to_signal, to_receipt = flooded(context, relay, context.size(FLOOD_TRIALS))
            signals[name].append(to_signal)
            receipts[name].append(to_receipt)
    texts = {
        "interrupt-flood": ("interrupt to the worker, flood, consumer blocked, p99", signals),
        "interrupt-receipt": ("  and to its receipt, consumer reading again, p99", receipts),
    }
    rows = []
    for row, (text, found) in texts.items():
        ours, theirs = (side(name, found[name], 0.99) for name in (OURS, ORACLE))
        rows.append(Row(row, text, ours, theirs, Bar("<", 50, "ms")))
    return rows


BENCHMARKS = [
    Benchmark("interrupt-idle", "interrupt to interrupt_result with an idle worker", measure_idle),
    Benchmark("interrupt-flood", "interrupt under a flood with a blocked consumer", measure_flood),
]
