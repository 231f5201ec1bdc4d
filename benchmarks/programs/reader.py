"""The readers, for machines without a compiler: the same arguments, checks and report as reader.c."""

import json
import os
import sys
import time
from pathlib import Path

from hopline.wire.jsonl import LineSplitter
from hopline.wire.worker import messages
from hopline.wire.worker.codec import decode_event

CHUNK = 1 << 20


class Comparison:
    """Holds what comes against a block that repeats for ever."""

    def __init__(self, block: bytes) -> None:
        self.block = block
        self.payload = 0

    def take(self, data: bytes) -> None:
        size = len(self.block)
        while data:
            at = self.payload % size
            part = data[: size - at]
            if self.block[at : at + len(part)] != part:
                raise ValueError(f"the bytes differ from what was written after {self.payload}")
            self.payload += len(part)
            data = data[len(part) :]


class Reader:
    """Counts, and in mode `frames` strictly decodes, what comes on fd 0."""

    def __init__(self, mode: str, block: bytes) -> None:
        self.mode = mode
        self.expected = Comparison(block)
        self.lines = LineSplitter()
        self.frames = self.lifecycle = 0
        self.outcome = ""

    def take(self, data: bytes) -> None:
        if self.mode == "raw":
            self.expected.take(data)
        elif self.mode == "frames":
            for line in self.lines.receive(data):
                if line is not None:
                    self.frame(line)

    def frame(self, line: bytes) -> None:
        if self.outcome:
            raise ValueError("a frame after the outcome")
        self.frames += 1
        match decode_event(line):
            case messages.Stdout(data) | messages.Stderr(data):
                self.expected.take(data.encode())
            case messages.StdoutBytes(data) | messages.StderrBytes(data):
                self.expected.take(data)
            case messages.Fatal(message):
                raise ValueError(f"the relay says fatal: {message}")
            case messages.WorkerExited():
                self.outcome = "worker_exited"
            case messages.WorkerSignaled():
                self.outcome = "worker_signaled"
            case _:
                self.lifecycle += 1


def main(words: list[str]) -> int:
    mode = words[0]
    reader = Reader(mode, b"" if mode == "discard" else Path(words[1]).read_bytes())
    wire, started = 0, 0.0
    while data := os.read(0, CHUNK):
        started = started or time.monotonic()
        wire += len(data)
        reader.take(data)
    seconds = time.monotonic() - started if started else 0.0
    if mode == "frames" and (reader.lines.partial() or not reader.outcome):
        raise ValueError("the stream ended without an outcome")
    report = {
        "payload": reader.expected.payload,
        "wire": wire,
        "frames": reader.frames,
        "lifecycle": reader.lifecycle,
        "outcome": reader.outcome,
        "seconds": seconds,
    }
    sys.stdout.write(json.dumps(report) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
