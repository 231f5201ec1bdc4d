"""Texts on their way to the wire: no lone surrogate, no secret."""

import re

_SECRET = re.compile(
    r"""(?ix)
    ( \b [\w-]* (?: key | token | password | passwd | secret ) [\w-]* ["']? \s* [=:] \s* ["']? | \b bearer \s+ )
    [^\s"',;&}\])]+ """
)


def redact(text: str) -> str:
    """`text` with the values after names such as KEY, TOKEN, PASSWORD or SECRET, and bearer tokens, replaced."""
    return _SECRET.sub(r"\1[REDACTED]", plain(text))


def plain(text: str) -> str:
    """`text` with each lone surrogate as U+FFFD, so that it can go on the wire."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
