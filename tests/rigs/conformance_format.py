"""The files of the client wire's corpus as strict values. The format is in its FORMAT.md."""

from typing import Any, Literal

import msgspec
from msgspec import UNSET, UnsetType


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
    terminal: bool = False
    """It has a terminal of 80 columns and 24 rows."""
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


def expand(sequences: str) -> list[int]:
    """`1-3,7` as [1, 2, 3, 7]."""
    found: list[int] = []
    for part in filter(None, sequences.split(",")):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found
