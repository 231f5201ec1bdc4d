"""Who this machine is and whom it knows, on disk: `identity`, `peers/<id>.key` (0600) and `peers/<id>.meta`.

The hub is the only writer. A key is written whole under another name and renamed, so a reader sees all of it or none.
"""

import contextlib
import hashlib
import os
import re
from pathlib import Path

import msgspec

from hopline.errors import Corrupt
from hopline.settings import private_folder
from hopline.wire.peer.identity import ENTROPY_BYTES, PENDING, is_peer_id, new_identity
from hopline.wire.peer.proof import KEY_BYTES

MAX_ADDRESSES = 8
"""Known addresses of a peer that are kept, the newest first."""

STALE_SECONDS = 30
"""How old the time on disk at which a peer was last connected may be."""

_KEY = re.compile(rf"[0-9a-f]{{{2 * KEY_BYTES}}}\s*")


class KnownAddress(msgspec.Struct, frozen=True):
    """Where a peer was, or says that it is."""

    addr: str
    last_seen: int
    """Seconds since the epoch."""


class Meta(msgspec.Struct, frozen=True):
    """What `<id>.meta` holds."""

    addr: str | None = None
    """The newest."""
    last_seen: int | None = None
    """Seconds since the epoch; the last time that it was connected."""
    addrs: list[KnownAddress] = []


class FileKeys:
    """The keys and addresses in a hub's folder; both folders are made private and checked on construction.

    Raises ConnectDenied when a folder is not private, Unavailable when it cannot be made.

    Args:
        folder: settings.fleet_folder().
    """

    def __init__(self, folder: Path) -> None:
        self.folder = private_folder(folder)
        self._peers = private_folder(folder / "peers")
        self._metas: dict[str, Meta] = {}
        self._written: dict[str, int] = {}
        """When each was last written to the disk."""
        with contextlib.suppress(OSError):
            for left in self._peers.glob("*.candidate"):  # by a hub that was killed
                left.unlink()

    def identity(self, host: str) -> str:
        """This machine's id, made from `host` when there is none yet. Raises Corrupt when the file holds no id."""
        path = self.folder / "identity"
        try:
            text = path.read_text(encoding="ascii").strip()
        except FileNotFoundError:
            text = new_identity(host, os.urandom(ENTROPY_BYTES))
            self._write(path, text)
        except UnicodeDecodeError:
            text = ""
        if not is_peer_id(text):
            raise Corrupt(f"{path} holds no id; remove it to get a new one, and pair again.")
        return text

    def peers(self) -> frozenset[str]:
        """The ids that are paired."""
        return frozenset(path.stem for path in self._peers.iterdir() if path.suffix == ".key" and is_peer_id(path.stem))

    def key(self, peer: str) -> bytes | None:
        """The key shared with that peer; None without one, or when the file holds none."""
        return self._read_key(peer) if is_peer_id(peer) else None

    def pending(self) -> bytes | None:
        """The key that waits to be claimed."""
        return self._read_key(PENDING)

    def keep(self, peer: str, key: bytes) -> None:
        """Share `key` with that peer from now on, durably. One that was prepared needs no room any more."""
        try:
            self._candidate_path(key).replace(self._key_path(peer))
        except FileNotFoundError:
            self._write(self._key_path(peer), key.hex())
        else:
            self._settle()

    def prepare(self, key: bytes) -> None:
        """Have `key` on the disk, durably, before somebody is asked to share it."""
        self._write(self._candidate_path(key), key.hex())

    def discard(self, key: bytes) -> None:
        """What was prepared and is not kept is not wanted any more."""
        self._candidate_path(key).unlink(missing_ok=True)

    def keep_pending(self, key: bytes) -> None:
        """Let whoever proves `key` first have it. It takes the place of one that waits already."""
        self._write(self._key_path(PENDING), key.hex())

    def claim_pending(self, peer: str) -> None:
        """Make the pending key that peer's, durably; it can be claimed only once."""
        self._key_path(PENDING).replace(self._key_path(peer))
        self._settle()

    def drop_pending(self) -> None:
        """Nobody may claim it any more."""
        self._key_path(PENDING).unlink(missing_ok=True)

    def forget(self, peer: str) -> bool:
        """Remove the peer's key and addresses. Returns whether there was a key."""
        self._metas.pop(peer, None)
        self._written.pop(peer, None)
        self._meta_path(peer).unlink(missing_ok=True)
        try:
            self._key_path(peer).unlink()
        except FileNotFoundError:
            return False
        self._settle()
        return True

    def meta(self, peer: str) -> Meta:
        """What is known of where the peer is; nothing when the file cannot be understood."""
        known = self._metas.get(peer)
        if known is None:
            try:
                known = msgspec.json.decode(self._meta_path(peer).read_bytes(), type=Meta)
            except (OSError, msgspec.MsgspecError):
                known = Meta()
            self._metas[peer] = known
        return known

    def addresses(self, peer: str) -> list[str]:
        """Where to look for the peer, the newest first."""
        known = self.meta(peer)
        found = [each.addr for each in known.addrs]
        return found if known.addr is None or known.addr in found else [known.addr, *found]

    def note_addresses(self, peer: str, addresses: list[str], seconds: int, *, seen: bool) -> None:
        """Put these first, the first of them foremost. Written when the order has changed, or the peer was long away.

        Args:
            seconds: since the epoch.
            seen: the peer is connected now.
        """
        before = self.meta(peer)
        fresh = [KnownAddress(address, seconds) for address in addresses]
        rest = [known for known in before.addrs if known.addr not in addresses]
        kept = (fresh + rest)[:MAX_ADDRESSES]
        after = Meta(
            addr=kept[0].addr if kept else None,
            last_seen=seconds if seen else before.last_seen,
            addrs=kept,
        )
        self._metas[peer] = after
        absent = seen and seconds - self._written.get(peer, 0) > STALE_SECONDS
        if absent or [known.addr for known in kept] != [known.addr for known in before.addrs]:
            self._written[peer] = seconds
            with contextlib.suppress(OSError):  # where a peer was is worth less than the link to it
                self._write(self._meta_path(peer), msgspec.json.encode(after).decode(), durable=False)

    def _read_key(self, name: str) -> bytes | None:
        try:
            text = self._key_path(name).read_text(encoding="ascii")
        except (FileNotFoundError, UnicodeDecodeError):
            return None
        return bytes.fromhex(text.strip()) if _KEY.fullmatch(text) else None

    def _key_path(self, name: str) -> Path:
        return self._peers / f"{name}.key"

    def _candidate_path(self, key: bytes) -> Path:
        return self._peers / f"{hashlib.sha256(key).hexdigest()[:16]}.candidate"

    def _meta_path(self, peer: str) -> Path:
        return self._peers / f"{peer}.meta"

    def _write(self, path: Path, text: str, *, durable: bool = True) -> None:
        temporary = path.with_name(f".{path.name}.new")
        try:
            temporary.unlink(missing_ok=True)
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(descriptor, "w", encoding="ascii") as file:
                file.write(text)
                file.flush()
                if durable:
                    os.fsync(descriptor)
            temporary.replace(path)
        except OSError as error:
            with contextlib.suppress(OSError):
                temporary.unlink(missing_ok=True)
            raise OSError(error.errno, error.strerror, str(path)) from error  # a full disk does not say where
        if durable:
            self._settle()

    def _settle(self) -> None:
        descriptor = os.open(self._peers, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
