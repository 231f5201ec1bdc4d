"""Events as lines, for the tab that shows all of them. Pure."""

from hopline.rendering import plain
from hopline.tui.words import clock, number
from hopline.wire.client.events import RunEvent


def event_line(event: RunEvent) -> str:
    """One event as a line: its number, its time, its kind, and what it says."""
    parts = [event.text, event.status or ""]
    if event.diagnostic is not None:
        parts.append(event.diagnostic.summary)
    elif bytes(event.data) != b"null":
        parts.append(_payload(event))
    said = plain(" ".join(part for part in parts if part).replace("\n", " "))
    return f"{number(event.sequence):>9}  {clock(event.timestamp)}  {event.type:<22} {said}"[:1000]


def _payload(event: RunEvent) -> str:
    """The payload's members but the kind, as they are."""
    import msgspec

    try:
        members = msgspec.json.decode(event.data, type=dict[str, msgspec.Raw])
    except (msgspec.MsgspecError, ValueError):
        return ""
    shown = (
        f"{name}={bytes(value).decode('utf-8', 'replace')[:120]}" for name, value in members.items() if name != "kind"
    )
    return " ".join(shown)
