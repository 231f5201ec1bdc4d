from pathlib import Path

from journal_events import line

from hopline.journal.port import Damage
from hopline.journal.stepper import Stepper

HERE = Path("segment")


def step(rows: list[bytes], due: int, limit: int | None = None, pieces: int = 1) -> tuple[list[int], list[Damage]]:
    stepper = Stepper(HERE, due, 0) if limit is None else Stepper(HERE, due, 0, limit)
    found = []
    size = -(-len(rows) // pieces)
    for place in range(0, len(rows), size):
        data = b"".join(row + b"\n" for row in rows[place : place + size])
        for start, end, head in stepper.feed(data):
            assert data[start:end] == line(head.sequence) + b"\n"
            found.append(head.sequence)
    stepper.finish()
    return found, stepper.damage


def ranges(damage: list[Damage]) -> list[tuple[int, int]]:
    return [(item.first_sequence, item.last_sequence) for item in damage]


def test_sound_lines_are_all_events() -> None:
    assert step([line(sequence) for sequence in range(5, 30)], 5) == (list(range(5, 30)), [])
    assert step([line(sequence) for sequence in range(5, 30)], 5, limit=30, pieces=5) == (list(range(5, 30)), [])


def test_a_garbled_line_is_stepped_over_with_its_bytes_and_sequence() -> None:
    rows = [line(1), line(2)[:-3], line(3), line(4)]
    found, damage = step(rows, 1)
    assert found == [1, 3, 4]
    start = len(rows[0]) + 1
    assert damage == [Damage(HERE, start, start + len(rows[1]) + 1, 2, 2, "the line there is no event")]


def test_lines_run_together_count_for_all_they_were() -> None:
    found, damage = step([line(1), line(2) + line(3) + line(4), line(5), line(6)], 1)
    assert found == [1, 5, 6]
    assert ranges(damage) == [(2, 4)]


def test_a_run_of_garbage_is_one_damage_however_it_is_cut() -> None:
    rows = [line(1), b"\0" * 50, b"", b"noise", line(9), line(10), line(11)]
    for pieces in (1, 2, 3, 7):
        found, damage = step(rows, 1, pieces=pieces)
        assert found == [1, 9, 10, 11]
        assert ranges(damage) == [(2, 8)]
        assert damage[0].reason == "3 lines there are no events"


def test_missing_lines_are_said_where_they_are_missing() -> None:
    found, damage = step([line(1), line(2), line(7), line(8)], 1)
    assert found == [1, 2, 7, 8]
    assert ranges(damage) == [(3, 6)]
    assert damage[0].start == damage[0].end == 2 * len(line(1)) + 2


def test_a_wrong_sequence_does_not_take_the_rest_along() -> None:
    flipped = line(3).replace(b'"sequence":3,', b'"sequence":900,')
    found, damage = step([line(1), line(2), flipped, line(4), line(5)], 1)
    assert found == [1, 2, 4, 5]
    assert ranges(damage) == [(3, 3)]
    found, damage = step([line(1), line(2), flipped], 1)
    assert found == [1, 2]
    assert ranges(damage) == [(3, 3)]


def test_a_repeated_or_earlier_line_is_damage() -> None:
    found, damage = step([line(1), line(2), line(2), line(1), line(3)], 1)
    assert found == [1, 2, 3]
    assert ranges(damage) == [(3, 2)]


def test_damage_at_the_end_counts_its_lines_or_reaches_to_the_next_segment() -> None:
    rows = [line(1), b"noise", b"noise"]
    assert ranges(step(rows, 1)[1]) == [(2, 3)]
    assert ranges(step(rows, 1, limit=9)[1]) == [(2, 8)]
    assert ranges(step([line(1)], 1, limit=9)[1]) == [(2, 8)]


def test_no_event_is_believed_at_or_past_the_next_segment() -> None:
    found, damage = step([line(1), b"noise", line(9), line(10)], 1, limit=9)
    assert found == [1]
    assert ranges(damage) == [(2, 8)]


def test_a_damage_is_a_sentence() -> None:
    lost = Damage(Path("/j/segments/1.jsonl"), 10, 20, 3, 4, "2 lines there are no events")
    assert str(lost) == "/j/segments/1.jsonl: bytes 10 to 20: 2 lines there are no events; events 3 to 4 are lost"
    kept = Damage(Path("/j/segments/1.jsonl"), 10, 20, 3, 2, "the checksum differs")
    assert str(kept).endswith("no event is lost")
