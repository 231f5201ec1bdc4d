"""Stream frames: batches made of stored bytes, the cap, what a client reads (docs/wire/client.md, "Streams")."""

import json

import pytest

from hopline.wire.client.events import EventEncoder
from hopline.wire.client.responses import Response, ResponseRefused, diagnosed, encode_response, failed
from hopline.wire.client.streams import (
    MAX_STREAM_FRAME_BYTES,
    BatchEnvelope,
    EventBatch,
    ProtocolError,
    SingleEvent,
    Subscribed,
    decode_server_line,
    encode_message,
)

NOW = "2026-01-01T00:00:00.000Z"
encoder = EventEncoder("r")


def stored(*sequences: int) -> bytes:
    return b"".join(encoder.line(number, NOW, "control", text="/stop") + b"\n" for number in sequences)


def test_an_empty_batch_has_all_its_fields() -> None:
    assert json.loads(BatchEnvelope("s", 4).frame(b"", 9, False)) == {
        "type": "event_batch",
        "events": [],
        "through_sequence": 9,
        "active_executions": [],
        "active_executions_checkpoint_id": None,
        "store_id": "s",
        "history_after_sequence": 4,
        "rebootstrap": False,
    }


def test_a_batch_is_the_stored_bytes_with_their_newlines_made_commas() -> None:
    lines = stored(1, 2, 3)
    frame = BatchEnvelope("s", 0).frame(lines, 3, True)
    assert lines[:-1].replace(b"\n", b",") in frame
    batch = decode_server_line(frame)
    assert isinstance(batch, EventBatch)
    assert [event.sequence for event in batch.events] == [1, 2, 3]
    assert batch.rebootstrap


def test_the_room_of_an_envelope_fills_the_cap_exactly() -> None:
    envelope = BatchEnvelope("f" * 32, 123)
    lines = b"x" * (envelope.max_events_bytes - 1) + b"\n"
    assert len(envelope.frame(lines, (1 << 63) - 1, False)) == MAX_STREAM_FRAME_BYTES


def test_the_largest_event_fits_a_frame() -> None:
    assert BatchEnvelope("f" * 32, (1 << 63) - 1).max_events_bytes > 1_000_001


def test_stream_messages_are_complete_and_come_back() -> None:
    subscribed = Subscribed(request_id="q", client_id="c", run_id="r", latest_sequence=4)
    error = ProtocolError(request_id=None, code="stream_failed", message="No", diagnostic=diagnosed("d", "c", "No"))
    assert decode_server_line(encode_message(subscribed)) == subscribed
    assert decode_server_line(encode_message(error)) == error
    assert json.loads(encode_message(error))["client_id"] == ""


def test_a_client_accepts_the_legacy_single_event() -> None:
    found = decode_server_line(b'{"type":"event","event":%b}' % encoder.line(1, NOW, "control"))
    assert isinstance(found, SingleEvent)
    assert found.event.sequence == 1


def test_a_refused_subscribe_is_read_as_a_response() -> None:
    line = encode_response(failed("q", "", NOW, diagnosed("d", "invalid_value", "No")))
    found = decode_server_line(line)
    assert isinstance(found, Response) and not found.ok


@pytest.mark.parametrize("line", [b"", b"{}", b'{"type":"unheard"}', b'{"type":"event_batch"}', b'{"ok":true}'])
def test_what_is_no_message_is_refused(line: bytes) -> None:
    with pytest.raises(ResponseRefused):
        decode_server_line(line)
