"""What a receiver decides about each chunk, in the order of the page."""

import pytest

from hopline.fleet.transfer.plan import chunk_count, kept_chunks, span
from hopline.fleet.transfer.rules import AlreadyPresent, Bound, Claim, InPlace, Keep, Refuse, admit, claim, decide
from hopline.wire.peer.limits import CHUNK_BYTES

DIGEST = "ab" * 32


def claimed(total: int = 3) -> Claim:
    found = claim("s-1", "/home/x", DIGEST, total)
    assert isinstance(found, Claim)
    return found


def token(decision: object) -> str:
    assert isinstance(decision, Refuse), decision
    assert decision.reason.endswith(".")
    return decision.token


@pytest.mark.parametrize(
    ("size", "lengths"),
    [
        (0, [0]),
        (1, [1]),
        (CHUNK_BYTES, [CHUNK_BYTES]),
        (CHUNK_BYTES + 1, [CHUNK_BYTES, 1]),
        (3 * CHUNK_BYTES, [CHUNK_BYTES] * 3),
    ],
)
def test_every_chunk_but_the_last_is_full_and_an_empty_transcript_is_one_empty_chunk(
    size: int, lengths: list[int]
) -> None:
    spans = [span(seq, size) for seq in range(chunk_count(size))]
    assert [one.length for one in spans] == lengths
    assert [one.offset for one in spans] == [seq * CHUNK_BYTES for seq in range(len(lengths))]


@pytest.mark.parametrize(
    ("part", "kept"),
    [(0, 0), (CHUNK_BYTES - 1, 0), (CHUNK_BYTES, 1), (2 * CHUNK_BYTES + 5, 2), (3 * CHUNK_BYTES, 2), (10**9, 2)],
)
def test_whole_chunks_are_spared_and_never_the_last(part: int, kept: int) -> None:
    assert kept_chunks(part, 3) == kept


def test_a_digest_in_capitals_is_the_same_digest() -> None:
    found = claim("s-1", "/home/x", DIGEST.upper(), 1)
    assert isinstance(found, Claim)
    assert found.digest == DIGEST


@pytest.mark.parametrize(
    ("session_id", "cwd", "digest", "total", "expected"),
    [
        ("../s", "relative", "zz", 0, "PL-TRANSFER-ID"),
        ("s-1", "relative", "zz", 0, "PL-TRANSFER-CWD"),
        ("s-1", "/home/x", "zz", 0, "PL-TRANSFER-DIGEST"),
        ("s-1", "/home/x", DIGEST + "0", 0, "PL-TRANSFER-DIGEST"),
        ("s-1", "/home/x", "../" + DIGEST[3:], 0, "PL-TRANSFER-DIGEST"),
        ("s-1", "/home/x", DIGEST, 0, "PL-TRANSFER-COUNT"),
    ],
)
def test_what_is_claimed_is_checked_in_the_order_of_the_page(
    session_id: str, cwd: str, digest: str, total: int, expected: str
) -> None:
    assert token(claim(session_id, cwd, digest, total)) == expected


def test_a_transcript_over_the_bound_is_refused_by_its_count_alone() -> None:
    bound = Bound(transcript_bytes=3 * CHUNK_BYTES)
    assert admit(3, 0, bound) is None
    assert token(admit(4, 0, bound)) == "PL-TRANSFER-BOUND"
    assert token(admit(2**32 - 1, 0, Bound())) == "PL-TRANSFER-BOUND"


def test_what_the_volume_has_no_room_for_is_refused_and_what_is_here_already_needs_none() -> None:
    bound = Bound(free_bytes=CHUNK_BYTES)
    assert admit(2, 0, bound) is None
    assert token(admit(3, 0, bound)) == "PL-TRANSFER-ROOM"
    assert admit(3, CHUNK_BYTES, bound) is None
    assert admit(1, 0, Bound(free_bytes=-1)) is not None


def test_the_first_chunk_begins_the_part_anew_whatever_is_there() -> None:
    assert decide(claimed(), 0, CHUNK_BYTES, InPlace.NOTHING, 7) == Keep(restart=True, last=False)


def test_a_chunk_is_added_only_where_the_part_ends_exactly_before_it() -> None:
    assert decide(claimed(), 1, CHUNK_BYTES, InPlace.NOTHING, CHUNK_BYTES) == Keep(restart=False, last=False)
    assert decide(claimed(), 2, 5, InPlace.NOTHING, 2 * CHUNK_BYTES) == Keep(restart=False, last=True)
    for part in (0, CHUNK_BYTES - 1, CHUNK_BYTES + 1, 2 * CHUNK_BYTES):
        assert token(decide(claimed(), 1, CHUNK_BYTES, InPlace.NOTHING, part)) == "PL-TRANSFER-ORDER"


def test_a_single_chunk_is_first_and_last() -> None:
    assert decide(claimed(1), 0, 0, InPlace.NOTHING, 0) == Keep(restart=True, last=True)


@pytest.mark.parametrize("seq", [-1, 3, 4])
def test_a_chunk_outside_the_count_is_refused(seq: int) -> None:
    assert token(decide(claimed(), seq, 5, InPlace.NOTHING, 0)) == "PL-TRANSFER-COUNT"


@pytest.mark.parametrize(("seq", "length"), [(0, CHUNK_BYTES - 1), (1, 0), (0, CHUNK_BYTES + 1), (2, CHUNK_BYTES + 1)])
def test_a_chunk_of_another_length_is_refused(seq: int, length: int) -> None:
    assert token(decide(claimed(), seq, length, InPlace.NOTHING, seq * CHUNK_BYTES)) == "PL-TRANSFER-LENGTH"


@pytest.mark.parametrize("seq", [0, 1, 2])
def test_the_same_transcript_in_place_is_success_at_any_chunk(seq: int) -> None:
    assert decide(claimed(), seq, CHUNK_BYTES, InPlace.THE_SAME, 0) == AlreadyPresent()


@pytest.mark.parametrize("seq", [0, 1, 2])
def test_another_file_in_place_is_never_overwritten(seq: int) -> None:
    assert token(decide(claimed(), seq, CHUNK_BYTES, InPlace.ANOTHER, seq * CHUNK_BYTES)) == "PL-TRANSFER-KEEPS"
