"""Which agents' turns are under way: the fold of agent_execution_* events, and of their legacy twins. Pure.

Source: docs/wire/client.md, "Active executions" (frontend reference 6.2).
"""

import msgspec
from msgspec.structs import replace

from hopline.wire.client.canonical import as_execution
from hopline.wire.client.checkpoint import NO_EXECUTIONS, ExecutionList
from hopline.wire.client.events import RunEvent
from hopline.wire.client.payload import Payload
from hopline.wire.client.state import ActiveExecution
from hopline.wire.client.turns import (
    Activity,
    AgentExecutionActivityChanged,
    AgentExecutionFinished,
    AgentExecutionStarted,
    InvocationFinished,
    InvocationStarted,
)

_encoder = msgspec.json.Encoder()


class Executions:
    """The turns that have started and not finished, in the order in which they started."""

    def __init__(self) -> None:
        self.modern: set[str] = set()
        """Executions that agent_execution_* events tell of; their legacy twins say nothing new."""
        self._active: dict[str, ActiveExecution] = {}
        self._list: ExecutionList | None = NO_EXECUTIONS

    def active(self) -> list[ActiveExecution]:
        """The list at present."""
        return list(self._active.values())

    def listed(self) -> ExecutionList:
        """The list as subscribers get it; the same object until it changes."""
        if self._list is None:
            self._list = ExecutionList(_encoder.encode(self.active()))
        return self._list

    def clear(self) -> None:
        """The run is over."""
        if self._active:
            self._active.clear()
            self._list = None

    def fold(self, event: RunEvent, payload: Payload | None) -> None:
        """Take `event` in; one without an execution, or of another kind, changes nothing."""
        execution_id = event.execution_id
        if execution_id is None:
            return
        if isinstance(payload, InvocationStarted | InvocationFinished):
            if execution_id in self.modern:
                return
            payload = as_execution(event, payload)
        elif event.type.startswith("agent_execution_"):
            self.modern.add(execution_id)
        match payload:
            case AgentExecutionStarted():
                self._active[execution_id] = _started(event, execution_id, payload)
            case AgentExecutionActivityChanged() if execution_id in self._active:
                activity = Activity(mode=payload.mode, summary=payload.summary, tool=payload.tool)
                self._active[execution_id] = replace(self._active[execution_id], activity=activity)
            case AgentExecutionFinished() if execution_id in self._active:
                del self._active[execution_id]
            case _:
                return
        self._list = None


def _started(event: RunEvent, execution_id: str, payload: AgentExecutionStarted) -> ActiveExecution:
    return ActiveExecution(
        execution_id=execution_id,
        agent_kind=event.agent_kind or "",
        round_label=event.round_label or "",
        stage=payload.stage,
        attempt=payload.attempt,
        assignment=payload.user_prompt,
        started_at=event.timestamp,
        activity=payload.activity,
        provider=payload.provider,
        model=payload.model,
    )
