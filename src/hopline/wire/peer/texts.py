"""Strings from a peer, before they are kept, logged or shown."""

import unicodedata

from hopline.wire.peer.limits import MAX_SHOWN_CHARACTERS

_UNPRINTABLE = frozenset({"Cc", "Cs", "Zl", "Zp"})


def is_printable(text: str) -> bool:
    """Whether no character is of Unicode category Cc, Cs, Zl or Zp."""
    if text.isascii():
        return text.isprintable()
    return not any(unicodedata.category(character) in _UNPRINTABLE for character in text)


def shown(text: str, limit: int = MAX_SHOWN_CHARACTERS) -> str:
    """The text as a log or a terminal may have it: cut, without controls, directions, odd spaces (PL-SHOWN)."""
    return "".join(character for character in text[:limit] if character.isprintable())
