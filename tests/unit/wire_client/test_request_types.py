"""Requests: strict shapes, bounds, and what a refusal echoes (docs/wire/client.md, "Requests")."""

import tracemalloc

import msgspec
import pytest

from hopline.wire.client.queries import (
    ExperimentCursor,
    QueryChatOptions,
    QueryChatThreadCreate,
    QueryDesign,
    QueryDesignPatch,
    QueryExperiments,
    QueryIterations,
    QueryPerformance,
    QueryTuiDefaults,
)
from hopline.wire.client.requests import (
    CommandInput,
    CommandInterrupt,
    CommandPause,
    CommandResize,
    CommandRestart,
    CommandResume,
    CommandSteer,
    CommandStop,
    QueryChat,
    QueryEvents,
    QueryHistory,
    QuerySnapshot,
    Request,
    RequestRefused,
    Subscribe,
    decode_request,
    encode_request,
    identity_of,
)

EVERY_REQUEST: list[Request] = [
    Subscribe(request_id="a", client_id="c", after_sequence=5, tail=7, store_id="s"),
    QuerySnapshot(request_id="a"),
    QueryEvents(after_sequence=3, before_sequence=9, timeout_ms=30_000),
    CommandStop(grace_ms=0),
    CommandInterrupt(),
    CommandInput(text="hé\n"),
    CommandInput(bytes_base64=b"\x00\xff", close=True),
    CommandInput(close=True),
    CommandRestart(grace_ms=86_400_000),
    CommandPause(),
    CommandResume(fallback=True),
    CommandResume(when="capacity_returns"),
    CommandSteer(text="look at the tests"),
    CommandResize(columns=80, rows=24),
    QueryHistory(),
    QueryChat(text="", thread_id="t"),
    QueryChatThreadCreate(provider="p", model="m", title="t"),
    QueryChatOptions(),
    QueryTuiDefaults(),
    QueryPerformance(),
    QueryExperiments(after=ExperimentCursor(run_id="r", projection_id="p", revision=3)),
    QueryDesign(),
    QueryDesignPatch(base="a", head="b", path="c"),
    QueryIterations(parent_id="p", cursor="c", limit=200),
]


def test_every_type_of_the_wire_is_here() -> None:
    assert {type(one) for one in EVERY_REQUEST} == set(Request.__args__)  # type: ignore[attr-defined]  # a union


@pytest.mark.parametrize("request_", EVERY_REQUEST, ids=lambda one: type(one).__name__)
def test_encoding_then_decoding_a_request_is_identity(request_: Request) -> None:
    line = encode_request(request_)
    assert line.endswith(b"\n") and line.count(b"\n") == 1
    assert decode_request(line[:-1]) == request_


@pytest.mark.parametrize("request_", EVERY_REQUEST, ids=lambda one: type(one).__name__)
def test_every_request_refuses_a_key_it_does_not_know(request_: Request) -> None:
    line = encode_request(request_)[:-2] + b',"unheard_of":1}'
    with pytest.raises(RequestRefused, match="unheard_of"):
        decode_request(line)


def test_common_fields_are_optional_for_the_sender() -> None:
    assert decode_request(b'{"type":"query.snapshot"}') == QuerySnapshot()
    head = b'{"type":"query.snapshot","protocol_version":1,"request_id":"r"'
    full = head + b',"client_id":"c","timestamp":"2026-01-01T00:00:00Z"}'
    found = decode_request(full)
    assert (found.request_id, found.client_id) == ("r", "c")


def test_stop_may_name_its_one_mode_or_leave_it_out() -> None:
    assert decode_request(b'{"type":"command.stop","mode":"after_current_agent_call"}') == CommandStop()
    with pytest.raises(RequestRefused):
        decode_request(b'{"type":"command.stop","mode":"now"}')


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"null",
        b"[]",
        b"{}",
        b'{"type":"query.nothing"}',
        b'{"type":7}',
        b'{"type":"subscribe","heartbeat_ms":15000}',
        b'{"type":"subscribe","heartbeat_ms":null}',
        b'{"type":"subscribe","tail":0}',
        b'{"type":"command.pause","mode":"now"}',
        b'{"type":"command.resume","when":"later"}',
        b'{"type":"command.resume","fallback":1}',
        b'{"type":"command.steer"}',
        b'{"type":"command.steer","text":""}',
        b'{"type":"command.resize","columns":80}',
        b'{"type":"command.resize","columns":0,"rows":24}',
        b'{"type":"command.resize","columns":80,"rows":65536}',
        b'{"type":"query.chat"}',
        b'{"type":"query.chat_thread_create","provider":"p"}',
        b'{"type":"query.chat_thread_create","provider":"p","model":"m","driver":null}',
        b'{"type":"query.experiments","after":{"run_id":"r","projection_id":"p","revision":-1}}',
        b'{"type":"query.experiments","after":{"run_id":"r","projection_id":"p","revision":1,"more":1}}',
        b'{"type":"query.design_patch","base":"a","head":"b"}',
        b'{"type":"query.iterations","limit":201}',
        b'{"type":"query.iterations","cursor":""}',
        b'{"type":"subscribe","tail":"5"}',
        b'{"type":"subscribe","after_sequence":-1}',
        b'{"type":"subscribe","after_sequence":null}',
        b'{"type":"subscribe","after_sequence":9223372036854775808}',
        b'{"type":"subscribe","store_id":null}',
        b'{"type":"query.events","before_sequence":0}',
        b'{"type":"query.events","before_sequence":-1}',
        b'{"type":"query.events","timeout_ms":30001}',
        b'{"type":"query.snapshot","protocol_version":2}',
        b'{"type":"query.snapshot","timestamp":"2026-01-01T00:00:00"}',
        b'{"type":"query.snapshot","timestamp":null}',
        b'{"type":"query.snapshot","client_id":null}',
        b'{"type":"command.stop","grace_ms":-1}',
        b'{"type":"command.stop","grace_ms":86400001}',
        b'{"type":"command.input"}',
        b'{"type":"command.input","text":"a","bytes_base64":"YQ=="}',
        b'{"type":"command.input","bytes_base64":"not base64"}',
        b'{"type":"command.input","text":"\\ud800"}',
        b'{"type":"query.snapshot"} trailing',
        b'\xff{"type":"query.snapshot"}',
    ],
)
def test_what_is_not_exactly_a_request_is_refused(line: bytes) -> None:
    with pytest.raises(RequestRefused):
        decode_request(line)


def test_input_text_may_be_empty_and_closes_nothing_by_itself() -> None:
    found = decode_request(b'{"type":"command.input","text":""}')
    assert isinstance(found, CommandInput)
    assert (found.data(), found.close) == (b"", False)


@pytest.mark.parametrize(
    ("line", "echo"),
    [
        (b'{"request_id":"r","client_id":"c"}', ("r", "c")),
        (b'{"request_id":5,"client_id":5}', ("5", "")),
        (b'{"request_id":null}', ("null", "")),
        (b'{"request_id":{"a":[1]},"client_id":"c"}', ('{"a":[1]}', "c")),
        (b'{"client_id":"c"}', ("unknown", "c")),
        (b'{"request_id":"r"', ("unknown", "")),
        (b'["request_id"]', ("unknown", "")),
        (b'{"request_id":"\\ud800"}', ("unknown", "")),
    ],
)
def test_a_refusal_echoes_what_the_line_lets_it(line: bytes, echo: tuple[str, str]) -> None:
    assert identity_of(line) == echo


def test_an_echo_that_is_no_text_is_cut() -> None:
    request_id, _ = identity_of(b'{"request_id":[%b1]}' % (b"1," * 10_000))
    assert len(request_id) == 200


@pytest.mark.parametrize("line", [b"[" * 1_000_000, b'{"request_id":' + b"[" * 1_000_000, b'{"a":' * 200_000])
def test_nesting_is_refused_before_memory_is_spent_on_it(line: bytes) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(RequestRefused):
            decode_request(line)
        assert identity_of(line) == ("unknown", "")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 1_000_000


def test_requests_are_a_closed_union_by_type() -> None:
    names = {msgspec.inspect.type_info(type(one)).tag for one in EVERY_REQUEST}  # type: ignore[union-attr]  # a struct has a tag
    assert len(names) == len(Request.__args__) == 21  # type: ignore[attr-defined]  # the contract's 17 and 4 of ours
