"""The gateway's record, lock and secrets, in the runtime folder: private files that let commands and pages find it.

`web.json` says where it is (frontend reference 10), `web.lock` is held for its lifetime, and `web.key` keeps the token
and the session key, so that an open page finds its way back after the gateway was restarted (WG-COMES-BACK).
"""

import fcntl
import os
import secrets
from pathlib import Path

import msgspec

from hopline.errors import Unavailable
from hopline.serve.gateway.credentials import KEY_BYTES, TOKEN_BYTES, Credentials, new_token
from hopline.settings import home, private_folder, runtime_folder

RECORD_FILE = "web.json"
LOCK_FILE = "web.lock"
KEY_FILE = "web.key"


class GatewayRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A gateway that serves."""

    version: int = 1
    pid: int
    port: int
    token: str
    url: str
    """The page with its token: whoever has it may do everything."""
    home: str
    """Whose runs it lists: HOPLINE_HOME."""
    started_at: str


class Secrets(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What `web.key` holds."""

    version: int = 1
    token: str
    session_key: bytes


class GatewayPlace:
    """Where one user's gateway keeps its files; made private and checked on construction.

    Raises ConnectDenied when the folder is not private, Unavailable when it cannot be made.
    """

    def __init__(self) -> None:
        self._folder = private_folder(runtime_folder())

    def hold_lock(self) -> int | None:
        """Take the gateway's lock for this process's lifetime: its descriptor, or None while another holds it."""
        descriptor = os.open(self._folder / LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return None
        return descriptor

    def credentials(self, *, fresh: bool = False) -> Credentials:
        """The secrets of the gateway before this one, so that pages come back; new ones if `fresh` or without any."""
        path = self._folder / KEY_FILE
        if not fresh:
            try:
                known = msgspec.json.decode(path.read_bytes(), type=Secrets)
                if len(known.session_key) == KEY_BYTES and len(known.token) >= TOKEN_BYTES:
                    return Credentials(known.token, known.session_key)
            except (OSError, ValueError):
                pass  # none yet, or not ours: new ones take its place
        credentials = Credentials(new_token(secrets.token_bytes(TOKEN_BYTES)), secrets.token_bytes(KEY_BYTES))
        self.keep(credentials)
        return credentials

    def keep(self, credentials: Credentials) -> None:
        """Store the secrets. Raises OSError."""
        kept = Secrets(token=credentials.token, session_key=credentials.session_key)
        _replace(self._folder / KEY_FILE, msgspec.json.encode(kept))

    def publish(self, record: GatewayRecord) -> None:
        """Replace the record. Raises OSError."""
        _replace(self._folder / RECORD_FILE, msgspec.json.encode(record))

    def withdraw(self) -> None:
        """The gateway ends: its record goes, its secrets stay for the next."""
        (self._folder / RECORD_FILE).unlink(missing_ok=True)

    def read(self) -> GatewayRecord | None:
        """The record of the gateway that holds the lock; None when it has not written one yet.

        Raises Unavailable when it cannot be understood.
        """
        path = self._folder / RECORD_FILE
        try:
            return msgspec.json.decode(path.read_bytes(), type=GatewayRecord)
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise Unavailable(f"cannot read {path}: {error}; end that gateway and start it again.") from error


def record_of(port: int, credentials: Credentials, started_at: str) -> GatewayRecord:
    """The record of this process's gateway."""
    url = f"http://127.0.0.1:{port}/?token={credentials.token}"
    return GatewayRecord(
        pid=os.getpid(), port=port, token=credentials.token, url=url, home=str(home()), started_at=started_at
    )


def _replace(path: Path, content: bytes) -> None:
    temporary = path.with_name(path.name + ".new")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    temporary.replace(path)
