"""Whose leases last on: those of sessions that a fresh heartbeat says are alive (docs/wire/peer.md, "Fleet leases")."""

from collections.abc import Iterable, Iterator

from hopline.fleet.leases.records import owner_of
from hopline.fleet.ports import PeerSessions

EVERY_SECONDS = 5.0
"""How often leases are renewed: with every collection of sessions."""

HEARTBEAT_SECONDS = 90.0
"""A heartbeat older than this renews nothing."""


def living_owners(heard: Iterable[tuple[str, PeerSessions | None]], now: float) -> Iterator[str]:
    """The owners whose sessions are alive (PL-LEASE-RENEWED).

    Args:
        heard: each machine, this one included, with its latest heartbeat that named sessions. A heartbeat without
            them neither renews nor clears.
        now: monotonic seconds.
    """
    for peer, sessions in heard:
        if sessions is not None and now - sessions.received_at <= HEARTBEAT_SECONDS:
            for session in sessions.session_ids:
                yield owner_of(session, peer)
