"""The loads, for machines without a compiler: the same arguments and bytes as loads.c, whose head describes them."""

import os
import signal
import sys
import time
from pathlib import Path


def write_all(data: memoryview) -> None:
    while data:
        data = data[os.write(1, data) :]


def flood(path: str, total: int, each: int) -> None:
    block = memoryview(Path(path).read_bytes())
    at = 0
    while total > 0:
        size = min(each, len(block) - at, total)
        write_all(block[at : at + size])
        total -= size
        at = (at + size) % len(block)


def ticks(count: int, microseconds: int) -> None:
    due = time.monotonic_ns()
    for tick in range(count):
        due += microseconds * 1000
        time.sleep(max(0, due - time.monotonic_ns()) / 1e9)
        write_all(memoryview(b"t=%020d;%056d\n" % (time.monotonic_ns(), tick)))


def patient(seconds: int) -> None:
    time.sleep(seconds)


def main(words: list[str]) -> int:
    signal.alarm(int(os.environ.get("LOAD_SECONDS", "120")))
    if fifo := os.environ.get("LOAD_INTERRUPTS"):
        interrupts = os.open(fifo, os.O_RDWR | os.O_CLOEXEC)

        def on_interrupt(number: int, frame: object) -> None:
            os.write(interrupts, time.monotonic_ns().to_bytes(8, sys.byteorder))

        signal.signal(signal.SIGINT, on_interrupt)
        os.write(interrupts, bytes(8))
    if gate := os.environ.get("LOAD_GATE"):
        with Path(gate).open("rb", buffering=0) as file:
            file.read(1)
    match words:
        case ["flood", path, total, each]:
            flood(path, int(total), int(each))
        case ["ticks", count, microseconds]:
            ticks(int(count), int(microseconds))
        case ["patient", seconds]:
            patient(int(seconds))
        case _:
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
