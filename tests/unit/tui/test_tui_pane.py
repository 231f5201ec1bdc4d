"""A stretch of a run's lines: what went from either end comes back exactly as it was."""

import random
import re
from collections.abc import Callable

import pytest
from tui_rows import event

from hopline.tui import pane as panes
from hopline.tui.paged_scrollback import PagedScrollback
from hopline.tui.pane import Pane
from hopline.wire.client.events import RunEvent


def fed(*texts: str) -> PagedScrollback:
    scrollback = PagedScrollback()
    for text in texts:
        scrollback.feed(text)
    return scrollback


@pytest.mark.parametrize(
    "text",
    [
        "very old\nthe first line\nlast",
        "one\n",
        "\n\n",
        "10%\r20%\r30%\ndone\n",
        "long line\r\x1b[Kshort\nnext",
        "\x1b[31mred\x1b[0m plain\nnext \x1b[1mbold",
        "a\tb\tc\nd",
        "ab\bX\b\bY",
    ],
)
def test_it_does_not_matter_where_the_older_part_ends(text: str) -> None:
    whole = fed(text, "!\n", "end")
    for cut in range(len(text) + 1):
        newer = fed(text[cut:])
        newer.prepend(fed(text[:cut]))
        newer.feed("!\n")
        newer.feed("end")
        assert [line.pieces for line in newer.lines] == [line.pieces for line in whole.lines]


def test_older_parts_are_put_above_one_after_another() -> None:
    text = "".join(f"{number}%\r" for number in range(30)) + "done\nlast\n"
    whole = fed(text)
    newest = fed(text[60:])
    newest.prepend(fed(text[20:60]))
    newest.prepend(fed(text[:20]))
    assert [line.text() for line in newest.lines] == [line.text() for line in whole.lines]


def test_a_first_line_that_is_too_long_to_be_kept_is_joined_as_it_is() -> None:
    newest = fed("\x1b[1m" + "x" * 100 + "\r" * 70_000 + "y")
    newest.prepend(fed("old\nbefore "))
    assert [line.text()[:9] for line in newest.lines] == ["old", "before yx"]


def events(*texts: str) -> list[RunEvent]:
    """Events that write these, numbered from 1."""
    return [event("output", text=text, sequence=number) for number, text in enumerate(texts, 1)]


def small_pane(monkeypatch: pytest.MonkeyPatch, lines: int, characters: int = 1 << 20, floor: int = 0) -> Pane:
    bounded = lambda floor=0, *bounds: PagedScrollback(floor, *(bounds or (lines, characters)))  # noqa: E731  # one line
    monkeypatch.setattr(panes, "PagedScrollback", bounded)
    return Pane(lambda: lambda one: one.text, floor)


def texts_of(pane: Pane) -> list[str]:
    return [line.text() for line in pane.lines.lines]


def read_up(pane: Pane, everything: list[RunEvent], most: Callable[[Pane], bool] = lambda _: False) -> None:
    """Load what is above, as far as there is anything, or until `most` holds."""
    while not most(pane) and (span := pane.above()) is not None:
        pane.put_above([one for one in everything if span[0] < one.sequence < span[1]])


def test_what_went_from_the_top_is_read_again_and_then_the_end_goes_and_comes_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    everything = events(*(f"row {number}\n" for number in range(1, 201)))
    pane = small_pane(monkeypatch, 50)
    for one in everything:
        pane.take(one)
    assert texts_of(pane) == [*(f"row {number}" for number in range(152, 201)), ""]
    assert pane.floor == 151
    read_up(pane, everything)
    assert texts_of(pane) == [*(f"row {number}" for number in range(1, 50)), ""]
    assert (pane.floor, pane.parted) == (0, 49)
    while (span := pane.below(200)) is not None:
        pane.put_below([one for one in everything if span[0] < one.sequence < span[1]], 200)
        first = int(texts_of(pane)[0].split()[1])
        assert texts_of(pane)[:-1] == [f"row {number}" for number in range(first, first + len(texts_of(pane)) - 1)]
    assert texts_of(pane)[-2:] == ["row 200", ""]
    pane.take(event("output", text="live", sequence=201))
    assert texts_of(pane)[-1] == "live"


@pytest.mark.parametrize("seed", range(40))
def test_lines_cut_anywhere_between_events_are_whole_again(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(seed)
    text = "".join(
        chance.choice(["", "\x1b[31m", "\x1b[0m"]) + "x" * chance.randrange(30) + f"{number}" + chance.choice("\n\n ")
        for number in range(300)
    )
    cuts = sorted(chance.sample(range(1, len(text)), 150))
    everything = events(*(text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)))
    whole = fed(text)
    pane = small_pane(monkeypatch, chance.randrange(5, 40), chance.randrange(300, 2000))
    for one in everything:
        pane.take(one)
    assert [line.text() for line in whole.lines][-len(texts_of(pane)) + 1 :] == texts_of(pane)[1:]
    for _ in range(chance.randrange(1, 4)):
        read_up(pane, everything, lambda _: chance.random() < 0.1)
        shown = texts_of(pane)
        at = [line.text() for line in whole.lines]
        assert any(at[start + 1 : start + len(shown) - 1] == shown[1:-1] for start in range(len(at)))
        begun = re.sub(r"^\[?[0-9;]*m", "", shown[0])  # a page may begin inside a sequence, until the one above comes
        assert any(line.endswith(begun) for line in at)
        while (span := pane.below(len(everything))) is not None and chance.random() < 0.9:
            pane.put_below([one for one in everything if span[0] < one.sequence < span[1]], len(everything))
    while (span := pane.below(len(everything))) is not None:
        pane.put_below([one for one in everything if span[0] < one.sequence < span[1]], len(everything))
    ours, theirs = pane.lines.lines, whole.lines
    assert [line.pieces for line in ours[1:]] == [line.pieces for line in theirs[len(theirs) - len(ours) + 1 :]]
    assert pane.lines._characters == sum(line.length for line in ours)


def test_while_a_person_reads_above_nothing_goes_for_what_comes(monkeypatch: pytest.MonkeyPatch) -> None:
    everything = events(*(f"row {number}\n" for number in range(1, 101)))
    pane = small_pane(monkeypatch, 20)
    for one in everything[:30]:
        pane.take(one)
    pane.held = True
    before = texts_of(pane)
    for one in everything[30:]:
        assert pane.take(one) == 0
    assert texts_of(pane)[: len(before) - 1] == before[:-1]
    assert pane.parted == 31
    pane.rejoin(100)
    pane.held = False
    read_up(pane, everything, lambda pane: len(pane.lines.lines) > 5)
    assert texts_of(pane)[-2:] == ["row 100", ""]
    assert pane.parted is None


def test_a_stretch_without_a_hole_begins_anew_after_what_was_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    everything = events(*(f"row {number}\n" for number in range(1, 101)))
    pane = small_pane(monkeypatch, 200)
    for one in everything[:10]:
        pane.take(one)
    assert pane.begin(90)
    for one in everything[90:]:
        pane.take(one)
    assert texts_of(pane)[0] == "row 91"
    read_up(pane, everything)
    assert texts_of(pane)[:-1] == [f"row {number}" for number in range(1, 101)]
    pane.held = True
    assert not pane.begin(500)
    assert pane.parted == 100


def test_an_event_that_is_larger_than_everything_may_be_loses_its_beginning(monkeypatch: pytest.MonkeyPatch) -> None:
    huge, after = events("".join(f"{number}\n" for number in range(1000)), "after\n")
    pane = small_pane(monkeypatch, 10)
    pane.take(huge)
    assert len(pane.lines.lines) <= 40
    assert texts_of(pane)[-2:] == ["999", ""]
    assert pane.lines.torn
    pane.take(after)
    assert (texts_of(pane), pane.floor, pane.lines.torn) == (["after", ""], 1, False)


def test_pages_grow_while_they_are_small_and_shrink_when_they_are_large(monkeypatch: pytest.MonkeyPatch) -> None:
    pane = small_pane(monkeypatch, 1 << 20, 1 << 40, floor=5000)
    sizes = []
    for _ in range(7):
        after, before = pane.above() or (0, 0)
        sizes.append(before - after - 1)
        pane.put_above([event("output", text="", sequence=number) for number in range(after + 1, before)])
    assert sizes == [16, 32, 64, 128, 256, 512, 512]
    after, before = pane.above() or (0, 0)
    pane.put_above([event("output", text="x" * 3000 + "\n", sequence=number) for number in range(after + 1, before)])
    after, before = pane.above() or (0, 0)
    assert before - after - 1 == 256
