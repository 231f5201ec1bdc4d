import base64

import msgspec
import pytest
from scripted_server import batch, event, output

from hopline.client.batches import Output, StreamFailed, read_batch, read_lines
from hopline.errors import ConnectFailed
from hopline.wire.client.events import RunEvent


def encoded(message: dict[str, object]) -> bytes:
    return msgspec.json.encode(message)


def test_output_is_given_back_as_the_bytes_that_were_written() -> None:
    found = read_batch(encoded(batch(2, output(1, "ä\n"), output(2, "x", "stderr"))))
    assert found.events == [Output(1, "stdout", "ä\n".encode()), Output(2, "stderr", b"x")]
    assert (found.through_sequence, found.store_id, found.floor, found.rebootstrap) == (2, "s", 0, False)


def test_raw_bytes_win_over_the_text_beside_them() -> None:
    raw = bytes(range(256))
    told = output(1, "\N{REPLACEMENT CHARACTER}", raw=base64.b64encode(raw).decode())
    found = read_batch(encoded(batch(2, told, output(2, "é"))))
    assert [piece.data for piece in found.events] == [raw, "é".encode()]


def test_output_that_speaks_of_raw_is_still_text() -> None:
    told = '"raw":"AAAA"'
    found = read_batch(encoded(batch(1, output(1, told))))
    assert [piece.data for piece in found.events] == [told.encode()]


def test_other_events_among_the_output_keep_their_place() -> None:
    raw = base64.b64encode(b"\xff").decode()
    told = batch(4, output(1, "a"), event(2, "run_finished"), output(3, "", raw=raw), event(4, "novelty", {"x": 1}))
    first, second, third, fourth = read_batch(encoded(told)).events
    assert first == Output(1, "stdout", b"a")
    assert isinstance(second, RunEvent)
    assert second.type == "run_finished"
    assert third == Output(3, "stdout", b"\xff")
    assert isinstance(fourth, RunEvent)


def test_an_empty_batch_and_a_single_event_are_batches_too() -> None:
    assert read_batch(encoded(batch(7, rebootstrap=True, history_after_sequence=5))).floor == 5
    single = read_batch(encoded({"type": "event", "event": output(3, "x")}))
    assert (single.events, single.through_sequence) == ([Output(3, "stdout", b"x")], 3)


@pytest.mark.parametrize(
    ("line", "error", "told"),
    [
        (b'{"type":"protocol_error","request_id":null,"code":"stream_failed","message":"torn"}', StreamFailed, "torn"),
        (b'{"type":"subscribed","request_id":"1","run_id":"r","latest_sequence":1}', ConnectFailed, "twice"),
        (b'{"request_id":"1","timestamp":"t","ok":true}', ConnectFailed, "inside a stream"),
        (b"garbage", ConnectFailed, "garbage"),
        (b'{"type":"event_batch","events":[{"type":"x"}]}', ConnectFailed, "not a message"),
    ],
)
def test_what_is_no_batch_is_told(line: bytes, error: type[Exception], told: str) -> None:
    for read in (read_batch, read_lines):
        with pytest.raises(error, match=told):
            read(line)


def test_events_as_lines_are_exactly_the_bytes_that_came() -> None:
    odd = b'{"sequence": 1 ,"type":"novelty","more":[1, 2]}'
    found = read_lines(b'{"type":"event_batch","events":[%b],"through_sequence":1}' % odd)
    ((head, line),) = found.lines
    assert (head.sequence, head.type, bytes(line)) == (1, "novelty", odd)
