"""How a piece of output looks, and what an SGR sequence does to it. Pure."""

from functools import lru_cache
from typing import Any, NamedTuple

Colour = int | tuple[int, int, int] | None
"""A palette index from 0 to 255, a triple of red, green and blue, or None for the terminal's own."""


class Look(NamedTuple):
    """The rendition of a run of characters."""

    foreground: Colour = None
    background: Colour = None
    bold: bool = False
    dim: bool = False
    italic: bool = False
    underline: bool = False
    blink: bool = False
    reverse: bool = False
    hidden: bool = False
    strike: bool = False


PLAIN = Look()

_ON: dict[int, dict[str, Any]] = {
    1: {"bold": True},
    2: {"dim": True},
    3: {"italic": True},
    4: {"underline": True},
    5: {"blink": True},
    6: {"blink": True},
    7: {"reverse": True},
    8: {"hidden": True},
    9: {"strike": True},
    21: {"underline": True},
    22: {"bold": False, "dim": False},
    23: {"italic": False},
    24: {"underline": False},
    25: {"blink": False},
    27: {"reverse": False},
    28: {"hidden": False},
    29: {"strike": False},
    39: {"foreground": None},
    49: {"background": None},
}


@lru_cache(maxsize=4096)
def rendition(look: Look, parameters: str) -> Look:
    """`look` after `CSI parameters m`. What is not known changes nothing.

    Args:
        parameters: the text between `CSI` and `m`; colons count as semicolons.
    """
    codes = [int(part) if part.isdigit() else 0 for part in parameters.replace(":", ";").split(";")]
    at = 0
    while at < len(codes):
        code = codes[at]
        at += 1
        if code == 0:
            look = PLAIN
        elif code in (38, 48):
            colour, at = _extended(codes, at)
            if colour is not None:
                look = look._replace(foreground=colour) if code == 38 else look._replace(background=colour)
        elif 30 <= code <= 37:
            look = look._replace(foreground=code - 30)
        elif 40 <= code <= 47:
            look = look._replace(background=code - 40)
        elif 90 <= code <= 97:
            look = look._replace(foreground=code - 82)
        elif 100 <= code <= 107:
            look = look._replace(background=code - 92)
        elif code in _ON:
            look = look._replace(**_ON[code])
    return look


def _extended(codes: list[int], at: int) -> tuple[Colour, int]:
    """The colour that follows 38 or 48, and where it ends; None when it is none."""
    if codes[at : at + 1] == [5] and at + 1 < len(codes):
        return min(codes[at + 1], 255), at + 2
    if codes[at : at + 1] == [2]:
        rest = codes[at + 1 : at + 4]
        if len(rest) == 3:
            return (min(rest[0], 255), min(rest[1], 255), min(rest[2], 255)), at + 4
    return None, len(codes)
