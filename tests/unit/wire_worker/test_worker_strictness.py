"""WW-STRICT, row by row, in every direction: commands, events, and the sideband."""

from collections.abc import Callable

import msgspec
import pytest

from hopline.wire.worker.codec import FrameRefused, decode_command, decode_event, decode_semantic, encode
from hopline.wire.worker.messages import (
    MAX_U64,
    CellStarted,
    Command,
    Completed,
    ConsoleDiagnostic,
    ConsoleOutput,
    Evaluate,
    Event,
    Fatal,
    Frame,
    Image,
    InputCancelled,
    InputReceived,
    InputRequested,
    Interrupt,
    InterruptResult,
    Ready,
    Resize,
    RuntimeInitialized,
    SemanticEvent,
    Shutdown,
    ShutdownStarted,
    SidebandShutdown,
    Stderr,
    StderrBytes,
    StderrClosed,
    Stdin,
    StdinBytes,
    StdinClose,
    StdinResult,
    Stdout,
    StdoutBytes,
    StdoutClosed,
    WorkerExited,
    WorkerSidebandClosed,
    WorkerSignaled,
    WorkerStarted,
)

Decode = Callable[[bytes], Frame]

COMMANDS: dict[str, Command] = {
    '{"kind":"evaluate","language":"python","source":"1+1"}': Evaluate("python", "1+1"),
    '{"kind":"stdin","data":"é"}': Stdin("é"),
    '{"kind":"stdin","data":"","request_id":0}': Stdin("", 0),
    '{"kind":"stdin_bytes","data":"AP8="}': StdinBytes(b"\x00\xff"),
    '{"kind":"stdin_bytes","data":"","request_id":7}': StdinBytes(b"", 7),
    '{"kind":"stdin_close"}': StdinClose(),
    '{"kind":"resize","columns":65535,"rows":1}': Resize(65535, 1),
    '{"kind":"interrupt","request_id":18446744073709551615}': Interrupt(MAX_U64),
    '{"kind":"shutdown","grace_millis":0}': Shutdown(0),
}
SEMANTIC: dict[str, SemanticEvent] = {
    '{"kind":"ready"}': Ready(),
    '{"kind":"runtime_initialized","interrupted":false}': RuntimeInitialized(False),
    '{"kind":"cell_started"}': CellStarted(),
    '{"kind":"console_output","data":"x"}': ConsoleOutput("x"),
    '{"kind":"console_diagnostic","data":"x"}': ConsoleDiagnostic("x"),
    '{"kind":"image","data":"AA==","mime_type":"image/png"}': Image("AA==", "image/png"),
    '{"kind":"input_requested","prompt":"? "}': InputRequested("? "),
    '{"kind":"input_received"}': InputReceived(),
    '{"kind":"input_cancelled"}': InputCancelled(),
    '{"kind":"completed"}': Completed(),
}
RELAY: dict[str, Event] = {
    '{"kind":"worker_started","pid":1}': WorkerStarted(1),
    '{"kind":"stdout","data":"\\u001b[0m\\n"}': Stdout("\x1b[0m\n"),
    '{"kind":"stderr","data":"x"}': Stderr("x"),
    '{"kind":"stdout_bytes","data":"/w=="}': StdoutBytes(b"\xff"),
    '{"kind":"stderr_bytes","data":"/w=="}': StderrBytes(b"\xff"),
    '{"kind":"stdout_closed"}': StdoutClosed(),
    '{"kind":"stderr_closed"}': StderrClosed(),
    '{"kind":"worker_sideband_closed"}': WorkerSidebandClosed(),
    '{"kind":"interrupt_result","request_id":3}': InterruptResult(3),
    '{"kind":"interrupt_result","request_id":3,"error":"no"}': InterruptResult(3, "no"),
    '{"kind":"stdin_result","request_id":3}': StdinResult(3),
    '{"kind":"stdin_result","request_id":3,"error":"no"}': StdinResult(3, "no"),
    '{"kind":"shutdown_started"}': ShutdownStarted(),
    '{"kind":"worker_exited","code":0}': WorkerExited(0),
    '{"kind":"worker_signaled","signal":9}': WorkerSignaled(9),
    '{"kind":"fatal","message":"x"}': Fatal("x"),
}
DIRECTIONS: list[tuple[Decode, str, Frame]] = [
    *((decode_command, line, frame) for line, frame in COMMANDS.items()),
    *((decode_semantic, line, frame) for line, frame in SEMANTIC.items()),
    *((decode_event, line, frame) for line, frame in (SEMANTIC | RELAY).items()),
]


@pytest.mark.parametrize(("decode", "line", "frame"), DIRECTIONS)
def test_every_kind_is_read_and_written_as_tabled(decode: Decode, line: str, frame: Frame) -> None:
    assert decode(line.encode()) == frame
    assert encode(frame) == line.encode() + b"\n"


def test_every_kind_of_the_code_has_its_row() -> None:
    rows = {type(frame) for _, _, frame in DIRECTIONS} | {SidebandShutdown}
    assert rows == set(Frame.__subclasses__())


def test_a_frame_is_semantic_if_and_only_if_it_crosses_the_sideband() -> None:
    crossing = {type(frame) for frame in SEMANTIC.values()} | {Evaluate}
    assert {kind for kind in Frame.__subclasses__() if kind.semantic} == crossing


def test_the_sideband_shutdown_has_no_payload() -> None:
    assert encode(SidebandShutdown()) == b'{"kind":"shutdown"}\n'


INTEGERS = [
    "true", "null", '"1"', "-1", "-0", "1.0", "1e0", "1E2", "0.5", "NaN", "Infinity", "18446744073709551616",
    "100000000000000000000000", "01", "+1", "0x1", "[1]", "{}", "",
]  # fmt: skip
STRINGS = [
    "null",
    "1",
    "true",
    '["x"]',
    '{"a":1}',
    "'x'",
    '"\\ud800"',
    '"\\udc00\\ud800"',
    '"a\x01b"',
    '"\t"',
    '"\\x"',
    '"',
]
BASE64 = ['"YQ"', '"YQ="', '"Y Q="', '"YQ==\\n"', '"YQ-_"', '"é"', '"Y==="', "null", "1"]
LINES = [
    b"", b" ", b"[]", b"{}", b"null", b'"x"', b"1", b"{", b"}", b'{"kind"}', b'{"kind":null}', b'{"kind":1}',
    b'{"kind":"nothing"}', b'{"kind":""}', b"\xff", b"\x00", b'{"kind":"\xff"}', b"[" * 100_000, b'{"kind":' * 100_000,
    b'{"kind":["ready"]}', b'// comment', b"{'kind':'ready'}",
]  # fmt: skip
OF_EACH = [
    pytest.param(decode_command, b'{"kind":"interrupt","request_id":1}', id="command"),
    pytest.param(decode_semantic, b'{"kind":"console_output","data":"x"}', id="sideband"),
    pytest.param(decode_event, b'{"kind":"worker_exited","code":1}', id="event"),
    pytest.param(decode_event, b'{"kind":"fatal","message":"x"}', id="event-text"),
    pytest.param(decode_command, b'{"kind":"stdin_close"}', id="command-without-payload"),
    pytest.param(decode_semantic, b'{"kind":"ready"}', id="sideband-without-payload"),
    pytest.param(decode_event, b'{"kind":"shutdown_started"}', id="event-without-payload"),
]


def refused(decode: Decode, line: bytes) -> None:
    with pytest.raises(FrameRefused):
        decode(line)


@pytest.mark.parametrize("decode", [decode_command, decode_semantic, decode_event])
@pytest.mark.parametrize("line", LINES, ids=lambda line: repr(line[:24]))
def test_what_is_no_frame_is_refused_in_every_direction(decode: Decode, line: bytes) -> None:
    refused(decode, line)


@pytest.mark.parametrize("token", INTEGERS)
@pytest.mark.parametrize(
    ("decode", "line"),
    [
        (decode_command, '{"kind":"interrupt","request_id":%s}'),
        (decode_command, '{"kind":"shutdown","grace_millis":%s}'),
        (decode_command, '{"kind":"stdin","data":"","request_id":%s}'),
        (decode_event, '{"kind":"worker_started","pid":%s}'),
        (decode_event, '{"kind":"worker_exited","code":%s}'),
        (decode_event, '{"kind":"worker_signaled","signal":%s}'),
        (decode_event, '{"kind":"stdin_result","request_id":%s}'),
        (decode_event, '{"kind":"interrupt_result","request_id":%s}'),
    ],
)
def test_an_integer_is_a_plain_u64_and_nothing_else(decode: Decode, line: str, token: str) -> None:
    refused(decode, (line % token).encode())


@pytest.mark.parametrize("token", STRINGS)
@pytest.mark.parametrize(
    ("decode", "line"),
    [
        (decode_command, '{"kind":"stdin","data":%s}'),
        (decode_command, '{"kind":"evaluate","language":"python","source":%s}'),
        (decode_command, '{"kind":"evaluate","language":%s,"source":""}'),
        (decode_semantic, '{"kind":"console_output","data":%s}'),
        (decode_semantic, '{"kind":"image","data":"","mime_type":%s}'),
        (decode_event, '{"kind":"stdout","data":%s}'),
        (decode_event, '{"kind":"stderr","data":%s}'),
        (decode_event, '{"kind":"fatal","message":%s}'),
        (decode_event, '{"kind":"interrupt_result","request_id":1,"error":%s}'),
    ],
)
def test_a_string_is_a_string_of_scalars_and_nothing_else(decode: Decode, line: str, token: str) -> None:
    refused(decode, (line % token).encode())


@pytest.mark.parametrize("data", [b"\xff", b"\xed\xa0\x80", b"\xc0\x80", b"\xf4\x90\x80\x80", b"\xc3", b"\xe2\x82"])
@pytest.mark.parametrize(
    ("decode", "kind"), [(decode_command, b"stdin"), (decode_semantic, b"console_output"), (decode_event, b"stdout")]
)
def test_bytes_that_are_not_utf_8_are_refused(decode: Decode, kind: bytes, data: bytes) -> None:
    refused(decode, b'{"kind":"%s","data":"%s"}' % (kind, data))


@pytest.mark.parametrize("token", BASE64)
@pytest.mark.parametrize(
    ("decode", "kind"),
    [(decode_command, "stdin_bytes"), (decode_event, "stdout_bytes"), (decode_event, "stderr_bytes")],
)
def test_base64_is_standard_and_padded(decode: Decode, kind: str, token: str) -> None:
    refused(decode, f'{{"kind":"{kind}","data":{token}}}'.encode())


@pytest.mark.parametrize("flag", ["0", "1", '"true"', "null", "[]"])
def test_a_boolean_is_a_boolean(flag: str) -> None:
    refused(decode_semantic, f'{{"kind":"runtime_initialized","interrupted":{flag}}}'.encode())


@pytest.mark.parametrize(("decode", "line"), OF_EACH)
class TestEachForm:
    def test_the_form_itself_is_accepted(self, decode: Decode, line: bytes) -> None:
        decode(line)

    def test_an_unknown_field_is_refused(self, decode: Decode, line: bytes) -> None:
        refused(decode, line[:-1] + b',"extra":1}')
        refused(decode, b'{"extra":null,' + line[1:])

    def test_a_duplicate_kind_is_refused(self, decode: Decode, line: bytes) -> None:
        kind = line[1:].split(b",")[0].rstrip(b"}")
        refused(decode, b"{" + kind + b"," + line[1:])
        refused(decode, line[:-1] + b"," + kind + b"}")

    def test_a_duplicate_field_is_refused(self, decode: Decode, line: bytes) -> None:
        fields = line[1:-1].split(b",")
        refused(decode, b"{" + b",".join([*fields, fields[-1]]) + b"}")

    def test_a_kind_in_other_letter_case_is_refused(self, decode: Decode, line: bytes) -> None:
        kind = line.split(b'"')[3]
        refused(decode, line.replace(kind, kind.title(), 1))
        refused(decode, line.replace(b'"kind"', b'"Kind"', 1))

    def test_a_missing_field_is_refused(self, decode: Decode, line: bytes) -> None:
        for index in range(len(fields := line[1:-1].split(b","))):
            refused(decode, b"{" + b",".join(fields[:index] + fields[index + 1 :]) + b"}")

    @pytest.mark.parametrize("junk", [b"x", b"{}", b",", b"\x00", b"\xff", b"//", b"\xef\xbb\xbf", b"null"])
    def test_trailing_bytes_are_refused(self, decode: Decode, line: bytes, junk: bytes) -> None:
        refused(decode, line + junk)
        refused(decode, line + b" " + junk)

    @pytest.mark.parametrize("before", [b"\xef\xbb\xbf", b"x", b"\x0b", b"\x0c", b"\xc2\xa0", b","])
    def test_leading_bytes_are_refused(self, decode: Decode, line: bytes, before: bytes) -> None:
        refused(decode, before + line)

    def test_a_trailing_comma_is_refused(self, decode: Decode, line: bytes) -> None:
        refused(decode, line[:-1] + b",}")

    def test_a_comment_is_refused(self, decode: Decode, line: bytes) -> None:
        refused(decode, b"{/**/" + line[1:])

    def test_another_encoding_is_refused(self, decode: Decode, line: bytes) -> None:
        for encoding in ("utf-16", "utf-16-le", "utf-32"):
            refused(decode, line.decode().encode(encoding))

    def test_an_array_of_frames_is_refused(self, decode: Decode, line: bytes) -> None:
        refused(decode, b"[" + line + b"]")

    def test_any_order_of_keys_is_accepted(self, decode: Decode, line: bytes) -> None:
        assert decode(b"{" + b",".join(reversed(line[1:-1].split(b","))) + b"}") == decode(line)

    @pytest.mark.parametrize("space", [b" ", b"\t", b"  \t "])
    def test_spaces_around_tokens_are_accepted(self, decode: Decode, line: bytes, space: bytes) -> None:
        spaced = line
        for token in (b"{", b"}", b":", b","):
            spaced = spaced.replace(token, space + token + space)
        assert decode(spaced) == decode(line)

    @pytest.mark.parametrize("ending", [b"\r", b"\r\r", b" \r"])
    def test_carriage_returns_before_the_newline_are_accepted(self, decode: Decode, line: bytes, ending: bytes) -> None:
        assert decode(line + ending) == decode(line)

    def test_an_escaped_key_is_the_same_key(self, decode: Decode, line: bytes) -> None:
        assert decode(line.replace(b'"kind"', b'"\\u006bind"', 1)) == decode(line)


@pytest.mark.parametrize(
    ("written", "text"),
    [
        ('""', ""),
        ('"\\u0000"', "\0"),
        ('"\x7f"', "\x7f"),
        ('"\u2028\u2029\u0085"', "\u2028\u2029\u0085"),
        ('"\\ud83d\\ude00"', "\U0001f600"),
        ('"\U0010ffff"', "\U0010ffff"),
        ('"\\/\\b\\f\\n\\r\\t\\"\\\\"', '/\b\f\n\r\t"\\'),
    ],
)
def test_every_scalar_is_accepted_in_a_string(written: str, text: str) -> None:
    assert decode_command(f'{{"kind":"stdin","data":{written}}}'.encode()) == Stdin(text)
    assert decode_semantic(f'{{"kind":"console_output","data":{written}}}'.encode()) == ConsoleOutput(text)
    assert decode_event(f'{{"kind":"stdout","data":{written}}}'.encode()) == Stdout(text)


def test_only_the_raw_kinds_skip_the_duplicate_check_and_only_in_the_form_our_relay_writes() -> None:
    assert decode_event(b'{"kind":"stdout","data":"a","data":"b"}') == Stdout("b")
    refused(decode_event, b'{ "kind":"stdout","data":"a","data":"b"}')
    refused(decode_event, b'{"data":"a","kind":"stdout","data":"b"}')
    refused(decode_event, b'{"kind":"fatal","message":"a","message":"b"}')


def test_kinds_do_not_cross_where_they_do_not_belong() -> None:
    for decode in (decode_command, decode_semantic):
        refused(decode, b'{"kind":"stdout","data":"x"}')
        refused(decode, b'{"kind":"worker_started","pid":1}')
        refused(decode, b'{"kind":"shutdown"}')
    refused(decode_command, b'{"kind":"ready"}')
    refused(decode_event, b'{"kind":"interrupt","request_id":1}')
    refused(decode_event, b'{"kind":"evaluate","language":"python","source":""}')
    refused(decode_semantic, b'{"kind":"evaluate","language":"python","source":""}')


def test_encoding_a_lone_surrogate_is_our_own_bug_and_is_raised() -> None:
    with pytest.raises((ValueError, msgspec.EncodeError)):
        encode(Stdin("\ud800"))


def test_a_refusal_says_why_without_quoting_a_megabyte() -> None:
    with pytest.raises(FrameRefused, match="malformed frame") as caught:
        decode_command(b'{"kind":"interrupt","request_id":%s}' % (b"1" * 1_000_000))
    assert len(str(caught.value)) < 200
