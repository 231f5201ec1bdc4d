"""Scenarios of the peer wire as text, one step a line, replayed on the machine of one connection.

# prose
tokens: PL-…                       which decisions it shows
role: listener                     which end we are; or dialler
key: bob-0b0b0b0b                  a peer's id in our ring (with the key of the test vectors); for a dialler its key
pending: yes                       the ring's pending key is that key
expect: alice-0a0a0a0a             whom a dialler wants
offer: unknown-ok …                what we offer; else everything
own-nonce: …                       a nonce our own listener has outstanding
one-shot: yes                      a dialler's transient connection

peer: {…}                          a line, exactly as typed; `$PROOF` is what the key proves, `$NONCE` the nonce
peer: bytes b"…"                   these bytes
peer: repeat 1048577 b"x"          that many times these bytes
peer: frame {…}                    a binary frame, not compressed
peer: lz4 {…}                      a binary frame, compressed; `$PAD` is 2000 letters
peer: raw {…}                      a binary frame with bytes behind the JSON; `raw-nothing` has none
peer: EOF
ours: {"msg_type": …}              the next frame of the opening that we sent, its keys as far as named
event: authenticated {"peer": …}   the next event, its fields as far as named
event: received heartbeat          or its type
state: may_send=False …            properties of the connection
sends: frame 120 heartbeat {…}     what we would send now: framing (line, frame, lz4, raw) and payload
"""

import ast
import json
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent / "scenarios"
SETTINGS = ("tokens", "role", "key", "pending", "expect", "offer", "own-nonce", "one-shot")
ACTORS = ("peer", "ours", "event", "state", "sends")


@dataclass(frozen=True)
class Step:
    """One line."""

    line: int
    actor: str
    text: str


@dataclass
class Scenario:
    """One file."""

    title: str
    settings: dict[str, str] = field(default_factory=dict)
    steps: list[Step] = field(default_factory=list)

    @property
    def tokens(self) -> list[str]:
        return self.settings.get("tokens", "").split()


def load(path: Path) -> Scenario:
    """Read one file. Raises ValueError at what it does not understand."""
    scenario = Scenario(path.stem)
    for number, text in enumerate(path.read_text().split("\n"), 1):
        if not text.strip() or text.startswith("#"):
            continue
        head, _, rest = text.partition(": ")
        if head in SETTINGS:
            scenario.settings[head] = f"{scenario.settings.get(head, '')} {rest}".strip()
        elif head in ACTORS:
            scenario.steps.append(Step(number, head, rest))
        else:
            raise ValueError(f"line {number} is no step: {text}")
    return scenario


def typed_bytes(text: str) -> bytes:
    """`bytes …` and `repeat N …`."""
    kind, _, rest = text.partition(" ")
    if kind == "repeat":
        count, _, rest = rest.partition(" ")
        return bytes(ast.literal_eval(rest)) * int(count)
    return bytes(ast.literal_eval(rest))


def named_fields(text: str) -> dict[str, object]:
    """What stands between braces; nothing when there are none."""
    fields = json.loads(text) if text else {}
    assert isinstance(fields, dict)
    return fields
