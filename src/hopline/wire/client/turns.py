"""Payloads of agents at work: chats, executions, phases, what they say, the tools they call, the tokens they use.

Source: docs/wire/client.md, "Event kinds" (frontend reference 5.3).
"""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from hopline.wire.client.payload import Payload

Mode = Annotated[str, Meta(examples=["thinking", "responding", "tool", "waiting"])]
Channel = Annotated[str, Meta(examples=["assistant", "analysis", "tool", "diagnostic", "prompt"])]
Count = Annotated[int, Meta(ge=0)]


class Chat(Payload, frozen=True, kw_only=True, tag="chat"):
    """A question's answer; the question is the event's text, its status `answered`."""

    answer: str
    thread_title: str | None = None
    invocation_id: str | None = None


class ChatThreadCreated(Payload, frozen=True, kw_only=True, tag="chat_thread_created"):
    """A thread of questions to one agent."""

    thread_id: str
    title: str = ""
    provider: str
    model: str
    created_at: str


class InvocationStarted(Payload, frozen=True, kw_only=True, tag="invocation_started"):
    """Legacy twin of agent_execution_started; readers get that instead."""

    system_prompt: str
    user_prompt: str


class InvocationFinished(Payload, frozen=True, kw_only=True, tag="invocation_finished"):
    """Legacy twin of agent_execution_finished; readers get that instead."""

    result: Any = None
    error: str | None = None


class Activity(msgspec.Struct, frozen=True, kw_only=True):
    """What an execution does at the moment, where `kind` is always agent_execution_activity_changed."""

    kind: Annotated[str, Meta(examples=["agent_execution_activity_changed"])] = "agent_execution_activity_changed"
    mode: Mode
    summary: str
    tool: str | None = None


class AgentExecutionStarted(Payload, frozen=True, kw_only=True, tag="agent_execution_started"):
    """An agent takes a turn."""

    stage: str
    attempt: int | None = None
    system_prompt: str = ""
    user_prompt: str = ""
    activity: Activity
    provider: str | None = None
    model: str | None = None


class AgentExecutionActivityChanged(Payload, frozen=True, kw_only=True, tag="agent_execution_activity_changed"):
    """It does something else now."""

    mode: Mode
    summary: str
    tool: str | None = None


class TypedReply(msgspec.Struct, frozen=True, kw_only=True):
    """A valid reply of the turn's role as data; clients learn its fields from the schema beside it."""

    kind: str
    json_schema: dict[str, Any]
    value: Any


class AgentExecutionFinished(Payload, frozen=True, kw_only=True, tag="agent_execution_finished"):
    """The turn is over; `result` keeps the agent's raw text."""

    result: Any = None
    error: str | None = None
    reply: TypedReply | None = None


class Phase(Payload, frozen=True, kw_only=True, tag="phase"):
    """Of phase_started and phase_finished."""

    phase: str
    attempt: int | None = None


class AgentStatus(msgspec.Struct, frozen=True, kw_only=True):
    """Where the agent stood when it wrote or called."""

    progress: Any = None
    agent_label: str | None = None
    elapsed_seconds: float = 0.0
    input_tokens: int = 0
    context_window: int | None = None


class AgentOutputChunk(Payload, frozen=True, kw_only=True, tag="agent_output_chunk"):
    """A piece of what an agent says."""

    channel: Channel
    content: str
    status: AgentStatus | None = None


class Output(Payload, frozen=True, kw_only=True, tag="output"):
    """A line of a backend's own."""

    stream: Annotated[str, Meta(examples=["stdout", "stderr"])]
    source: str = "backend"
    content: str


class ToolCall(Payload, frozen=True, kw_only=True, tag="tool_call"):
    """An agent calls a tool."""

    tool: str
    call_id: str | None = None
    args: Any = msgspec.field(default_factory=dict)
    status: AgentStatus | None = None


class CommandResult(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="command"):
    """What a command left."""

    stdout: str
    stderr: str
    exit_code: int | None = None
    duration: float | None = None


class JsonResult(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="json"):
    """What a tool gave as data."""

    value: dict[str, Any] | list[Any]


class ToolResult(Payload, frozen=True, kw_only=True, tag="tool_result"):
    """What a tool gave back."""

    tool: str
    call_id: str | None = None
    content: str
    is_error: bool = False
    payload: CommandResult | JsonResult | None = None


class Todo(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of an agent's list."""

    content: str
    status: Annotated[str, Meta(examples=["pending", "in_progress", "completed"])]


class TodoUpdate(Payload, frozen=True, kw_only=True, tag="todo_update"):
    """The agent's list, whole."""

    todos: list[Todo]


class UsageUpdate(Payload, frozen=True, kw_only=True, tag="usage_update"):
    """How full the agent's context is."""

    input_tokens: int
    context_window: int | None = None
    model: str | None = None


class TurnUsageRecorded(Payload, frozen=True, kw_only=True, tag="turn_usage_recorded"):
    """What a turn cost; `span_id` is stamped by the server."""

    span_id: str | None = None
    provider: str | None = None
    model: str | None = None
    input_tokens: Count
    output_tokens: Count
    cached_input_tokens: Count = 0
    reasoning_tokens: Count = 0
    cost_usd: float | None = None
    duration_seconds: Annotated[float, Meta(ge=0)] | None = None


TurnKind = (
    Chat
    | ChatThreadCreated
    | InvocationStarted
    | InvocationFinished
    | AgentExecutionStarted
    | AgentExecutionActivityChanged
    | AgentExecutionFinished
    | Phase
    | AgentOutputChunk
    | Output
    | ToolCall
    | ToolResult
    | TodoUpdate
    | UsageUpdate
    | TurnUsageRecorded
)
