"""The runs of another machine, asked of `hopline host` there over one ssh channel (docs/wire/bridge.md).

The channel that listed the runs becomes the bridge to one of them, which saves a connection where each is slow.
"""

import os
import select
import time
from collections.abc import Sequence

import msgspec

from hopline.client.ssh import SshChannel
from hopline.client.targets import OverSsh
from hopline.errors import HoplineError, RunGone, Unavailable, UsageError
from hopline.records import ENDED, RunRecord
from hopline.wire.jsonl import LineSplitter

ANSWER_SECONDS = 30.0
MAX_ANSWER_BYTES = 64 << 20
READ_BYTES = 1 << 20


class FarRecord(RunRecord, frozen=True, forbid_unknown_fields=False, kw_only=True):
    """A record written by another hopline, newer perhaps."""


class _Instances(msgspec.Struct, frozen=True):
    instances: list[FarRecord]
    unverified: list[str] = []


class _Answer(msgspec.Struct, frozen=True):
    ok: bool
    error: str | None = None
    instances: _Instances | None = None


class HostListing(msgspec.Struct, frozen=True):
    """The runs of a machine, oldest first, and the ids of those that cannot be judged."""

    records: list[FarRecord]
    unverified: list[str]


_answers = msgspec.json.Decoder(_Answer)


class HostChannel:
    """Asks one host as often as wanted; blocking.

    Args:
        target: the host; its run does not matter.

    Raises Unavailable when ssh cannot be started.
    """

    def __init__(self, target: OverSsh) -> None:
        self._ssh = SshChannel(target, ("hopline", "host"))
        self._host = target.host
        self._socket = self._ssh.take_socket()
        self._splitter = LineSplitter(MAX_ANSWER_BYTES)

    def runs(self, *, ended: bool = True) -> HostListing:
        """The runs there are; with `ended` those too whose server has left. Raises Unavailable."""
        answer = self._ask({"type": "instances.list", "all": ended})
        if not answer.ok or answer.instances is None:
            raise Unavailable(f"the runs on {self._host} cannot be listed: {answer.error}")
        return HostListing(answer.instances.instances, answer.instances.unverified)

    def find(self, run: str) -> FarRecord:
        """The run that `run` means there. Raises RunGone, UsageError or Unavailable."""
        return choose(self.runs().records, run, self._host)

    def become_bridge(self, run_id: str) -> SshChannel:
        """The channel as the bridge to a run, its socket not taken; this object is of no more use.

        Raises RunGone, ConnectDenied, ConnectFailed or Unavailable; then it is closed.
        """
        try:
            answer = self._ask({"type": "run.connect", "instance_id": run_id})
            if not answer.ok:
                raise Unavailable(f"the host program on {self._host} refused: {answer.error}")
        except HoplineError:
            self.close()
            raise
        self._ssh.put_back(self._socket)
        return self._ssh

    def close(self) -> None:
        """Hang up."""
        self._socket.close()
        self._ssh.close()

    def _ask(self, request: dict[str, object]) -> _Answer:
        try:
            self._socket.sendall(msgspec.json.encode({**request, "request_id": os.urandom(16).hex()}) + b"\n")
            line = self._line(time.monotonic() + ANSWER_SECONDS)
        except OSError:
            line = None
        if line is None:
            raise self._ssh.explain() or Unavailable(f"the host program on {self._host} left before it answered.")
        try:
            return _answers.decode(line)
        except (msgspec.MsgspecError, ValueError) as error:
            raise Unavailable(f"the host program on {self._host} answered {line[:80]!r}: {error}") from error

    def _line(self, deadline: float) -> bytes | None:
        poller = select.poll()
        poller.register(self._socket, select.POLLIN)
        while True:
            if not poller.poll(max(0.0, deadline - time.monotonic()) * 1000):
                raise Unavailable(f"{self._host} did not answer within {ANSWER_SECONDS:g} s; is it there?")
            data = self._socket.recv(READ_BYTES)
            if not data:
                return None
            for line in self._splitter.receive(data):
                return line


class FarRun:
    """One run of another machine: found by name once, then by id, and connected to as often as wanted. Blocking.

    Args:
        target: where, and which.
    """

    def __init__(self, target: OverSsh) -> None:
        self.host = target.host
        self.record: FarRecord | None = None
        self._target = target
        self._spare: HostChannel | None = None

    def find(self) -> FarRecord:
        """Look the run up again. Raises RunGone, UsageError or Unavailable."""
        self.close()
        channel = HostChannel(self._target)
        try:
            self.record = channel.find(self._target.run if self.record is None else self.record.id)
        except HoplineError:
            channel.close()
            raise
        self._spare = channel
        return self.record

    def connect(self) -> SshChannel:
        """A bridge to the run. Raises RunGone, ConnectDenied, ConnectFailed or Unavailable, now or when it is read."""
        record = self.record or self.find()
        spare, self._spare = self._spare, None
        if spare is not None:
            return spare.become_bridge(record.id)
        return SshChannel(self._target, ("hopline", "bridge", record.id))

    @property
    def live(self) -> bool:
        """Whether its own server answered when it was looked up last."""
        return self.record is not None and self.record.status not in ENDED | {"interrupted"}

    def close(self) -> None:
        """Hang up what no connection has taken."""
        spare, self._spare = self._spare, None
        if spare is not None:
            spare.close()


def choose(records: Sequence[FarRecord], run: str, host: str) -> FarRecord:
    """As `records.resolve`, among records at hand, oldest first. Pure."""
    if run == "@last" and records:
        return records[-1]
    for matches in ([one for one in records if one.id == run], [one for one in records if one.name == run]):
        if matches:
            return matches[-1]
    prefixed = [one for one in records if run and one.id.startswith(run)]
    if len(prefixed) > 1:
        ids = ", ".join(one.id for one in prefixed[:5])
        raise UsageError(f"{run!r} begins {len(prefixed)} run ids on {host} ({ids}); write more of it.")
    if not prefixed:
        raise RunGone(f"{host} has no run {run!r}; list them: hopline ls --ssh {host} --all")
    return prefixed[0]
