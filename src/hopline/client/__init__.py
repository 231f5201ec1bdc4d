"""The public client: finds a run, starts or reopens its server, and speaks the client wire with it. Blocking and small.

Faces use nothing else to reach a run; they never open a journal.
"""

import time

from hopline.client.connection import Connection, connect
from hopline.client.start import ServerStart, reopen, start_run
from hopline.client.subscription import Subscription
from hopline.errors import RunGone
from hopline.records import ENDED, RunRecord, is_live, read_record, shown_status

__all__ = ["Connection", "ServerStart", "Subscription", "connect", "dial", "dial_live", "reopen", "start_run"]


SETTLE_SECONDS = 5.0
"""How long a run's server may hold the run without listening, while it starts or leaves."""


def dial(record: RunRecord) -> Connection:
    """A connection to the run, live or ended; an ended one is reopened read-only by a short-lived server.

    Raises RunGone, ConnectDenied or ConnectFailed.
    """
    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        live = is_live(record.id)
        try:
            return connect(record.socket_path)
        except RunGone:
            if not live:
                return connect(reopen(record.id).begin().socket_path)
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def dial_live(record: RunRecord, wanted: str) -> Connection:
    """A connection to the run's own server, for a command that only a live run can take.

    Args:
        wanted: what was asked, for the message.

    Raises RunGone when the run has ended.
    """
    if is_live(record.id):
        try:
            return connect(record.socket_path)
        except RunGone:
            record = read_record(record.id)
            if record.status not in ENDED:
                raise
    status = shown_status(record)
    raise RunGone(f"run {record.id} ({record.name}) is {status}: there is nothing to {wanted}; see: hopline ls")
