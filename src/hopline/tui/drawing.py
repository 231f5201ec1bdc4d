"""How pieces of lines are drawn: looks as Rich styles, and marks on a strip."""

from functools import lru_cache

from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip

from hopline.tui.looks import Colour, Look


def marked(strip: Strip, start: int, end: int, style: Style) -> Strip:
    """`strip` with `style` on the characters from `start` to `end`."""
    segments: list[Segment] = []
    at = 0
    for text, own, _ in strip:
        for part_start, part_end, on in (
            (0, start - at, False),
            (start - at, end - at, True),
            (end - at, len(text), False),
        ):
            part = text[max(0, part_start) : max(0, part_end)]
            if part:
                segments.append(Segment(part, (own or Style()) + style if on else own))
        at += len(text)
    return Strip(segments)


@lru_cache(maxsize=4096)
def style_of(look: Look) -> Style:
    """How a look is drawn."""
    return Style(
        color=_colour(look.foreground),
        bgcolor=_colour(look.background),
        bold=look.bold or None,
        dim=look.dim or None,
        italic=look.italic or None,
        underline=look.underline or None,
        blink=look.blink or None,
        reverse=look.reverse or None,
        conceal=look.hidden or None,
        strike=look.strike or None,
    )


def _colour(colour: Colour) -> Color | None:
    match colour:
        case None:
            return None
        case int():
            return Color.from_ansi(colour)
        case red, green, blue:
            return Color.from_rgb(red, green, blue)
