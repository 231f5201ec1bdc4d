"""Scenarios of the worker wire as text, one step a line, the same for the pure core and for real relays.

# prose
tokens: WW-…                     which decisions it shows
only: hopline                    not for the oracle, with the reason in prose
options: --no-sideband           for the relay

controller: {"kind": …}          a command line, exactly as typed; or a bytes literal; or EOF
worker: writes stdout "text"     a str or bytes literal; for the sideband also a frame
worker: reads stdin "text"       what it must find there next; or EOF; for the sideband also a frame
worker: interrupted 2            so many interrupts reached it
worker: closes stdout · exits 3 · signals 9 · stops
child: holds stdout              a descendant in its own session keeps it open
wait: 0.3                        seconds
quiet: 0.2                       so long, and no event came
relay: {"kind": …, "x": "*"}     the next event of its producer; "*" matches anything
relay: stdout "text"             the next bytes of a raw stream
ends: exited 3                   closures and outcome, and nothing else that was not named; `after fatal` and
                                 `at 0.6` (seconds since the first step) where it applies
"""

import ast
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "scenarios"
ENDS = re.compile(r"(exited|signaled) (\d+)( after fatal)?(?: at ([\d.]+))?")

RAW_KINDS = ("stdout", "stderr", "stdout_bytes", "stderr_bytes")
SEMANTIC_KINDS = (
    "ready", "runtime_initialized", "cell_started", "console_output", "console_diagnostic", "image",
    "input_requested", "input_received", "input_cancelled", "completed",
)  # fmt: skip


@dataclass(frozen=True)
class Step:
    """One line: who, does what, to what, with what."""

    line: int
    actor: str
    verb: str
    name: str = ""
    value: Any = None


@dataclass
class Scenario:
    """One file."""

    title: str
    tokens: list[str] = field(default_factory=list)
    only: str = ""
    options: list[str] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)


@dataclass(frozen=True)
class Ending:
    """What `ends:` says."""

    outcome: dict[str, Any]
    fatal: bool
    at: float | None


def load(path: Path) -> Scenario:
    """Read one file. Raises ValueError at what it does not understand."""
    scenario = Scenario(path.stem)
    for number, text in enumerate(path.read_text().split("\n"), 1):
        text = text.strip()
        if not text or text.startswith("#"):
            continue
        head, _, rest = text.partition(": ")
        match head:
            case "tokens":
                scenario.tokens += rest.split()
            case "only":
                scenario.only = rest
            case "options":
                scenario.options += rest.split()
            case _:
                scenario.steps.append(step(number, head, rest))
    return scenario


def step(number: int, actor: str, text: str) -> Step:
    """One step."""
    verb, _, rest = text.partition(" ")
    match actor:
        case "controller":
            return Step(number, actor, "EOF") if text == "EOF" else Step(number, actor, "sends", value=line_of(text))
        case "worker" if verb in ("writes", "reads"):
            name, _, what = rest.partition(" ")
            return Step(number, actor, verb, name, None if what == "EOF" else line_of(what))
        case "worker" if verb in ("closes", "exits", "signals", "stops", "interrupted"):
            return Step(number, actor, verb, rest)
        case "child" if verb == "holds":
            return Step(number, actor, verb, rest)
        case "wait" | "quiet":
            return Step(number, actor, actor, value=float(text))
        case "relay" if verb in ("stdout", "stderr"):
            return Step(number, actor, "raw", verb, literal(rest))
        case "relay":
            return Step(number, actor, "event", value=json.loads(text))
        case "ends" if found := ENDS.fullmatch(text):
            kind, what, fatal, at = found.groups()
            outcome = {"kind": f"worker_{kind}", "code" if kind == "exited" else "signal": int(what)}
            return Step(number, actor, "ends", value=Ending(outcome, bool(fatal), float(at) if at else None))
    raise ValueError(f"line {number} is no step: {actor}: {text}")


def literal(text: str) -> bytes:
    """A str or bytes literal as bytes."""
    value = ast.literal_eval(text)
    return value.encode() if isinstance(value, str) else bytes(value)


def line_of(text: str) -> bytes:
    """A literal as its bytes, anything else as a line exactly as typed."""
    return literal(text) if text[0] in "\"'b" else text.encode() + b"\n"


def producer(event: dict[str, Any]) -> str:
    """Whose event it is: order holds within a producer only."""
    kind = event["kind"]
    if kind in RAW_KINDS:
        return kind.removesuffix("_bytes")
    if kind == "stdin_result":
        return "receipts"
    return "sideband" if kind in SEMANTIC_KINDS else "lifecycle"


def matches(event: dict[str, Any], expected: dict[str, Any]) -> bool:
    """Whether an event is the expected one, "*" standing for any value."""
    return event.keys() == expected.keys() and all(value in ("*", event[key]) for key, value in expected.items())


def block(ending: Ending) -> list[dict[str, Any]]:
    """The terminal block."""
    fatal = [{"kind": "fatal", "message": "*"}] if ending.fatal else []
    closed = {"kind": "worker_sideband_closed"}
    return [{"kind": "stdout_closed"}, {"kind": "stderr_closed"}, *fatal, closed, ending.outcome]
