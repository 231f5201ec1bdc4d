"""The client wire's corpus, and the gate that says what it lacks."""

import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from conformance_format import Runner, Scenario
from msgspec import UNSET

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

CONTRACT_SCENARIOS = frozenset(
    """
    full-replay-bootstrap tail-bootstrap-spine-prepend heartbeat-probe command-ack-roundtrip chat-dedicated-connection
    dual-transport-independent-subscriptions tail-overflow-rebootstrap capability-probe-tail-rejected
    capability-probe-store-id-rejected framer-partial-read protocol-error-then-close resume-after-drop
    store-swap-rebootstrap
    """.split()  # noqa: SIM905  # a column of names is easier to compare with the reference
)
"""The scenarios that every corpus of this contract has (frontend reference 12.3)."""

TOKEN = re.compile(r"\bWP-[A-Z]+(?:-[A-Z]+)*\b")


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
        missing = sorted(CONTRACT_SCENARIOS - self.scenarios.keys())
        yield from (f"the contract's scenario {name} is missing" for name in missing)
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
