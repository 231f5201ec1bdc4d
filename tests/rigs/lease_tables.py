"""Lease tables with a clock that tests move."""

import random

from hopline.fleet.leases.records import Claim, Saved
from hopline.fleet.leases.table import LeaseTable, Moment

START = 1_750_000_000


def owner(name):
    """The session s of the peer `name`."""
    return f"s@{name}-12345678"


def claim(lease_id, who, value, **fields):
    """An exclusive claim of a path for a minute."""
    return Claim(
        **{"lease_id": lease_id, "owner": who, "kind": "path_glob", "value": value, "mode": "exclusive"}
        | {"ttl_secs": 60}
        | fields
    )


def table_at(seconds, seed=1):
    """A table that starts empty at that time."""
    return LeaseTable(Saved((), (), seconds * 1000), random.Random(seed).randbytes)


class Clock:
    """Wall and monotonic time together, until somebody sets the wall clock."""

    def __init__(self):
        self.wall_millis = START * 1000
        self.now = 1000.0

    def pass_seconds(self, seconds):
        self.wall_millis += round(seconds * 1000)
        self.now += seconds

    @property
    def moment(self):
        return Moment(self.wall_millis, self.now)
