"""What the host program is asked and what it answers, as strict structs (docs/wire/bridge.md, "The host program")."""

from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from hopline.records import RunRecord
from hopline.wire.client.responses import Diagnostic

MAX_LINE_BYTES = 1 << 20
"""Longest request, its newline not counted."""

MAX_CURSOR_CHARACTERS = 1024
MAX_LOGS = 500

InstanceId = Annotated[str, Meta(pattern=r"^[0-9a-f]{12}\Z")]
Cursor = Annotated[str, Meta(min_length=1, max_length=MAX_CURSOR_CHARACTERS)]


class HostRequestBase(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="type"):
    """What every request carries; an unknown key or type is refused."""

    protocol_version: Literal[1] = 1
    request_id: str | UnsetType = UNSET
    """Echoed; made up when absent."""
    client_id: str = ""
    """Echoed."""


class RunConnect(HostRequestBase, frozen=True, kw_only=True, tag="run.connect"):
    """Become the bridge to one run: by id, also when it has ended, or to a socket that somebody listens on."""

    instance_id: InstanceId | None = None
    socket_path: Annotated[str, Meta(min_length=1)] | None = None

    def __post_init__(self) -> None:
        if (self.instance_id is None) == (self.socket_path is None):
            raise ValueError("exactly one of instance_id and socket_path is needed")
        if self.socket_path is not None and "\0" in self.socket_path:
            raise ValueError("socket_path holds a NUL")


class InstancesList(HostRequestBase, frozen=True, kw_only=True, tag="instances.list"):
    """The runs of this machine and user."""

    all: bool = False
    """Ended runs too, which `run.connect` reopens; else only those whose server lives."""


class LogsList(HostRequestBase, frozen=True, kw_only=True, tag="logs.list"):
    """The log streams of one run."""

    run_id: str
    span_id: str | None = None
    """Only streams whose owner names exactly this span; None for all."""
    cursor: Cursor | None = None
    """Where an earlier reply left off."""
    limit: Annotated[int, Meta(ge=1, le=MAX_LOGS)] = 100


HostRequest = RunConnect | InstancesList | LogsList


class Connected(msgspec.Struct, frozen=True, kw_only=True):
    """What the bridge is connected to."""

    instance_id: str | None
    socket_path: str


class RunConnected(msgspec.Struct, frozen=True, kw_only=True):
    """The one line before raw copying."""

    protocol_version: int = 1
    request_id: str
    client_id: str
    ok: bool = True
    connected: Connected


class Instances(msgspec.Struct, frozen=True, kw_only=True):
    """Runs by start time, then id (reference 10)."""

    version: int = 1
    instances: list[RunRecord]
    unverified: list[str]
    """Ids of runs that are there and cannot be judged."""


class RunOwner(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="run"):
    """The run itself."""

    span_id: str | None = None


class AgentTurnOwner(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="agent_turn"):
    """One turn of an agent."""

    execution_id: str
    span_id: str | None = None


class GateStageOwner(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="gate_stage"):
    """One stage of one measurement; `span_id` is the gate's."""

    gate: Literal["build", "accuracy", "benchmark"]
    span_id: str | None = None


class ProcessOwner(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind", tag="process"):
    """One process."""

    process_id: str
    span_id: str | None = None


LogOwner = RunOwner | AgentTurnOwner | GateStageOwner | ProcessOwner


class LogStream(msgspec.Struct, frozen=True, kw_only=True):
    """One log of a run."""

    log_id: str
    owner: LogOwner
    title: str = ""
    size_bytes: Annotated[int, Meta(ge=0)]
    complete: bool
    """Nothing will be added."""
    started_at: str
    ended_at: str | None = None


class Logs(msgspec.Struct, frozen=True, kw_only=True):
    """One page of a run's streams."""

    run_id: str
    streams: list[LogStream]
    next_cursor: str | None = None
    """For the next page; None on the last."""


class HostResponse(msgspec.Struct, frozen=True, kw_only=True):
    """The answer to a listing, in the style of a Response: complete, absent sections null."""

    protocol_version: int = 1
    request_id: str
    client_id: str
    timestamp: str
    ok: bool = True
    error: str | None = None
    diagnostic: Diagnostic | None = None
    instances: Instances | None = None
    logs: Logs | None = None


class HostRequestRefused(ValueError):
    """The line is no request of the host program; the message says where and why."""


_requests: msgspec.json.Decoder[HostRequest] = msgspec.json.Decoder(HostRequest)
_encoder = msgspec.json.Encoder()


def decode_host_request(line: bytes) -> HostRequest:
    """The request in one line. Raises HostRequestRefused."""
    try:
        return _requests.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise HostRequestRefused(str(error)) from error


def encode_host_reply(reply: RunConnected | HostResponse) -> bytes:
    """The reply as one line, its newline included."""
    return _encoder.encode(reply) + b"\n"
