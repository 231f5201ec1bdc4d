"""The public client: finds a run, starts or reopens its server, and speaks the client wire with it.

Faces use nothing else to reach a run; they never open a journal. What is named here is imported when it is first
named, so that a command pays for what it uses; `open` and what it gives are for asyncio (docs/guide/python-client.md).
"""

import time
from typing import TYPE_CHECKING, Any

from hopline.errors import RunGone, Unavailable
from hopline.records import ENDED, RunRecord, is_live, read_record, shown_status

if TYPE_CHECKING:
    from hopline.client.connection import Connection, connect
    from hopline.client.facts import RunFacts
    from hopline.client.items import (
        Connected,
        Disconnected,
        Executions,
        Finished,
        Item,
        Position,
        Reason,
        Rebootstrapped,
        Reconnected,
    )
    from hopline.client.session import Receipt, Run
    from hopline.client.session import open_run as open  # noqa: A004  # it is read as hopline.client.open
    from hopline.client.start import ServerStart, reopen, start_run
    from hopline.client.stream import EventStream
    from hopline.client.subscription import Subscription
    from hopline.wire.client.events import RunEvent, output_of, payload_of

__all__ = [
    "Connected",
    "Connection",
    "Disconnected",
    "EventStream",
    "Executions",
    "Finished",
    "Item",
    "Position",
    "Reason",
    "Rebootstrapped",
    "Receipt",
    "Reconnected",
    "Run",
    "RunEvent",
    "RunFacts",
    "ServerStart",
    "Subscription",
    "connect",
    "dial",
    "dial_live",
    "open",
    "output_of",
    "payload_of",
    "reopen",
    "start_run",
]

_LAZY = {
    **dict.fromkeys(("Connection", "connect"), "hopline.client.connection"),
    **dict.fromkeys(("ServerStart", "reopen", "start_run"), "hopline.client.start"),
    "Subscription": "hopline.client.subscription",
    **dict.fromkeys(
        ("Connected", "Disconnected", "Executions", "Finished", "Item", "Position"), "hopline.client.items"
    ),
    **dict.fromkeys(("Reason", "Rebootstrapped", "Reconnected"), "hopline.client.items"),
    **dict.fromkeys(("Receipt", "Run"), "hopline.client.session"),
    **dict.fromkeys(("RunEvent", "output_of", "payload_of"), "hopline.wire.client.events"),
    "EventStream": "hopline.client.stream",
    "RunFacts": "hopline.client.facts",
}
"""Where the names live: neither asyncio nor the client wire is imported for a command that does not need it."""


def __getattr__(name: str) -> Any:
    from importlib import import_module

    if name == "open":
        return import_module("hopline.client.session").open_run
    if name in _LAZY:
        return getattr(import_module(_LAZY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


SETTLE_SECONDS = 5.0
"""How long a run's server may hold the run without listening, while it starts or leaves."""


def dial(record: RunRecord) -> "Connection":
    """A connection to the run, live or ended; an ended one is reopened read-only by a short-lived server.

    Raises RunGone, ConnectDenied or ConnectFailed.
    """
    from hopline.client.connection import connect
    from hopline.client.start import reopen

    deadline = time.monotonic() + SETTLE_SECONDS
    while True:
        live = is_live(record.id)
        try:
            return connect(record.socket_path)
        except RunGone:
            if not live:
                return connect(reopen(record.id).begin().socket_path)
            if time.monotonic() > deadline:
                raise socket_gone(record) from None
            time.sleep(0.02)


def dial_live(record: RunRecord, wanted: str) -> "Connection":
    """A connection to the run's own server, for a command that only a live run can take.

    Args:
        wanted: what was asked, for the message.

    Raises RunGone when the run has ended, Unavailable when its server cannot be reached or does not answer.
    """
    from hopline.client.connection import connect

    if is_live(record.id):
        try:
            return _checked(connect(record.socket_path))
        except RunGone:
            record = read_record(record.id)
            if record.status not in ENDED and is_live(record.id):
                raise socket_gone(record) from None
    status = shown_status(record)
    raise RunGone(f"run {record.id} ({record.name}) is {status}: there is nothing to {wanted}; see: hopline ls")


def _checked(connection: "Connection") -> "Connection":
    try:
        connection.check()
    except BaseException:
        connection.close()
        raise
    return connection


def socket_gone(record: RunRecord) -> Unavailable:
    """That a run lives and nobody can reach it."""
    return Unavailable(
        f"the run lives (server pid {record.pid}) but its socket is gone; end the run: hopline stop {record.id}"
    )
