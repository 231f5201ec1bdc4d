"""What `hopline lease claim` says: what it waits for, what it got, and who holds what it did not get."""

import sys
from typing import TYPE_CHECKING

from hopline.cli.statuses import DONE
from hopline.errors import Unavailable

if TYPE_CHECKING:
    from hopline.wire.hub.leases import LeaseClaimed, LeaseQueued
    from hopline.wire.peer.leases import Lease

SHOWN = 3
"""How many overlapping leases a grant names."""


class LeaseHeld(Unavailable):
    """Somebody else holds it, or waits for it in front."""


def span(left_millis: int | None, expires_at: str | None) -> str:
    """How much longer, as the authority says; from the clock of this machine when it says only until when."""
    import math

    from hopline.rendering import age

    if left_millis is not None:
        return age(math.ceil(left_millis / 1000))
    if expires_at is None:
        return "?"
    import time

    from hopline.clock import parse_rfc3339

    try:
        return age(math.ceil(parse_rfc3339(expires_at) - time.time()))
    except ValueError:
        return "?"


class Queue:
    """Says what a claim waits for, again when that changes.

    Args:
        resource: what is claimed.
        quiet: say nothing.
    """

    def __init__(self, resource: str, *, quiet: bool = False) -> None:
        self._resource = resource
        self._quiet = quiet
        self._said = ""
        self.queued = False
        """It has had a place in the queue."""

    def __call__(self, news: "LeaseQueued") -> None:
        from hopline.rendering import plain, plural

        self.queued = True
        if news.trouble is not None:
            self.say(news.trouble)
            return
        way = news.way
        holder = plain(f"held by {way.holder} (lease {way.holder_lease})") if way.holder else ""
        left = f" for {span(way.ttl_left_millis, way.expires_at)} unless released or renewed" if holder else ""
        self.say(holder or f"{plural(way.ahead or 1, 'claim')} in front", left)

    def say(self, what: str, more: str = "") -> None:
        """Say it, unless that was said last; `more` makes no difference to that."""
        from hopline.rendering import plain

        if what != self._said and not self._quiet:
            sys.stderr.write(f"waiting for {plain(self._resource)}: {plain(what)}{plain(more)}\n")
            sys.stderr.flush()
        self._said = what


def told(resource: str, claimed: "LeaseClaimed", *, waited: bool) -> int:
    """Say what became of a claim. Raises LeaseHeld when it was not granted."""
    import math
    import shlex

    from hopline.rendering import age, plain, plural

    quoted = plain(shlex.quote(resource))
    resource = plain(resource)
    if claimed.lease is not None:
        left = age(math.ceil((claimed.good_for_millis or 0) / 1000))
        fence = "unknown" if claimed.lease.fence is None else claimed.lease.fence
        sys.stdout.write(f"granted {resource} until {plain(claimed.lease.expires_at or '?')} ({left})\n")
        sys.stdout.write(f"  lease {plain(claimed.lease.id)}  fence {fence}\n")
        sys.stderr.write("".join(map(_beside, claimed.overlaps[:SHOWN])))
        if (more := len(claimed.overlaps) - SHOWN) > 0:
            sys.stderr.write(f"and {more} more overlap it: hopline lease ls\n")
        return DONE
    way = claimed.way
    step = "try again later" if waited else f"wait for it: hopline lease claim {quoted} --wait"
    if way is not None and way.holder is not None:
        left = span(way.ttl_left_millis, way.expires_at)
        holder = plain(f"{way.holder} holds it (lease {way.holder_lease})")
        raise LeaseHeld(f"{resource} is not free: {holder} until {plain(way.expires_at or '?')}, {left} more; {step}")
    raise LeaseHeld(f"{resource} is not free: {plural((way and way.ahead) or 1, 'claim')} waiting in front; {step}")


def _beside(lease: "Lease") -> str:
    from hopline.rendering import plain

    why = f", {lease.reason}" if lease.reason else ""
    left = span(lease.ttl_left_millis, lease.expires_at)
    return (
        plain(
            f"{lease.owner_session_id} has {lease.mode} {lease.resource_kind}:{lease.resource_value}, {left} more{why}"
        )
        + "\n"
    )
