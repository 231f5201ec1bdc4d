"""What agents do, as lines: each turn with what was asked, said, called, found and used. Pure.

Nothing of theirs reaches a terminal as it is: every line is made printable.
"""

import json
from typing import Any

import msgspec

from hopline.client.items import Executions
from hopline.rendering import plain
from hopline.tui.words import age, clock, count, number
from hopline.wire.client.events import RunEvent, payload_of
from hopline.wire.client.payload import Payload
from hopline.wire.client.rounds import JudgeResult
from hopline.wire.client.turns import (
    Activity,
    AgentExecutionFinished,
    AgentExecutionStarted,
    AgentOutputChunk,
    Chat,
    CommandResult,
    Output,
    Phase,
    TodoUpdate,
    ToolCall,
    ToolResult,
    TurnUsageRecorded,
)

PROMPT_LINES = 4
RESULT_LINES = 8
"""More of a prompt or a result is only counted; the Events tab and `hopline logs --json` have all of it."""

_BOLD, _DIM, _RED, _PLAIN = "\x1b[1m", "\x1b[2m", "\x1b[31m", "\x1b[0m"
_LOOKS = {"analysis": _DIM, "diagnostic": _RED, "prompt": _DIM, "tool": _DIM}
_TODO_MARKS = {"completed": "✓", "done": "✓", "in_progress": "●"}


class _Running(msgspec.Struct, frozen=True):
    """What is shown of an active execution; a newer server may tell more."""

    agent_kind: str = ""
    round_label: str = ""
    stage: str = ""
    attempt: int | None = None
    started_at: str = ""
    activity: Activity = Activity(mode="", summary="")
    provider: str | None = None
    model: str | None = None


def active_lines(executions: Executions | None) -> list[str]:
    """The turns under way, a line each: who, at what, doing what at this moment, since when."""
    lines = []
    for raw in executions.executions if executions is not None else ():
        try:
            one = msgspec.json.decode(raw, type=_Running)
        except (msgspec.MsgspecError, ValueError):
            continue
        doing = f"{one.activity.tool}: {one.activity.summary}" if one.activity.tool else one.activity.summary
        who = _facts(one.agent_kind or "agent", _stage(one.stage, one.attempt), one.round_label)
        lines.append(plain(_facts(who, _facts(one.activity.mode, doing), f"since {clock(one.started_at)}")))
    return lines


class TurnLines:
    """Writes turns for a `Scrollback`, in the order of their events. What one agent says in pieces stays together."""

    def __init__(self) -> None:
        self._speaker: tuple[str, str] | None = None
        self._in_line = False

    def text(self, event: RunEvent) -> str:
        """What `event` adds; "" when it tells nothing of a turn."""
        payload = payload_of(event)
        if isinstance(payload, AgentOutputChunk):
            return self._said(event, payload)
        block = _block(event, payload)
        if not block:
            return ""
        before = "\n" if self._in_line else ""
        self._speaker, self._in_line = None, False
        return before + block

    def _said(self, event: RunEvent, chunk: AgentOutputChunk) -> str:
        content = printable(chunk.content)
        if not content:
            return ""
        head = ""
        speaker = (event.execution_id or "", chunk.channel)
        if speaker != self._speaker:
            label = chunk.status.agent_label if chunk.status is not None else None
            words = {"assistant": "", "analysis": " thinks", "prompt": " is asked"}.get(
                chunk.channel, f" {chunk.channel}"
            )
            head = "\n" * self._in_line + f"{_BOLD}{plain((label or _who(event)) + words)}{_PLAIN}\n"
        self._speaker, self._in_line = speaker, not content.endswith("\n")
        look = _LOOKS.get(chunk.channel)
        return head + (f"{look}{content}{_PLAIN}" if look else content)


def printable(text: str) -> str:
    """`text` with its line ends and nothing else that could drive a terminal."""
    return "\n".join(plain(line.expandtabs(8)) for line in text.replace("\r\n", "\n").split("\n"))


def _block(event: RunEvent, payload: Payload | None) -> str:
    """Whole lines for one event."""
    match payload:
        case AgentExecutionStarted():
            facts = _facts(_stage(payload.stage, payload.attempt), event.round_label, payload.provider, payload.model)
            return _head(event, "▸", facts) + _body(payload.user_prompt, PROMPT_LINES)
        case AgentExecutionFinished(error=str(error)):
            return _head(event, "✕", f"failed: {error}", _RED)
        case AgentExecutionFinished(result=result):
            said = result if isinstance(result, str) else "" if result is None else _json(result)
            return _head(event, "■", "has finished its turn") + _body(said, RESULT_LINES)
        case Phase(phase=phase, attempt=attempt):
            ends = "ends" if event.type == "phase_finished" else "begins"
            return _line("—", f"{_stage(phase, attempt)} {ends} {clock(event.timestamp)}", _DIM)
        case ToolCall(tool=tool, args=args):
            return _line("→", f"{_who(event)} calls {tool} {_arguments(args)}")
        case ToolResult():
            return _result(payload)
        case TodoUpdate(todos=todos):
            marks = "".join(_line(f"  {_TODO_MARKS.get(todo.status, '·')}", todo.content) for todo in todos)
            return _line("☰", f"{_who(event)} has {count(len(todos), 'thing')} to do") + marks
        case TurnUsageRecorded():
            return _line("·", f"{_who(event)} used {_usage(payload)}", _DIM)
        case JudgeResult(verdict=verdict, feedback=feedback):
            look = "" if verdict == "pass" else _RED
            return _line("§", f"judged: {verdict}", look) + _body(feedback, RESULT_LINES)
        case Chat(answer=answer):
            return _line("?", f"asked: {event.text}") + _body(answer, RESULT_LINES)
        case Output(content=content):
            return _body(content, RESULT_LINES)
    return ""


def _result(result: ToolResult) -> str:
    command = result.payload if isinstance(result.payload, CommandResult) else None
    code = f"exit {command.exit_code}" if command is not None and command.exit_code is not None else ""
    took = age(command.duration) if command is not None and command.duration is not None else ""
    mark, look = ("✕", _RED) if result.is_error else ("←", "")
    body = result.content or (command.stdout + command.stderr if command is not None else "")
    return _line(
        mark, _facts(f"{result.tool} {'failed' if result.is_error else 'gave back'}", code, took), look
    ) + _body(body, RESULT_LINES)


def _usage(used: TurnUsageRecorded) -> str:
    return _facts(
        f"{number(used.input_tokens)} tokens in, {number(used.output_tokens)} out",
        f"${used.cost_usd:.4f}" if used.cost_usd is not None else "",
        age(used.duration_seconds) if used.duration_seconds is not None else "",
        used.model,
    )


def _head(event: RunEvent, mark: str, words: str, look: str = "") -> str:
    return _line(mark, _facts(_who(event), words, clock(event.timestamp)), _BOLD + look)


def _line(mark: str, words: str, look: str = "") -> str:
    return f"{look}{mark} {plain(words)}{_PLAIN if look else ''}\n"


def _body(text: str, most: int) -> str:
    """The first lines of a longer text, indented."""
    lines = printable(text).strip("\n").split("\n") if text.strip() else []
    shown = "".join(f"  {line}\n" for line in lines[:most])
    return shown + (_line("  …", count(len(lines) - most, "more line"), _DIM) if len(lines) > most else "")


def _arguments(args: Any) -> str:
    if isinstance(args, dict) and isinstance(args.get("command"), str) and args["command"]:
        return str(args["command"])
    return "" if args in ({}, None) else _json(args)


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)[:1000]


def _who(event: RunEvent) -> str:
    return event.agent_kind or "agent"


def _stage(stage: str, attempt: int | None) -> str:
    return f"{stage}, attempt {attempt}" if attempt is not None else stage


def _facts(*facts: str | None) -> str:
    return " · ".join(fact for fact in facts if fact)
