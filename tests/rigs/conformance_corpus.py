"""The client wire's corpus as values, and the gate that says what it lacks. The format is in its FORMAT.md."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType

from hopline.wire.client.types import EVENT_TYPES

CORPUS = Path(__file__).parents[1] / "conformance" / "client"
CONTRACT = Path(__file__).parents[2] / "docs" / "wire" / "client.md"

CARRIERS = ("unix", "websocket", "web", "memory", "bridge")
STREAMS = frozenset({"unix", "bridge"})
"""Carriers of bytes; the others carry whole messages."""

TWELVE = frozenset(
    "WP-" + name
    for name in (
        "GRANULARITY", "FRAME-TYPE", "NEWLINE", "FRAMER", "ROLES", "SUBSCRIBE-ACK", "PROTOCOL-ERROR", "DISCONNECT",
        "HEARTBEAT", "CAPABILITY-PROBE", "REBOOTSTRAP", "IDENTITY",
    )
)  # fmt: skip
"""The common contract's decisions (frontend reference 1.2); the document may have more, never fewer."""

CONTRACT_KINDS = frozenset(
    """
    server_started server_ready configuration_failed run_started experiments_changed run_interrupted run_status_changed
    run_finished run_failed chat chat_thread_created status_query control invocation_started invocation_finished
    agent_execution_started agent_execution_activity_changed agent_execution_finished phase_started phase_finished
    agent_output_chunk subprocess_output judge_result benchmark_result round_finished output tool_call tool_result
    todo_update usage_update turn_usage_recorded rate_limit_update quota_paused quota_resumed quota_abandoned
    quota_waiting quota_wait_cancelled provider_switched gate_started gate_finished workspace_snapshot run_configured
    framework_warning span_started span_updated span_ended
    """.split()  # noqa: SIM905  # a column of names is easier to compare with the reference
)
"""The common contract's event types (frontend reference 5.3); ours are read from the document."""

TOKEN = re.compile(r"\bWP-[A-Z]+(?:-[A-Z]+)*\b")


class Strict(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, frozen=True):
    """A misspelled member of a fixture is an error, never a check that does not happen."""


class Repeated(Strict):
    """`before`, then `text` `times` times, then `after`."""

    text: str
    times: int
    before: str = ""
    after: str = ""

    def __str__(self) -> str:
        return self.before + self.text * self.times + self.after


class Executions(Strict):
    """Active executions of the run: how many, and how many bytes each one's assignment has."""

    count: int
    assignment_bytes: int


class Setup(Strict):
    """The run before the first step."""

    outputs: int = 0
    output_bytes: int = 1
    store_id: str = ""
    without: list[str] = []
    """Fields of subscribe that this server does not know."""
    scratch: bool = False
    """The run's state folder has not answered: its events are in memory."""
    replay_fails: bool = False
    read_only: bool = False
    worker: bool = False
    """A worker has started."""
    executions: Executions | None = None
    every_kind: bool = False
    """Record one event of every form in payloads/."""
    kinds: list[str] = []
    """Record one event of each of these types."""


class Client(Strict):
    """One of several clients."""

    transport: Literal["unix", "websocket"]


class Step(Strict):
    """One step; FORMAT.md says what each member means."""

    dir: Literal["c2s", "s2c", "run"]
    client: str = ""
    note: str = ""
    # c2s
    frame: dict[str, Any] | None = None
    text: str | Repeated | None = None
    base64: bytes | None = None
    unfinished: bool = False
    act: Literal["", "end", "close", "stop_reading", "read_on", "connect"] = ""
    # s2c
    expect: dict[str, Any] | UnsetType = UNSET
    sequences: str = ""
    through: int = 0
    frames: list[int] = []
    types: list[str] | None = None
    kinds: Literal["", "every"] = ""
    executions: int | None = None
    checkpoint: int | None = None
    quiet: bool = False
    # run
    do: Literal["", "publish", "burst", "attach_store", "record", "subscribers", "hold_input"] = ""
    outputs: int = 0
    output_bytes: int = 1
    bursts: int = 1
    value: Any = None


class Scenario(Strict):
    """One file of scenarios/."""

    id: str
    title: str
    description: str
    role: Literal["control", "subscribe", "chat"]
    transports: list[Literal["unix", "websocket"]]
    decisions: list[str]
    steps: list[Step]
    clients: dict[str, Client] = {}
    setup: Setup = Setup()
    needs: Literal["", "stream", "message"] = ""
    """What only some carriers are: a stream of bytes, or messages in frames."""
    whole_only: bool = False
    """Too much to be cut into single bytes in every run of the tests."""


class Runner(Strict):
    """One file of runners/: a carrier and what it replays."""

    id: str
    description: str
    carriers: dict[str, str]
    """What carries each transport that a scenario's client may name; a single client gets the runner's own."""
    pieces: list[int | Literal["whole", "random"]]
    groups: dict[str, list[str]]

    @property
    def scenarios(self) -> list[str]:
        return [name for group in self.groups.values() for name in group]


class Corpus:
    """What a folder holds. Raises ValueError at a file that is no fixture of its sort.

    Args:
        folder: laid out as tests/conformance/client.
        contract: the document whose tokens and event types count.
    """

    def __init__(self, folder: Path = CORPUS, contract: Path = CONTRACT) -> None:
        self.contract = contract.read_text()
        self.events = {path.stem: msgspec.json.decode(path.read_bytes()) for path in _files(folder / "events")}
        self.payloads = {path.stem: msgspec.json.decode(path.read_bytes()) for path in _files(folder / "payloads")}
        self.scenarios = {path.stem: _read(path, Scenario) for path in _files(folder / "scenarios")}
        self.runners = {path.stem: _read(path, Runner) for path in _files(folder / "runners")}

    @property
    def tokens(self) -> set[str]:
        """Every decision there is."""
        return TWELVE | set(TOKEN.findall(self.contract))

    @property
    def kinds(self) -> set[str]:
        """Every event type there is: the common ones, our enum's, and those that the document marks as ours."""
        marked = re.findall(r"`([a-z][a-z_]+)`\*", _section(self.contract, "Events"))
        listed = re.findall(r"`([a-z][a-z_]+)`", _line(self.contract, "- Event types "))
        return CONTRACT_KINDS | EVENT_TYPES | {name for name in (*marked, *listed) if "_" in name}

    def problems(self) -> list[str]:
        """Why the gate fails, one sentence each; empty when it does not."""
        return [*self._about_events(), *self._about_scenarios(), *self._about_runners()]

    def _about_events(self) -> Iterable[str]:
        for sort, found in (("event", self.events), ("payload", self.payloads)):
            yield from (f"{kind} has no {sort} fixture" for kind in sorted(self.kinds - found.keys()))
            yield from (f"the {sort} fixture {kind} is of no event type" for kind in sorted(found.keys() - self.kinds))
        for kind, event in self.events.items():
            if event.get("type") != kind or not event.get("timestamp"):
                yield f"the event fixture {kind} is no event of its type with a timestamp"
            if "data" in event:
                yield f"the event fixture {kind} holds a payload; that belongs into payloads/"
        for kind, forms in self.payloads.items():
            if not forms:
                yield f"the payload fixture {kind} has no form"

    def _about_scenarios(self) -> Iterable[str]:
        known = self.tokens
        shown = {token for scenario in self.scenarios.values() for token in scenario.decisions}
        yield from (f"{token} is exercised by no scenario" for token in sorted(known - shown))
        for name, scenario in self.scenarios.items():
            yield from (f"{name} names {token}, which no document knows" for token in set(scenario.decisions) - known)
            if scenario.id != name:
                yield f"{name} calls itself {scenario.id}"
            if not scenario.decisions:
                yield f"{name} names no decision"
            yield from (f"{name}, step {at}: {what}" for at, what in _misshapen(scenario))

    def _about_runners(self) -> Iterable[str]:
        for name in CARRIERS:
            if name not in self.runners:
                yield f"no runner replays anything over {name}"
        for name, runner in self.runners.items():
            listed = runner.scenarios
            if runner.id != name:
                yield f"the runner {name} calls itself {runner.id}"
            yield from (f"{name} lists {one} twice" for one in {one for one in listed if listed.count(one) > 1})
            yield from (f"{name} lists {one}, which there is not" for one in listed if one not in self.scenarios)
            due = {one for one, scenario in self.scenarios.items() if name in carriers_of(scenario)}
            yield from (f"{one} is not replayed over {name}" for one in sorted(due - set(listed)))
            kept = [one for one in listed if one in self.scenarios and one not in due]
            yield from (f"{one} cannot be replayed over {name}" for one in kept)


def carriers_of(scenario: Scenario) -> set[str]:
    """The carriers that a scenario must be replayed over."""
    found = {
        ("unix", "websocket"): set(CARRIERS),
        ("unix",): {"unix", "bridge", "memory"},
        ("websocket",): {"websocket", "web", "memory"},
    }[tuple(sorted(scenario.transports))]
    match scenario.needs:
        case "stream":
            return found & STREAMS
        case "message":
            return found - STREAMS - {"memory"}
        case _:
            return found


def _misshapen(scenario: Scenario) -> Iterable[tuple[int, str]]:
    if scenario.clients and len(scenario.clients) < 2:
        yield 0, "one client needs no name"
    for at, step in enumerate(scenario.steps, 1):
        if step.dir != "run" and bool(step.client) != bool(scenario.clients):
            yield at, "a client is named iff the scenario declares some"
        if step.client and step.client not in scenario.clients:
            yield at, f"there is no client {step.client}"
        said = [step.frame is not None, step.text is not None, step.base64 is not None, bool(step.act)]
        match step.dir:
            case "c2s" if sum(said) != 1 or step.expect is not UNSET or step.do:
                yield at, "a client sends a frame, a text or bytes, or acts; one of them"
            case "s2c" if any(said) or step.do or (step.expect is UNSET) == (not step.quiet):
                yield at, "something is expected of the server, or quiet"
            case "s2c" if not step.quiet and "type" not in step.expect:  # type: ignore[operator]  # not UNSET here
                yield at, "what is expected has a type"
            case "run" if any(said) or step.expect is not UNSET or not step.do:
                yield at, "the run does something"


def expand(sequences: str) -> list[int]:
    """`1-3,7` as [1, 2, 3, 7]."""
    found: list[int] = []
    for part in filter(None, sequences.split(",")):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def _files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.json"))


def _read(path: Path, sort: type[Any]) -> Any:
    try:
        return msgspec.json.decode(path.read_bytes(), type=sort)
    except msgspec.MsgspecError as error:
        raise ValueError(f"{path.name}: {error}") from error


def _section(text: str, title: str) -> str:
    return text.split(f"\n## {title}\n")[-1].split("\n## ")[0]


def _line(text: str, start: str) -> str:
    """The list entry that begins so, with its continuation lines."""
    return text.split(f"\n{start}")[1].split("\n- ")[0] if f"\n{start}" in text else ""


@cache
def corpus() -> Corpus:
    """The one that is checked in."""
    return Corpus()
