"""A run that was found, and how to reach it: on this machine by its socket, on another by ssh and its bridge.

Blocking, for the command line. One connection carries one role, so over ssh each is a channel of its own.
"""

from typing import Protocol

from hopline.client import dial, dial_live
from hopline.client.connection import Connection, connect
from hopline.errors import HoplineError, RunGone, Unavailable
from hopline.records import RunRecord, is_live, read_record


class Peer(Protocol):
    """One run, found once."""

    record: RunRecord
    """As it was when it was last looked up."""
    passing: tuple[type[HoplineError], ...]
    """Errors of `dial` that may pass when it is tried again."""

    def connect(self) -> Connection:
        """A connection to the run's own server, never to one that is started for it. Raises RunGone."""

    def dial(self) -> Connection:
        """A connection to the run, live or ended; an ended one is reopened read-only."""

    def dial_live(self, wanted: str) -> Connection:
        """A connection for a command that only a live run can take. Raises RunGone with what there is nothing to do."""

    def look(self) -> bool:
        """Look the run up again. Returns whether its server lives."""

    def held(self) -> str | None:
        """Why the worker is held back, where that can be told without asking far away."""

    def command(self, name: str) -> str:
        """The command line `hopline NAME` for this run, to be shown to a person."""


class LocalPeer:
    """A run of this machine."""

    passing: tuple[type[HoplineError], ...] = (RunGone,)

    def __init__(self, record: RunRecord) -> None:
        self.record = record

    def connect(self) -> Connection:
        """See Peer."""
        return connect(self.record.socket_path)

    def dial(self) -> Connection:
        """See Peer."""
        return dial(self.record)

    def dial_live(self, wanted: str) -> Connection:
        """See Peer."""
        return dial_live(self.record, wanted)

    def look(self) -> bool:
        """See Peer."""
        live = is_live(self.record.id)
        self.record = read_record(self.record.id)
        return live

    def held(self) -> str | None:
        """From the record: a journal that is full cannot say so itself."""
        try:
            return read_record(self.record.id).waiting
        except HoplineError:
            return None

    def command(self, name: str) -> str:
        """See Peer."""
        return f"hopline {name} {self.record.id}"


class SshPeer:
    """A run of another machine.

    Args:
        host: as ssh takes it.
        run: an id, a unique beginning of one, a name, or @last, there.

    Raises RunGone, UsageError, or Unavailable when the host cannot be asked.
    """

    passing: tuple[type[HoplineError], ...] = (Unavailable,)

    def __init__(self, host: str, run: str) -> None:
        from hopline.client.host import FarRun
        from hopline.client.targets import ssh_target

        self._host = host
        self._run = FarRun(ssh_target(host, run))
        self.record: RunRecord = self._run.find()

    def connect(self) -> Connection:
        """See Peer."""
        from hopline.client.ssh import SshConnection

        return SshConnection(self._run.connect())

    def dial(self) -> Connection:
        """See Peer."""
        return self.connect()

    def dial_live(self, wanted: str) -> Connection:
        """See Peer."""
        record = self.record
        if not self._run.live:
            raise RunGone(
                f"run {record.id} ({record.name}) on {self._host} is {record.status}: there is nothing to "
                f"{wanted}; see: hopline ls --ssh {self._host}"
            )
        return self.connect()

    def look(self) -> bool:
        """See Peer."""
        self.record = self._run.find()
        return self._run.live

    def held(self) -> str | None:
        """See Peer."""
        return None

    def command(self, name: str) -> str:
        """Commands that take no --ssh are run over there."""
        if name in ("attach", "logs", "send", "stop"):
            return f"hopline {name} --ssh {self._host} {self.record.id}"
        return f"ssh {self._host} hopline {name} {self.record.id}"
