"""The payloads that the run of a plain command records; `kinds` knows all the others.

Readers ignore keys they do not know (docs/wire/client.md, "Events"). The worker_* kinds, journal_dropped, and
`offset` and `raw` of subprocess_output are beyond the seed.
"""

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from hopline.wire.client.overview import RunOverview
from hopline.wire.client.payload import Payload

__all__ = [
    "Descendant",
    "Descendants",
    "FrameworkWarning",
    "JournalDropped",
    "Known",
    "Payload",
    "RunInterrupted",
    "RunStarted",
    "RunStatusChanged",
    "ServerReady",
    "SubprocessOutput",
    "WorkerExited",
    "WorkerRetired",
    "WorkerSignaled",
    "WorkerStarted",
]

StatusWord = Annotated[
    str,
    Meta(examples=["starting", "running", "pausing", "paused", "stopping", "stopped", "completed", "failed"]),
]
RunnerWord = Annotated[str, Meta(examples=["direct", "bwrap"])]


class ServerReady(Payload, frozen=True, kw_only=True, tag="server_ready"):
    """The server listens."""

    socket_protocol: Annotated[str, Meta(examples=["jsonl"])] = "jsonl"


class RunStarted(Payload, frozen=True, kw_only=True, tag="run_started"):
    """What the run is."""

    outer_loop: Annotated[str, Meta(examples=["command"])] = "command"
    """`command` for a plain one; the search that runs agents otherwise."""
    input: str
    """The command as a shell would read it."""
    max_rounds: int | None = None
    expected_roles: list[str] = msgspec.field(default_factory=list)
    overview: RunOverview | None = None


class RunStatusChanged(Payload, frozen=True, kw_only=True, tag="run_status_changed"):
    """One move of the status machine."""

    status: StatusWord
    previous: StatusWord


class RunInterrupted(Payload, frozen=True, kw_only=True, tag="run_interrupted"):
    """The run was ended from outside."""

    reason: str
    signal: int | None = None
    """The signal that the run server got, when that was the reason."""


class FrameworkWarning(Payload, frozen=True, kw_only=True, tag="framework_warning"):
    """Something a person should know; also in the envelope's diagnostic."""

    summary: str
    detail: str | None = None
    source: Annotated[str, Meta(examples=["gates", "git_tracking", "loop", "gpu", "skypilot", "other"])] = "other"
    source_label: str | None = None


class WorkerStarted(Payload, frozen=True, kw_only=True, tag="worker_started"):
    """Beyond the seed: a generation's direct worker runs."""

    generation: int
    pid: int
    """In the relay's pid namespace."""
    argv: list[str]
    cwd: str
    runner: RunnerWord
    """direct or bwrap: what was really used."""


class WorkerExited(Payload, frozen=True, kw_only=True, tag="worker_exited"):
    """Beyond the seed: the direct worker's exit code."""

    generation: int
    code: int


class WorkerSignaled(Payload, frozen=True, kw_only=True, tag="worker_signaled"):
    """Beyond the seed: the signal that ended the direct worker."""

    generation: int
    signal: int


class Descendant(msgspec.Struct, frozen=True, kw_only=True):
    """A process of the run that outlived its worker."""

    pid: int
    name: str
    started_at: str
    """RFC 3339."""
    start_time: float
    """Seconds from boot to its start; with `pid` it names exactly this process."""


class Descendants(msgspec.Struct, frozen=True, kw_only=True):
    """What became of everything the worker started."""

    state: Annotated[str, Meta(examples=["gone", "remaining", "unknown"])]
    processes: list[Descendant] = []


class WorkerRetired(Payload, frozen=True, kw_only=True, tag="worker_retired"):
    """Beyond the seed: a generation is over: launcher reaped, descendants looked for."""

    generation: int
    runner: RunnerWord
    how: Annotated[str, Meta(examples=["pid namespace ended", "subreaper and marker"])]
    """What the statement about descendants rests on."""
    descendants: Descendants


class JournalDropped(Payload, frozen=True, kw_only=True, tag="journal_dropped"):
    """Beyond the seed: drop-oldest took these events away."""

    first_sequence: int
    last_sequence: int
    bytes: int


class SubprocessOutput(Payload, frozen=True, kw_only=True, tag="subprocess_output"):
    """One piece of what a worker wrote."""

    process_id: str
    """`worker-<generation>`."""
    process_kind: Annotated[str, Meta(examples=["worker"])] = "worker"
    stream: Annotated[str, Meta(examples=["stdout", "stderr"])]
    content: str
    """Text for people; U+FFFD where the bytes are no UTF-8."""
    offset: int = 0
    """Beyond the seed: bytes of this stream and generation before this piece."""
    raw: bytes | UnsetType = UNSET
    """Beyond the seed: the exact bytes (base64 on the wire), only when `content` cannot reproduce them."""

    def written(self) -> bytes:
        """Exactly what the worker wrote."""
        return self.content.encode() if self.raw is UNSET else self.raw


Known = (
    ServerReady
    | RunStarted
    | RunStatusChanged
    | RunInterrupted
    | FrameworkWarning
    | WorkerStarted
    | WorkerExited
    | WorkerSignaled
    | WorkerRetired
    | JournalDropped
    | SubprocessOutput
)
