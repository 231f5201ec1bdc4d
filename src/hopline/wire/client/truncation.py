"""Cuts the texts and collections of a payload to a common limit; words of closed sets and numbers stay whole.

Source: docs/wire/client.md, "Size bound" (frontend reference 5.2).
"""

from functools import lru_cache
from typing import Any

import msgspec
from msgspec import UNSET, inspect

from hopline.wire.client.texts import plain

MAX_DEPTH = 100
"""Collections nested deeper than this are emptied when something is cut."""


def cut(value: Any, limit: int | None, depth: int = 0) -> Any:
    """`value` as plain data, every text and collection cut to its first `limit` code points or entries; None cuts
    nothing and only replaces lone surrogates.
    """
    if limit is not None and depth > MAX_DEPTH:
        limit = 0
    match value:
        case str():
            return plain(value)[:limit]
        case list():
            return [cut(entry, limit, depth + 1) for entry in value[:limit]]
        case dict():
            entries = list(value.items())[:limit]
            return {
                plain(name) if isinstance(name, str) else name: cut(entry, limit, depth + 1) for name, entry in entries
            }
        case msgspec.Struct():
            return _cut_struct(value, limit, depth + 1)
        case _:
            return msgspec.to_builtins(value)


def _cut_struct(value: msgspec.Struct, limit: int | None, depth: int) -> dict[str, Any]:
    config = value.__struct_config__
    found: dict[str, Any] = {} if config.tag is None else {str(config.tag_field): config.tag}
    words = _words(type(value))
    for name in value.__struct_fields__:
        entry = getattr(value, name)
        if entry is not UNSET:
            found[name] = entry if name in words else cut(entry, limit, depth)
    return found


@lru_cache
def _words(kind: type[msgspec.Struct]) -> frozenset[str]:
    """The fields of `kind` that hold one of a closed set of words: those annotated with `examples`."""
    described = inspect.type_info(kind)
    assert isinstance(described, inspect.StructType)
    return frozenset(field.name for field in described.fields if _is_word(field.type))


def _is_word(described: inspect.Type) -> bool:
    match described:
        case inspect.UnionType(types=types):
            return any(_is_word(one) for one in types)
        case inspect.Metadata(extra_json_schema=extra):
            return "examples" in (extra or {})
        case _:
            return False
