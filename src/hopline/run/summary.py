"""Answers a question about a run from its record alone, by the words in it. Deterministic and read-only. Pure.

Source: docs/wire/client.md, "Chat without an agent" (frontend reference 2, notes).
"""

import re
from collections.abc import Callable

from hopline.run.facts import Facts
from hopline.wire.client.state import RunSnapshot

NOTICE = "No agent is available to answer. This is what the run's record says."

MAX_NAMED = 5
"""How many remaining processes, executions or threads are named."""


def answer(question: str, thread_id: str | None, snapshot: RunSnapshot, facts: Facts) -> str:
    """The summary that the words of `question` ask for, the status when they ask for nothing known."""
    words = set(re.findall(r"[a-z]+", question.lower()))
    parts = [part for keywords, part in _PARTS if any(word.startswith(keywords) for word in words)]
    told = [sentence for part in parts or [_status] for sentence in part(snapshot, facts)]
    lines = [NOTICE, *dict.fromkeys(told)]
    if thread_id is not None and all(thread.thread_id != thread_id for thread in snapshot.chat_threads):
        lines.insert(1, f"There is no chat thread {thread_id!r}.")
    return "\n".join(lines)


def _status(snapshot: RunSnapshot, facts: Facts) -> list[str]:
    lines = [f"The run is {snapshot.status} at event {snapshot.sequence}."]
    if facts.started_at is not None:
        lines.append(f"It started at {facts.started_at}.")
    if facts.ended_at is not None:
        lines.append(f"It ended at {facts.ended_at}.")
    return lines + _failure(snapshot, facts)


def _failure(_: RunSnapshot, facts: Facts) -> list[str]:
    if facts.failure is None:
        return ["No failure is recorded."]
    return [f"What ended it: {facts.failure}"]


def _command(_: RunSnapshot, facts: Facts) -> list[str]:
    if facts.command is None:
        return ["Its start is not recorded yet."]
    return [f"It runs: {facts.command}" + (f" in {facts.cwd}" if facts.cwd is not None else "")]


def _worker(_: RunSnapshot, facts: Facts) -> list[str]:
    if facts.generation == 0:
        return ["No worker has started."]
    lines = [f"Worker {facts.generation} is process {facts.pid}, by the runner {facts.runner}."]
    lines.append(f"It {facts.outcome}." if facts.outcome is not None else "How it ended is not recorded.")
    if facts.descendants is not None:
        lines.append(f"What it started is {facts.descendants}.")
    if facts.remaining:
        lines.append(f"Remaining: {_named(facts.remaining)}.")
    return lines


def _output(_: RunSnapshot, facts: Facts) -> list[str]:
    lines = ["Its output is in the run's events; read them with hopline logs."]
    if facts.dropped:
        lines.append(f"The oldest {facts.dropped} events were dropped to keep the journal within its bound.")
    return lines


def _agents(snapshot: RunSnapshot, facts: Facts) -> list[str]:
    running = [f"{one.agent_kind} ({one.activity.summary})" for one in snapshot.active_executions]
    lines = [f"Agents at work: {_named(running)}." if running else "No agent is at work."]
    if snapshot.round_label is not None:
        lines.append(f"The newest round is {snapshot.round_label}.")
    if facts.rounds:
        lines.append(f"Rounds finished: {facts.rounds}.")
    return lines


def _named(names: "list[str] | tuple[str, ...]") -> str:
    more = f" and {len(names) - MAX_NAMED} more" if len(names) > MAX_NAMED else ""
    return ", ".join(names[:MAX_NAMED]) + more


Part = Callable[[RunSnapshot, Facts], list[str]]

_PARTS: tuple[tuple[tuple[str, ...], Part], ...] = (
    (("status", "state", "how", "progress", "doing", "done", "finish", "when", "long"), _status),
    (("why", "fail", "error", "wrong", "crash", "broke", "regress", "end", "stop"), _failure),
    (("command", "what", "run", "start", "folder", "where"), _command),
    (("worker", "process", "pid", "exit", "signal", "kill", "alive", "descend", "child", "remain"), _worker),
    (("output", "log", "print", "wrote", "say", "said", "journal", "drop"), _output),
    (("agent", "round", "attempt", "execution", "turn", "task", "hypothes", "experiment"), _agents),
)
