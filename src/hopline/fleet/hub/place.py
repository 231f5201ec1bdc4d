"""The hub's lock, record and log in its folder, and its control socket. Who holds the lock is the hub."""

import fcntl
import os
import socket
import time
from pathlib import Path

import msgspec

from hopline.client.hub_holder import LOCK_FILE, RECORD_FILE, read_record
from hopline.errors import Unavailable
from hopline.serve.unix import bind
from hopline.settings import fleet_folder, hub_socket_path, private_folder, runtime_folder
from hopline.wire.hub.peers import HubRecord

LOG_FILE = "hub.log"
MAX_LOG_BYTES = 4 << 20
"""A longer log is put aside as hub.log.1 when a hub starts; the one before that is dropped."""
LOOK_SECONDS = 0.2
"""A command that looks whether the lock is held has it for a moment itself."""
LOOK_AGAIN_SECONDS = 0.02


class HubPlace:
    """Where this home's hub keeps its files; the folder is made private and checked on construction.

    Raises ConnectDenied when a folder is not private, Unavailable when it cannot be made, UsageError when the socket's
    path is too long.
    """

    def __init__(self) -> None:
        self.folder = private_folder(fleet_folder())
        self.socket_path = hub_socket_path()

    def hold_lock(self, patience: float = LOOK_SECONDS) -> int | None:
        """Take the hub's lock for this process's lifetime: its descriptor, or None while another hub holds it.

        Args:
            patience: seconds that a held one is tried again.

        Raises Unavailable when there can be no lock.
        """
        path = self.folder / LOCK_FILE
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except OSError as error:
            raise Unavailable(
                f"cannot write {path}: {error.strerror}; the hub needs a home that it can write to (HOPLINE_HOME)."
            ) from error
        deadline = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    os.close(descriptor)
                    return None
                time.sleep(LOOK_AGAIN_SECONDS)
            else:
                return descriptor

    def bind(self) -> socket.socket:
        """The control socket, listening, in folders that are ours alone. The caller holds the lock. Raises OSError."""
        for folder in (runtime_folder(), self.socket_path.parent.parent, self.socket_path.parent):
            private_folder(folder)
        return bind(self.socket_path)

    def answers(self, record: HubRecord) -> bool:
        """Whether somebody listens on the control socket that `record` names."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
            return end.connect_ex(record.socket) == 0

    def publish(self, record: HubRecord) -> None:
        """Replace the record. Raises OSError."""
        path = self.folder / RECORD_FILE
        temporary = path.with_name(RECORD_FILE + ".new")
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW
        with os.fdopen(os.open(temporary, flags, 0o600), "wb") as file:
            file.write(msgspec.json.encode(record))
        temporary.replace(path)

    def withdraw(self) -> None:
        """The hub ends. The record stays: the next hub listens where peers know this one to be."""
        self.socket_path.unlink(missing_ok=True)

    def read(self) -> HubRecord | None:
        """The record of this hub, or of the last one; None without one that can be understood."""
        return read_record()

    def open_log(self) -> int:
        """The log's descriptor, for appending; one that grew too long begins anew."""
        path: Path = self.folder / LOG_FILE
        try:
            if path.stat().st_size > MAX_LOG_BYTES:
                path.replace(path.with_name(LOG_FILE + ".1"))
        except FileNotFoundError:
            pass
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
