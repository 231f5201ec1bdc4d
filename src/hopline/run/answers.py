"""Turns one request into its one Response, on a live run and on one that only serves its record.

A new request type is one more case here (docs/wire/client.md, "Requests").
"""

from typing import Any, Protocol, Unpack, assert_never

from hopline.clock import rfc3339
from hopline.errors import HoplineError, Misuse, Refused
from hopline.ids import new_store_id
from hopline.journal.port import EventStore
from hopline.run.commits import Commits
from hopline.run.fold import RunFold
from hopline.run.history import History
from hopline.run.summary import answer
from hopline.wire.client.commands import (
    Command,
    CommandInput,
    CommandInterrupt,
    CommandPause,
    CommandResize,
    CommandRestart,
    CommandResume,
    CommandSteer,
    CommandStop,
)
from hopline.wire.client.diagnostics import Code, Diagnostic, diagnosed
from hopline.wire.client.events import EnvelopeFields
from hopline.wire.client.payload import Payload
from hopline.wire.client.queries import (
    QueryChat,
    QueryChatOptions,
    QueryChatThreadCreate,
    QueryDesign,
    QueryDesignPatch,
    QueryEvents,
    QueryExperiments,
    QueryHistory,
    QueryIterations,
    QueryPerformance,
    QuerySnapshot,
    QueryTuiDefaults,
)
from hopline.wire.client.requests import Request, Subscribe
from hopline.wire.client.responses import Ack, Response, encode_response, failed
from hopline.wire.client.sections import ChatAnswer, IterationsUnavailable
from hopline.wire.client.session import Received, Rejected
from hopline.wire.client.turns import Chat

Sections = dict[str, Any]


class Controls(Protocol):
    """What commands need of a live run. Each raises Refused when it is not possible now."""

    def without_agent(self, action: str, text: str) -> Ack: ...
    def stop(self, grace_seconds: float | None) -> Ack: ...
    async def interrupt(self) -> Ack: ...
    async def input(self, data: bytes, close: bool) -> Ack: ...
    def resize(self, columns: int, rows: int) -> Ack: ...
    def restart(self, grace_seconds: float | None) -> Ack: ...
    def note(self, kind: str, data: Payload | None = None, **fields: Unpack[EnvelopeFields]) -> int | None: ...


class Answers:
    """Answers the requests of every connection.

    Args:
        store: the run's events.
        fold: their snapshot.
        commits: tells of new events; None when there will be none.
        controls: the live run; None refuses every command with `run_read_only`.
    """

    def __init__(self, store: EventStore, fold: RunFold, commits: Commits | None, controls: Controls | None) -> None:
        self._store = store
        self._fold = fold
        self._history = History(store, fold, commits)
        self._controls = controls

    def reject(self, rejected: Rejected) -> bytes:
        """The Response to what was no request."""
        return encode_response(failed(rejected.request_id, rejected.client_id, rfc3339(), rejected.diagnostic))

    async def answer(self, received: Received) -> bytes:
        """The Response to a request other than subscribe; it may wait as long as the request says."""
        try:
            sections = await self._sections(received.request)
        except (HoplineError, OSError) as error:
            return encode_response(failed(received.request_id, received.client_id, rfc3339(), _told(error)))
        return encode_response(
            Response(request_id=received.request_id, client_id=received.client_id, timestamp=rfc3339(), **sections)
        )

    async def _sections(self, request: Request) -> Sections:
        match request:
            case QuerySnapshot():
                return {"snapshot": self._fold.snapshot(self._store.committed_sequence)}
            case QueryEvents():
                return {"events": await self._history.page(request)}
            case QueryHistory():
                self._note("/history")
                return {"events": await self._history.whole()}
            case QueryChat():
                return await self._chat(request)
            case QueryChatThreadCreate():
                self._live()
                raise _no_agent("There is no agent to open a chat thread with: this run is a plain command.")
            case QueryChatOptions() | QueryTuiDefaults() | QueryDesignPatch():
                return {}
            case QueryPerformance():
                self._note("/perf")
                return {}
            case QueryExperiments():
                self._note("/experiments")
                return {"experiments_ready": False}
            case QueryDesign():
                self._note("/design")
                return {"design_ready": False}
            case QueryIterations():
                return {"iterations": IterationsUnavailable(reason="not_attached")}
            case Subscribe():
                raise Misuse("subscribe has no Response")
            case _:
                return {"ack": await self._command(request)}

    async def _command(self, command: Command) -> Ack:
        if isinstance(command, CommandResume) and command.fallback and command.when == "capacity_returns":
            raise Refused(
                "fallback goes on with another provider now; it cannot wait for capacity.", code=Code.INVALID_REQUEST
            )
        live = self._live()
        match command:
            case CommandPause():
                return live.without_agent("pause", "/pause")
            case CommandResume(when="capacity_returns"):
                raise Refused(
                    "The run is not paused on a capacity limit; nothing was changed.",
                    code=Code.CAPACITY_WAIT_UNAVAILABLE,
                )
            case CommandResume():
                return live.without_agent("resume", "/resume")
            case CommandSteer(text=text):
                return live.without_agent("steer", f"/steer: {text}")
            case CommandStop(grace_ms=grace):
                return live.stop(_seconds(grace))
            case CommandInterrupt():
                return await live.interrupt()
            case CommandInput():
                return await live.input(command.data(), command.close)
            case CommandResize(columns=columns, rows=rows):
                return live.resize(columns, rows)
            case CommandRestart(grace_ms=grace):
                return live.restart(_seconds(grace))
            case _:
                assert_never(command)

    async def _chat(self, query: QueryChat) -> Sections:
        snapshot = self._fold.snapshot(self._store.committed_sequence)
        text = answer(query.text, query.thread_id, snapshot, self._fold.facts)
        sections: Sections = {
            "chat": ChatAnswer(question=query.text, answer=text, thread_id=query.thread_id),
        }
        if self._controls is not None:
            sequence = self._controls.note(
                "chat",
                Chat(answer=text),
                text=query.text,
                status="answered",
                agent_kind="chat",
                round_label="experiment-chat",
                invocation_id=new_store_id(),
                chat_thread_id=query.thread_id,
            )
            if sequence is not None:
                sections["events"] = await self._history.one(sequence)
        return sections

    def _live(self) -> Controls:
        if self._controls is None:
            raise Refused("The run has ended; only its record is served.", code=Code.RUN_READ_ONLY)
        return self._controls

    def _note(self, text: str) -> None:
        if self._controls is not None:
            self._controls.note("status_query", text=text)


def _seconds(milliseconds: int | None) -> float | None:
    return None if milliseconds is None else milliseconds / 1000


def _no_agent(sentence: str) -> Refused:
    return Refused(sentence, code=Code.OPERATION_FAILED)


_NEVER = frozenset({Code.RUN_READ_ONLY, Code.WORKER_ENDED, Code.INPUT_CLOSED, Code.INVALID_REQUEST, Code.NO_TERMINAL})


def _told(error: HoplineError | OSError) -> Diagnostic:
    if isinstance(error, OSError):
        return diagnosed(new_store_id(), Code.OPERATION_FAILED, "Request failed", detail=str(error), scope="run")
    code = error.code if isinstance(error, Refused) else Code.OPERATION_FAILED
    retryability = "never" if code in _NEVER else "unknown"
    if code == Code.CAPACITY_WAIT_UNAVAILABLE:
        retryability = "manual"
    return diagnosed(new_store_id(), code, str(error), scope="run", retryability=retryability)
