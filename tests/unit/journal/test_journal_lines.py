import pytest
from journal_events import line

from hopline.journal import lines


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b'{"protocol_version":1,"sequence":',
        b'{"protocol_version":1,"sequence":12',
        b'{"protocol_version":1,"sequence":,"run_id":""}',
        b'{"protocol_version":1,"sequence":-3,"run_id":""}',
        b'{"protocol_version":1,"sequence":03,"run_id":""}',
        b'{"protocol_version":1,"sequence":123456789012345678901,"run_id":""}',
        b'{"sequence":1,"protocol_version":1}',
        b"\0" * 100,
    ],
)
def test_what_does_not_begin_as_an_event_has_no_sequence(text: bytes) -> None:
    assert lines.sequence_at(text) is None


def test_an_event_tells_its_sequence_wherever_it_lies() -> None:
    data = line(99) + b"\n" + line(100) + b"\n"
    assert lines.sequence_at(data) == 99
    assert lines.sequence_at(data, lines.last_line_start(data)) == 100
    assert lines.sequence_at(line(2**63 - 1)) == 2**63 - 1


def test_every_line_is_found_by_bisection() -> None:
    rows = [line(sequence, 60 + sequence % 7 * 40) + b"\n" for sequence in range(95, 160)]
    data = b"".join(rows)
    start = 0
    for sequence, row in zip(range(95, 160), rows, strict=True):
        assert lines.seek(data, sequence) == start
        start += len(row)
    assert lines.seek(data, 1000) == len(data) - len(rows[-1])


def test_bisection_passes_over_lines_that_carry_no_sequence() -> None:
    rows = [line(sequence) if sequence % 3 else b"garbage" for sequence in range(1, 60)]
    data = b"\n".join(rows) + b"\n"
    for sequence in range(1, 60):
        if sequence % 3:
            assert lines.sequence_at(data, lines.seek(data, sequence)) == sequence


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"[]",
        line(5)[:-1],
        line(5) + b"}",
        line(5).replace(b"x", b"\xff"),
        line(5).replace(b"x", b"\0"),
        line(5).replace(b'"type"', b'"kind"'),
        b" " + line(5),
        line(5).replace(b'"sequence":5,', b'"sequence":5 ,'),
        b"[" * 100_000,
    ],
)
def test_a_line_that_is_no_event_is_not_parsed_alone_or_among_others(bad: bytes) -> None:
    assert lines.parse(bad) is None
    assert lines.parse_run(line(4) + b"\n" + bad + b"\n" + line(6) + b"\n", 4) is None


def test_a_run_of_events_has_sequences_without_holes() -> None:
    data = b"".join(line(sequence, kind="run_started") + b"\n" for sequence in (4, 5, 6))
    heads = lines.parse_run(data, 4)
    assert heads is not None
    assert [(head.sequence, head.type) for head in heads] == [
        (4, "run_started"),
        (5, "run_started"),
        (6, "run_started"),
    ]
    assert lines.parse_run(data, 3) is None
    assert lines.parse_run(line(4) + b"\n" + line(6) + b"\n", 4) is None
    assert lines.parse_run(line(4) + b"\n" + line(4) + b"\n", 4) is None
