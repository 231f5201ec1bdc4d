"""A link between two hubs: frames a second, handshakes a second, and what idle links cost."""

import json
import os

from benchmarks import hubs, product
from benchmarks.context import Context
from benchmarks.harness import OURS, Bar, Benchmark, Row, Sample, Side
from benchmarks.hubs import RIGS
from benchmarks.processes import Stage, cpu_seconds
from benchmarks.workloads import PROGRAMS

FRAMES = 300_000
HANDSHAKES = 1500
LINKS = 8
IDLE_SECONDS = 60.0
REPEATS = 5
KEYS = "benchmark-keys"


def frames(context: Context) -> Sample:
    """Frames a second from the first that is dispatched to the last."""
    count = context.size(FRAMES)
    with context.room("frames") as room, context.stage() as stage:
        environment = {"HOPLINE_HOME": str(room)}
        said, into_said = stage.pipe()
        program = [context.program("python"), PROGRAMS / "peer_frames.py"]
        taker = stage.start([*program, "take", str(count)], env=environment, stdout=into_said)
        stage.close(into_said)
        port = os.read(said, 64).decode().strip()
        giver = stage.start([*program, "give", str(count), port], env=environment)
        told = json.loads(_rest(said))
        stage.finish(taker)
        spent = stage.finish(giver).own_cpu_seconds
    note = f"CPU a frame: taker {told['cpu_seconds'] / count * 1e6:.1f} us, giver {spent / count * 1e6:.1f} us"
    return Sample(count / told["seconds"], note=f"{note}, its start included")


def _rest(descriptor: int) -> bytes:
    return b"".join(iter(lambda: os.read(descriptor, 65536), b""))


def load(stage: Stage, context: Context, *words: str) -> dict[str, float]:
    """programs/peer_load.py to its end."""
    said, into_said = stage.pipe()
    complaint, into_complaint = stage.pipe()
    argv = [context.program("python"), PROGRAMS / "peer_load.py", *words]
    pid = stage.start(argv, env={"PYTHONPATH": str(RIGS)}, stdout=into_said, stderr=into_complaint)
    stage.close(into_said, into_complaint)
    told: dict[str, float] = json.loads(_rest(said) or b"{}")
    if stage.finish(pid).status != 0:
        words_said = os.read(complaint, 65536).decode(errors="replace").strip().splitlines() or ["nothing"]
        raise RuntimeError(f"programs/peer_load.py {words[0]} said: {words_said[-1]}")
    return told


def handshakes(context: Context) -> Sample:
    """One-shots a second that one client opens and closes, one after the other."""
    count = context.size(HANDSHAKES)
    with hubs.places(context, "host-00000001") as (host,):
        key = os.urandom(32)
        host.know("caller-00000002", key)
        served = host.serve()
        before = cpu_seconds(served["pid"])
        told = load(host.stage, context, "handshakes", served["listen"], host.name, key.hex(), str(count))
        spent = cpu_seconds(served["pid"]) - before
    return Sample(count / told["seconds"], note=f"{spent / count * 1e6:.0f} us of the hub's CPU each")


def idle(context: Context) -> Sample:
    """CPU of a hub with eight links that only beat, in percent of a core."""
    seconds = max(12.0, IDLE_SECONDS * context.scale)
    with hubs.places(context, "host-00000001", max_peers=LINKS) as (host,):
        key = os.urandom(32)
        for number in range(LINKS):
            host.know(f"idle{number}-00000002", key)
        served = host.serve()
        said, into_said = host.stage.pipe()
        argv = [context.program("python"), PROGRAMS / "peer_load.py", "links"]
        words = [served["listen"], host.name, key.hex(), str(LINKS), str(seconds + 5)]
        with (host.room / "links.log").open("wb") as log:
            host.stage.start([*argv, *words], env={"PYTHONPATH": str(RIGS)}, stdout=into_said, stderr=log)
        host.stage.close(into_said)
        if os.read(said, 64) != b"linked\n":
            raise RuntimeError(f"the links did not come up: {(host.room / 'links.log').read_text()[-200:].strip()}")
        load(host.stage, context, "wait", "3")  # what follows a new link is over
        before = cpu_seconds(served["pid"])
        told = load(host.stage, context, "wait", str(seconds))
        spent = cpu_seconds(served["pid"]) - before
    return Sample(spent / told["seconds"] * 100, note=f"{spent:.2f} s of CPU in {told['seconds']:.0f} s")


def measure_frames(context: Context) -> list[Row]:
    """Five repetitions."""
    product.program(context)
    side = Side(OURS, "frames/s", tuple(frames(context) for _ in range(REPEATS)))
    text = "frames of 2 KiB by a link, encoded to dispatched"
    return [Row("peer-frames", text, side, None, Bar(">=", 100_000, "frames/s"))]


def measure_handshakes(context: Context) -> list[Row]:
    """Three repetitions of the rate; the idle links once."""
    product.program(context)
    rate = Side(OURS, "handshakes/s", tuple(handshakes(context) for _ in range(3)))
    cost = Side(OURS, "%", (idle(context),))
    return [
        Row("peer-handshakes", "handshakes, one client", rate, None, Bar(">=", 300, "handshakes/s")),
        Row("peer-idle", f"  CPU of a core with {LINKS} links idle", cost, None, Bar("<", 0.5, "%")),
    ]


BENCHMARKS = [
    Benchmark("peer-frames", "frames of 2 KiB between two hubs", measure_frames),
    Benchmark("peer-handshakes", "handshakes a second, and eight links idle", measure_handshakes),
]
