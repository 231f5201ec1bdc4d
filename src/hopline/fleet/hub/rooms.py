"""The rooms that live on the hub's links."""

from pathlib import Path

from hopline.fleet.leases.room import LeaseRoom
from hopline.fleet.ports import Room
from hopline.fleet.transfer.room import TransferRoom


def rooms(folder: Path) -> list[Room]:
    """Every room, not attached yet.

    Args:
        folder: the fleet's, private and made.

    Raises HoplineError when one of them cannot have its files.
    """
    return [LeaseRoom(folder), TransferRoom(folder, Path.home())]
