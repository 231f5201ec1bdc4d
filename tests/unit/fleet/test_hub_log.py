"""What the hub's log looks like, and how much of it there can be."""

import logging

from hopline.fleet.hub.log import MAX_ENTRIES, Lines, Throttle


def entry(text: str, level: int = logging.INFO, created: float = 1000.0) -> logging.LogRecord:
    record = logging.LogRecord("hopline.hub", level, "", 0, "%s", (text,), None)
    record.created = created
    return record


def test_information_is_a_time_and_a_sentence_and_more_says_what_it_is() -> None:
    plain = Lines(colour=False, brief=True)
    assert plain.format(entry("all is well"))[8:] == " all is well"
    assert plain.format(entry("look", logging.WARNING))[8:] == " warning: look"


def test_colour_is_for_what_is_more_than_information() -> None:
    colour = Lines(colour=True, brief=False)
    assert "\x1b" not in colour.format(entry("all is well"))
    assert colour.format(entry("look", logging.WARNING)).startswith("\x1b[33m")


def test_a_flood_is_cut_and_counted() -> None:
    throttle = Throttle()
    written = [throttle.filter(entry("x", created=1000.0 + number / 1000)) for number in range(1000)]
    assert sum(written) == MAX_ENTRIES
    later = entry("y", created=1061.0)
    assert throttle.filter(later)
    assert later.getMessage() == f"y ({1000 - MAX_ENTRIES} entries before this were left out)"
    assert throttle.filter(entry("z", created=1062.0))
