"""The root of all payloads. A field of a closed set of words is annotated with its `examples`: readers accept any word,
truncation leaves it whole, the schema lists it.
"""

import msgspec


class Payload(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    """The `data` of an event; `kind` is the tag and equals the event's type unless noted. Unknown keys are ignored."""
