"""Which machine keeps the leases: `[relay] lease_authority`, read anew when the settings file has changed."""

from collections.abc import Callable
from pathlib import Path

from hopline.errors import UsageError
from hopline.fleet.ports import Links
from hopline.settings import RelaySettings, Settings, config_file, load_settings

_Signature = tuple[int, int, int] | None


class LeasePlace:
    """The authority in force.

    Args:
        path: of the settings file.
        load: reads it.
    """

    def __init__(self, path: Path | None = None, load: Callable[[], Settings] = load_settings) -> None:
        self._path = path or config_file()
        self._load = load
        self._seen: _Signature = (-1, -1, -1)
        self._settings = RelaySettings()

    def configured(self) -> str:
        """The id in the settings, empty when it is not set. Raises UsageError when they cannot be read."""
        seen = self._signature()
        if seen != self._seen:
            self._settings = self._load().relay
            self._seen = seen
        return self._settings.lease_authority

    def authority(self, links: Links) -> str:
        """The id of the authority; without peers this machine is its own. It may not be paired: see `stranger`.

        Raises UsageError that tells how to name one, or that the settings cannot be read.
        """
        if named := self.configured():
            return named
        identity, peers = links.identity, links.peers()
        if not peers:
            return identity
        raise UsageError(
            "this machine is paired and no machine is named as lease authority; on each of them run hopline lease "
            f'authority ID, which writes to {self._path}: [relay] lease_authority = "ID". Known here: '
            f"{_known(identity, peers)}."
        )

    def stranger(self, named: str, links: Links) -> UsageError:
        """What is wrong when the authority is a machine that is not paired with this one."""
        return UsageError(
            f"{self._path} names {named} as lease authority, which is neither this machine nor paired with it; "
            f"name one of {_known(links.identity, links.peers())}: hopline lease authority ID"
        )

    def _signature(self) -> _Signature:
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_mtime_ns, status.st_size, status.st_ino


def _known(identity: str, peers: frozenset[str]) -> str:
    return ", ".join([f"{identity} (this machine)", *sorted(peers)])
