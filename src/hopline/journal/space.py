"""How much of the volume is ours to fill."""

import os
import time
from pathlib import Path

_SHARE = 20
_MOST_RESERVED = 2 * 1024**3
_EVERY_BYTES = 4 * 1024 * 1024
_EVERY_SECONDS = 0.1
_SLACK = 16
_MOST_SLACK = 16 * 1024 * 1024


class Space:
    """Whether the reserve is still free: looked up every 4 MiB written or 100 ms, and oftener near the reserve.

    One thread counts and looks; any thread reads `spare` and `low`.

    Args:
        folder: on the volume in question.
        reserve_bytes: what is to stay free; -1 means the smaller of 5 % of the volume and 2 GiB.
    """

    def __init__(self, folder: Path, reserve_bytes: int) -> None:
        self._folder = folder
        volume = os.statvfs(folder)
        self.reserve_bytes = (
            min(volume.f_blocks * volume.f_frsize // _SHARE, _MOST_RESERVED) if reserve_bytes < 0 else reserve_bytes
        )
        self.spare = 0
        """About how many bytes may still be written; less than 0 when the reserve is not free."""
        self.low = False
        """Whether the reserve is not free, or was not and there is only a little more room since."""
        self._written = 0
        self._look_after = 0
        self._looked = 0.0
        self.look()

    def wrote(self, size: int) -> None:
        """Count `size` bytes and look again when it is time."""
        self._written += size
        self.spare -= size
        if self._written >= self._look_after or time.monotonic() - self._looked >= _EVERY_SECONDS:
            self.look()

    def look(self) -> None:
        """Ask the volume now. A volume that does not answer has nothing to spare."""
        self._written = 0
        self._looked = time.monotonic()
        try:
            volume = os.statvfs(self._folder)
        except OSError:
            self.spare = -1
        else:
            self.spare = volume.f_bavail * volume.f_frsize - self.reserve_bytes
        self.low = self.spare < (min(self.reserve_bytes // _SLACK, _MOST_SLACK) if self.low else 0)
        self._look_after = min(self.spare // 2, _EVERY_BYTES)
