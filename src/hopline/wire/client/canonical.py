"""One history for readers, whichever events a run recorded: legacy invocation_* events become agent_execution_* ones,
or go where those exist beside them.

Source: docs/wire/client.md, "Legacy invocations" (frontend reference 6.2). Pure; everything else passes byte for byte.
"""

from collections.abc import Callable

import msgspec

from hopline.wire.client.events import RunEvent, decode_event, payload_of
from hopline.wire.client.turns import (
    Activity,
    AgentExecutionFinished,
    AgentExecutionStarted,
    InvocationFinished,
    InvocationStarted,
)

_MARK = b'"type":"invocation_'
"""Within the text of an event its quotes would be escaped, so this is only ever a type."""

_SUMMARIES = {
    "planner": "Planning",
    "implementer": "Implementing",
    "reviewer": "Reviewing",
    "judge": "Reviewing",
    "profiler": "Profiling",
    "chat": "Answering question",
}

_encoder = msgspec.json.Encoder()


def first_activity(agent_kind: str | None) -> Activity:
    """What an agent of this kind does until it says otherwise."""
    summary = _SUMMARIES.get(agent_kind or "", f"Running {agent_kind or 'agent'}")
    return Activity(mode="thinking", summary=summary)


def as_execution(
    event: RunEvent, payload: InvocationStarted | InvocationFinished
) -> AgentExecutionStarted | AgentExecutionFinished:
    """What a legacy event says, in today's words."""
    if isinstance(payload, InvocationFinished):
        return AgentExecutionFinished(result=payload.result, error=payload.error)
    return AgentExecutionStarted(
        stage=event.agent_kind or "agent",
        system_prompt=payload.system_prompt,
        user_prompt=payload.user_prompt,
        activity=first_activity(event.agent_kind),
    )


def canonical(lines: bytes, executed: Callable[[str], bool]) -> bytes:
    """Stored lines as readers get them; fewer or other ones only where there are legacy events.

    Args:
        lines: whole lines, each with its newline.
        executed: whether agent_execution_* events of this execution exist.
    """
    if _MARK not in lines:
        return lines
    return b"".join(_line(line, executed) for line in lines.splitlines(keepends=True))


def canonical_lines(lines: list[bytes], executed: Callable[[str], bool]) -> list[bytes]:
    """As `canonical`, of lines without their newlines."""
    return canonical(b"".join(line + b"\n" for line in lines), executed).splitlines()


def _line(line: bytes, executed: Callable[[str], bool]) -> bytes:
    if _MARK not in line:
        return line
    try:
        event = decode_event(line)
    except ValueError:
        return line
    if not event.type.startswith("invocation_"):
        return line
    if event.execution_id is not None and executed(event.execution_id):
        return b""
    payload = payload_of(event)
    if isinstance(payload, InvocationStarted | InvocationFinished):
        data = msgspec.Raw(_encoder.encode(as_execution(event, payload)))
        event = msgspec.structs.replace(event, data=data)
    renamed = msgspec.structs.replace(event, type=event.type.replace("invocation_", "agent_execution_", 1))
    return _encoder.encode(renamed) + b"\n"
