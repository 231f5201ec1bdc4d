"""The runs of another machine, by its host program; those of this one are `hopline.roster`'s."""

from hopline.client.host import HostChannel
from hopline.client.targets import OverSsh
from hopline.errors import HoplineError
from hopline.records import ENDED
from hopline.roster import LISTED_ENDED, LocalRuns, Roster, Row

__all__ = ["FarRuns", "LocalRuns", "Roster", "Row"]


class FarRuns:
    """The runs of another machine, over one ssh channel; after a failure the next `look` makes a new one.

    Args:
        target: its host.
    """

    def __init__(self, target: OverSsh) -> None:
        self._target = target
        self._channel: HostChannel | None = None

    def look(self, now: float) -> Roster:
        """Every listed run. Raises Unavailable when the host cannot be asked."""
        if self._channel is None:
            self._channel = HostChannel(self._target)
        try:
            listing = self._channel.runs()
        except HoplineError:
            self.close()
            raise
        over = ENDED | {"interrupted"}
        rows = [Row(record, record.status not in over) for record in listing.records]
        ended = [row for row in rows if not row.live]
        dropped = {row.record.id for row in ended[:-LISTED_ENDED]}
        return Roster(
            {row.record.id: row for row in rows if row.record.id not in dropped},
            len(dropped),
            tuple(listing.unverified),
        )

    def close(self) -> None:
        """Hang up."""
        channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()
