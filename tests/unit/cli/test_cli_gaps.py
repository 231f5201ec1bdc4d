"""Events that were asked for and are no longer there are counted and told, once each."""

from hopline.cli.gaps import REPEAT_SECONDS, Gaps


def test_events_in_order_leave_nothing_to_tell() -> None:
    gaps = Gaps(after=4)
    assert [gaps.take(sequence, 0) for sequence in (5, 6, 7)] == [False, False, False]
    assert gaps.whole
    assert gaps.sentence() is None


def test_what_is_missing_up_to_the_floor_was_dropped() -> None:
    gaps = Gaps()
    assert [gaps.take(sequence, 10) for sequence in (2, 3, 11)] == [True, False, True]
    assert (gaps.dropped, gaps.damaged) == (8, 0)
    assert gaps.sentence() == (
        "the output has a gap: 8 events were dropped before they could be shown (--when-journal-full)."
    )


def test_what_is_missing_past_the_floor_is_damaged() -> None:
    gaps = Gaps()
    gaps.take(1, 0)
    assert gaps.take(3, 0)
    assert (gaps.dropped, gaps.damaged) == (0, 1)
    assert gaps.sentence() == "the output has a gap: 1 event is lost to damage of the journal (see: hopline doctor)."


def test_where_events_are_left_out_on_purpose_a_hole_proves_nothing() -> None:
    gaps = Gaps()
    gaps.unsure = True
    assert not gaps.take(7, 0)
    assert gaps.whole


def test_gaps_in_a_row_are_told_together() -> None:
    gaps = Gaps()
    gaps.take(5, 4)
    assert gaps.sentence(100.0) is not None
    gaps.take(9, 8)
    assert gaps.sentence(100.0 + REPEAT_SECONDS / 2) is None
    told = gaps.sentence()
    assert told is not None
    assert "3 events were dropped" in told
    assert gaps.sentence() is None


def test_another_store_counts_anew() -> None:
    gaps = Gaps(after=50)
    gaps.restart(0)
    assert not gaps.take(1, 0)
