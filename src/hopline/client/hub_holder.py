"""Who is the hub of this home: whoever holds its lock. The record beside it says where that one is asked."""

import contextlib
import fcntl
import os

import msgspec

from hopline.settings import fleet_folder
from hopline.wire.hub.peers import HubRecord

RECORD_FILE = "hub.json"
LOCK_FILE = "hub.lock"


def read_record() -> HubRecord | None:
    """The record of this home's hub, or of the last one; None without one that can be understood."""
    try:
        return msgspec.json.decode((fleet_folder() / RECORD_FILE).read_bytes(), type=HubRecord)
    except (OSError, msgspec.MsgspecError):
        return None


def is_held() -> bool:
    """Whether a hub of this home lives: somebody holds its lock."""
    try:
        descriptor = os.open(fleet_folder() / LOCK_FILE, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return False
        return True
    finally:
        os.close(descriptor)
