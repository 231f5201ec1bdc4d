"""The whole wire as JSON Schema, made from the structs that the code reads and writes with.

One document for what a client sends, one for its Response, one for a stream's messages, one for events. `hopline
schema` prints them, docs/wire/schema holds them, the page's types are made from them.
"""

from typing import Any

import msgspec

from hopline.wire.client.events import RunEvent
from hopline.wire.client.kinds import PAYLOADS, AnyKind
from hopline.wire.client.requests import Request
from hopline.wire.client.responses import Response
from hopline.wire.client.state import ActiveExecution
from hopline.wire.client.streams import (
    ActiveExecutionsChunk,
    EventBatch,
    ProtocolError,
    SingleEvent,
    Subscribed,
)
from hopline.wire.client.types import EVENT_TYPES

Schema = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_REF = "#/$defs/{name}"


def documents() -> dict[str, Schema]:
    """Every document by its name."""
    return {
        "request": _document("request", "What a client sends: one request a frame.", Request),
        "response": _document("response", "The one Response to a request, without a type.", Response),
        "server_message": _document(
            "server_message",
            "What a stream sends after an accepted subscribe.",
            Subscribed | EventBatch | ActiveExecutionsChunk | SingleEvent | ProtocolError,
        ),
        "event": _document("event", "One recorded fact, and the payload of each type.", RunEvent),
    }


def _document(name: str, description: str, kind: Any) -> Schema:
    # What stands as raw JSON in the structs is spelled out here, so the structs behind it come along.
    behind = () if name == "request" else (RunEvent, AnyKind, ActiveExecution)
    (root, *_), definitions = msgspec.json.schema_components([kind, *behind], ref_template=_REF)
    if behind:
        _spell_out(definitions)
    return {
        "$schema": DIALECT,
        "$id": f"hopline:client:1:{name}",
        "title": name,
        "description": description,
        **root,
        "$defs": {one: _tidy(definitions[one]) for one in _reached(root, definitions)},
    }


def _spell_out(definitions: dict[str, Any]) -> None:
    event = definitions["RunEvent"]["properties"]
    event["type"] = {"type": "string", "examples": sorted(EVENT_TYPES)}
    tags = sorted({str(payload.__struct_config__.tag) for payload in PAYLOADS.values()})
    kinds = {tag: payload.__name__ for payload in PAYLOADS.values() for tag in (str(payload.__struct_config__.tag),)}
    event["data"] = {
        "anyOf": [
            {"type": "null"},
            *({"$ref": _REF.format(name=kinds[tag])} for tag in tags),
            {
                "type": "object",
                "description": "A kind that this version does not know.",
                "properties": {"kind": {"type": "string", "not": {"enum": tags}}},
                "required": ["kind"],
            },
        ],
        "default": None,
    }
    events = {"type": "array", "items": {"$ref": _REF.format(name="RunEvent")}}
    if "Response" in definitions:
        definitions["Response"]["properties"]["events"] = events | {"default": []}
    if "EventBatch" in definitions:
        entries = {"type": "array", "items": {"$ref": _REF.format(name="ActiveExecution")}}
        batch = definitions["EventBatch"]["properties"]
        batch["active_executions"] = {"anyOf": [entries, {"type": "null"}], "default": []}


def _reached(root: Any, definitions: dict[str, Any]) -> list[str]:
    found: list[str] = []
    waiting = _references(root)
    while waiting:
        name = waiting.pop(0)
        if name not in found:
            found.append(name)
            waiting += _references(definitions[name])
    return sorted(found)


def _references(value: Any) -> list[str]:
    match value:
        case {"$ref": str(reference)}:
            return [reference.removeprefix("#/$defs/")]
        case dict():
            return [name for key, entry in value.items() if key != "mapping" for name in _references(entry)]
        case list():
            return [name for entry in value for name in _references(entry)]
        case _:
            return []


def _tidy(definition: Any) -> Any:
    """Docstrings on one line; a literal as a constant."""
    match definition:
        case {"enum": [only], **rest}:
            return {"const": only, **_tidy(rest)}
        case dict():
            return {
                key: " ".join(entry.split()) if key == "description" and isinstance(entry, str) else _tidy(entry)
                for key, entry in definition.items()
            }
        case list():
            return [_tidy(entry) for entry in definition]
        case _:
            return definition
