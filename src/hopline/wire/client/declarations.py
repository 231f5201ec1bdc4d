"""TypeScript declarations of the wire, made from its schema: what the page is checked against.

A server writes complete models, so what it sends is declared complete: a member is optional only where the server may
leave it out. In what a client sends every member with a default is optional.
"""

import json
from typing import Any

from hopline.wire.client.schema import Schema, documents

_HEAD = """/**
 * The client wire, protocol version 1 (docs/wire/client.md). Made from docs/wire/schema by `make docs`; not written by
 * hand. A word of an open set is its known words or any other string.
 */

"""
_UNKNOWN = "export interface UnknownPayload {\n  kind: string & {};\n}\n"
_UNIONS = {"request": "Request", "server_message": "ServerMessage"}


def declarations() -> str:
    """The module's whole text."""
    parts: dict[str, str] = {}
    for name, document in documents().items():
        for title, definition in document["$defs"].items():
            parts.setdefault(title, _interface(title, definition, sent=name == "request"))
        if name in _UNIONS:
            parts[_UNIONS[name]] = f"export type {_UNIONS[name]} = {_type(document)};\n"
    parts["UnknownPayload"] = "/** A kind that this version does not know. */\n" + _UNKNOWN
    return _HEAD + "\n".join(parts[title] for title in sorted(parts))


def _interface(title: str, definition: Schema, *, sent: bool) -> str:
    required = set(definition.get("required", ()))
    lines = [f"/** {definition['description']} */"] if definition.get("description") else []
    lines.append(f"export interface {title} {{")
    for name, member in definition.get("properties", {}).items():
        optional = name not in required and (sent or "default" not in member)
        lines.append(f"  {name}{'?' if optional else ''}: {_type(member)};")
    lines.append("}")
    return "\n".join(lines) + "\n"


def _type(schema: Schema) -> str:
    match schema:
        case {"$ref": str(reference)}:
            return reference.rpartition("/")[2]
        case {"anyOf": list(options)}:
            return " | ".join(dict.fromkeys(_type(one) for one in options))
        case {"const": constant}:
            return json.dumps(constant)
        case {"enum": list(words)}:
            return " | ".join(json.dumps(word) for word in words)
        case {"examples": list(words)}:
            return " | ".join([*(json.dumps(word) for word in words), "(string & {})"])
        case {"type": "array", "items": dict(items)}:
            entry = _type(items)
            return f"({entry})[]" if "|" in entry else f"{entry}[]"
        case {"type": "array"}:
            return "unknown[]"
        case {"type": "object", "properties": {"kind": _}}:
            return "UnknownPayload"
        case _:
            return _SIMPLE.get(schema.get("type", ""), "unknown")


_SIMPLE: dict[Any, str] = {
    "string": "string",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "null": "null",
    "object": "Record<string, unknown>",
}
