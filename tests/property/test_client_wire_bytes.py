"""Whatever a frontend sends: nothing raises, chunking changes nothing, each line gets exactly one answer."""

import itertools
import json

from hypothesis import given
from hypothesis import strategies as st

from hopline.wire.client.events import EventEncoder, decode_event
from hopline.wire.client.requests import Subscribe, identity_of
from hopline.wire.client.responses import redact, validation_paths
from hopline.wire.client.session import ClientSession, Received, Rejected

lines = st.one_of(
    st.binary(max_size=60),
    st.sampled_from(
        [
            b'{"type":"query.snapshot","request_id":"a"}',
            b'{"type":"query.events","request_id":"b","timeout_ms":5}',
            b'{"type":"command.input","request_id":"c","text":"x"}',
            b'{"type":"command.stop","request_id":"d","unknown":1}',
            b"[" * 3000,
            b"",
        ]
    ),
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=8,
    ).map(lambda value: json.dumps(value).encode()),
)


def converse(chunks: list[bytes]) -> list[tuple[str, str, str]]:
    """What a server would answer, one entry a Response; a subscribe is answered as if it were refused."""
    session = ClientSession(map("id-{}".format, itertools.count()).__next__)
    answers = []
    for chunk in chunks:
        session.receive(chunk)
        while (item := session.take()) is not None:
            match item:
                case Received(request=request, request_id=request_id):
                    answers.append((type(request).__name__, request_id, item.client_id))
                case Rejected(request_id=request_id, diagnostic=diagnostic):
                    answers.append((diagnostic.code, request_id, item.client_id))
            session.answered()
    return answers


@given(st.lists(lines, max_size=8), st.data())
def test_every_line_gets_one_answer_however_it_is_cut(sent: list[bytes], data: st.DataObject) -> None:
    stream = b"".join(line + b"\n" for line in sent)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=6)))
    pieces = [stream[start:end] for start, end in itertools.pairwise([0, *cuts, len(stream)])]
    whole = converse([stream])
    assert converse(pieces) == whole
    assert len(whole) == stream.count(b"\n")


@given(st.binary(max_size=200))
def test_any_bytes_have_an_identity_to_echo(line: bytes) -> None:
    request_id, client_id = identity_of(line)
    (request_id + client_id).encode()


@given(st.text(st.characters(), max_size=80))
def test_any_text_can_be_shown(text: str) -> None:
    redact(text).encode()
    validation_paths(text)


@given(st.text(st.characters(), max_size=300), st.integers(0, 2**62))
def test_any_text_of_an_event_comes_back_with_only_surrogates_replaced(text: str, sequence: int) -> None:
    event = decode_event(EventEncoder("r").line(sequence, "t", "control", text=text))
    assert event.sequence == sequence
    if not any("\ud800" <= letter <= "\udfff" for letter in text):
        assert event.text == text


def test_a_subscribe_is_a_request_like_any_other_to_the_machine() -> None:
    session = ClientSession(lambda: "id")
    session.receive(b'{"type":"subscribe"}\n')
    assert session.take() == Received(Subscribe(), "id", "")
