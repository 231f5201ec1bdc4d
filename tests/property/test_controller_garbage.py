"""No bytes of a relay raise, no chunking changes what they say, and what a relay says comes out as it went in."""

import base64
import json

from hypothesis import given, settings
from hypothesis import strategies as st

from hopline.wire.worker.codec import encode
from hopline.wire.worker.controller import Controller
from hopline.wire.worker.messages import (
    Completed,
    ConsoleOutput,
    Event,
    Fatal,
    InputReceived,
    InputRequested,
    InterruptResult,
    Ready,
    ShutdownStarted,
    Stderr,
    StderrClosed,
    StdinResult,
    Stdout,
    StdoutBytes,
    StdoutClosed,
    WorkerExited,
    WorkerSidebandClosed,
    WorkerSignaled,
    WorkerStarted,
)
from hopline.wire.worker.output import OutputChunk
from hopline.wire.worker.reports import Fault, Report, StreamEnded

small = st.integers(0, 3)
events: st.SearchStrategy[Event] = st.one_of(
    st.builds(WorkerStarted, pid=small),
    st.builds(Stdout, data=st.text(max_size=5)),
    st.builds(Stderr, data=st.text(max_size=5)),
    st.builds(StdoutBytes, data=st.binary(max_size=5)),
    st.builds(InterruptResult, request_id=small),
    st.builds(StdinResult, request_id=small),
    st.builds(ConsoleOutput, data=st.text(max_size=3)),
    st.builds(Fatal, message=st.text(max_size=3)),
    st.builds(WorkerExited, code=small),
    st.builds(WorkerSignaled, signal=small),
    st.sampled_from([Ready(), Completed(), InputRequested(prompt=""), InputReceived(), ShutdownStarted()]),
    st.sampled_from([StdoutClosed(), StderrClosed(), WorkerSidebandClosed()]),
)
lines = st.one_of(events.map(encode), events.map(encode), st.binary(max_size=20), st.just(b"\n"))
streams = st.tuples(st.booleans(), st.lists(lines, max_size=12).map(b"".join)).map(
    lambda drawn: (encode(WorkerStarted(pid=1)) if drawn[0] else b"") + drawn[1]
)


def fresh() -> Controller:
    controller = Controller(sideband=True, max_event_bytes=200)
    controller.send_interrupt()
    controller.send_input(b"x")
    return controller


def bytes_of(chunk: OutputChunk) -> bytes:
    if chunk.raw is not None:
        return base64.b64decode(chunk.raw)
    return str(json.loads(b'"' + chunk.content_json + b'"')).encode()


def summary(reports: list[Report]) -> tuple[dict[str, bytes], list[str]]:
    """Bytes of each stream, and everything else in order: merging of chunks depends on how the bytes arrive."""
    output = {"stdout": b"", "stderr": b""}
    others = []
    for report in reports:
        if isinstance(report, OutputChunk):
            output[report.stream] += bytes_of(report)
        else:
            others.append(repr(report))
    return output, others


@settings(max_examples=300)
@given(streams, st.lists(st.integers(1, 40), max_size=30))
def test_any_bytes_in_any_pieces_say_the_same_and_never_raise(stream: bytes, sizes: list[int]) -> None:
    whole = fresh()
    at_once = whole.receive(stream) + whole.receive_eof()
    pieces = fresh()
    in_pieces: list[Report] = []
    rest = stream
    for size in sizes:
        in_pieces += pieces.receive(rest[:size])
        rest = rest[size:]
    in_pieces += pieces.receive(rest) + pieces.receive_eof()
    assert summary(in_pieces) == summary(at_once)
    assert isinstance(at_once[-1], StreamEnded)
    assert sum(isinstance(report, Fault) for report in at_once) <= 1


@given(st.lists(st.one_of(st.builds(Stdout, data=st.text()), st.builds(StdoutBytes, data=st.binary())), max_size=10))
def test_what_a_relay_says_of_output_comes_out_byte_for_byte(frames: list[Stdout | StdoutBytes]) -> None:
    controller = Controller(sideband=False)
    life: list[Event] = [WorkerStarted(pid=1), *frames, StdoutClosed(), StderrClosed(), WorkerSidebandClosed()]
    reports = controller.receive(b"".join(map(encode, life)) + encode(WorkerExited(code=0)))
    written = b"".join(frame.data if isinstance(frame, StdoutBytes) else frame.data.encode() for frame in frames)
    assert summary(reports)[0] == {"stdout": written, "stderr": b""}
    assert controller.receive_eof() == [StreamEnded(clean=True)]
