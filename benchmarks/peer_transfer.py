"""A transcript of 200 MB from hub to hub on loopback, verified and placed, beside scp and beside lines."""

import contextlib
import hashlib
import json
import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks import hubs, product
from benchmarks.context import Context
from benchmarks.harness import OURS, Bar, Benchmark, Row, Sample, Side, interleave
from benchmarks.hubs import HubPlace
from benchmarks.processes import cpu_seconds
from benchmarks.scp import scp
from benchmarks.workloads import PROGRAMS

SIZE = 200_000_000
REPEATS = 5
SCP, LINES, FRAMED = "scp", "NDJSON", "NDJSON, chunks packed"
WITHOUT = {OURS: "", LINES: "frame-bin session-lz4", FRAMED: "frame-bin"}


def transcript(path: Path, size: int) -> str:
    """Write about `size` bytes of JSON Lines that LZ4 halves, as it does those of agents. Returns its SHA-256."""
    dice = random.Random(4)
    letters = "eeeeaaaiiooutttnnnrrssllddhcmpgfbvkwy"
    words = ["".join(dice.choices(letters, k=dice.randint(2, 9))) for _ in range(400)]
    phrases = [" ".join(dice.choices(words, k=dice.randint(1, 4))) for _ in range(120)]
    lines = []
    while sum(map(len, lines)) < 1 << 20:
        for _ in range(200):
            content = " ".join(dice.choices(phrases, k=dice.randint(5, 200)))
            lines.append(json.dumps({"type": "assistant", "uuid": f"{dice.getrandbits(128):032x}", "text": content}))
    block = ("\n".join(lines) + "\n").encode()
    digest = hashlib.sha256()
    with path.open("wb") as file:
        for number in range(max(1, size // len(block))):
            part = json.dumps({"type": "summary", "number": number}).encode() + b"\n" + block
            digest.update(part)
            file.write(part)
    return digest.hexdigest()


@contextmanager
def sending(context: Context, source: Path, digest: str, without: str) -> Iterator["Sending"]:
    """Two linked hubs; the sender's does without some features."""
    with hubs.places(context, "near-00000001", "far-00000002") as (near, far):
        key = os.urandom(32)
        far.know(near.name, key)
        served = far.serve()
        near.know(far.name, key, served["listen"])
        program = [context.program("python"), str(PROGRAMS / "lines_hub.py")] if without else None
        pid = near.serve(program, BENCH_WITHOUT=without)["pid"]
        yield Sending(near, far, (pid, served["pid"]), source, digest)


class Sending:
    """Sends the same transcript under a new id each time."""

    def __init__(self, near: HubPlace, far: HubPlace, pids: tuple[int, int], source: Path, digest: str) -> None:
        self._near, self._far, self._pids = near, far, pids
        self._source, self._digest = source, digest
        self._number = 0
        near.linked(far.name)

    def send(self) -> Sample:
        """MB/s of `hopline session send`, start to end; what was placed is compared afterwards."""
        self._number += 1
        size = self._source.stat().st_size
        spent = [cpu_seconds(pid) for pid in self._pids]
        words = ["session", "send", self._far.name, f"bench-{self._number}", "--transcript", str(self._source)]
        started = time.monotonic()
        self._near.run(*words, "--cwd", "/bench", "--json")
        seconds = time.monotonic() - started
        near, far = (cpu_seconds(pid) - before for pid, before in zip(self._pids, spent, strict=True))
        (placed,) = self._far.user_home.rglob(f"bench-{self._number}.jsonl")
        with placed.open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != self._digest:
                raise RuntimeError("what was placed is not what was sent")
        placed.unlink()
        cost = (near + far) / size * 1e9
        return Sample(size / seconds / 1e6, cost, f"CPU: sender {near:.2f} s, receiver {far:.2f} s")


def measure(context: Context) -> list[Row]:
    """Five repetitions in turns; the files are in the page cache on all sides."""
    product.program(context)
    with context.room("transfer") as room:
        source, target = room / "big.jsonl", room / "copied.jsonl"
        digest = transcript(source, context.size(SIZE))
        size = source.stat().st_size
        with contextlib.ExitStack() as running:
            copy = running.enter_context(scp(context))
            sides = {SCP: lambda: Sample(size / copy(source, target) / 1e6)}
            for name, without in WITHOUT.items():
                sides[name] = running.enter_context(sending(context, source, digest, without)).send
            samples = interleave(sides, REPEATS)
    found = {name: Side(name, "MB/s", tuple(samples[name])) for name in sides}
    ours = found[OURS]
    text = "200 MB transcript, hub to hub, verified and placed"
    return [
        Row("peer-transfer", text, ours, found[SCP], Bar(">=", 0.5)),
        Row("peer-transfer-lines", "  beside the seed's NDJSON", ours, found[LINES], Bar(">=", 1.5)),
        Row(
            "peer-transfer-framing", "  beside NDJSON with packed chunks", ours, found[FRAMED], None, found[FRAMED].note
        ),
    ]


BENCHMARKS = [Benchmark("peer-transfer", "a transcript from hub to hub, beside scp and NDJSON", measure)]
