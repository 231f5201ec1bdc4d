"""The folders, locks and the socket of one run: taken in order, and given back when the start fails half way."""

import contextlib
import errno
import fcntl
import os
import socket
from pathlib import Path

from hopline.errors import Refused, Unavailable
from hopline.records import hold_lock, run_folder
from hopline.serve.unix import bind
from hopline.settings import private_folder, runs_folder, runtime_folder, socket_path

VIEW_LOCK_FILE = "view.lock"

_SCARCE = {
    errno.EMFILE: "this process has no descriptors left; raise the limit: ulimit -n",
    errno.ENFILE: "the system has no descriptors left; end something and try again",
    errno.EAGAIN: "the system has no processes left; end something or raise the limit: ulimit -u",
    errno.ENOMEM: "the system has no memory left; end something and try again",
    errno.ENOSPC: "the disk is full; free some room and try again: hopline prune",
    errno.EDQUOT: "your quota is used up; free some room and try again: hopline prune",
    errno.EROFS: "the disk is read-only; set HOPLINE_HOME to a folder that can be written",
    errno.EACCES: "a folder is closed to you; set HOPLINE_HOME and XDG_RUNTIME_DIR to folders of yours",
}


class RunPlaces:
    """What a run server holds of the file system; `undo` removes exactly what this process made.

    Args:
        run_id: names the folders.
    """

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.folder = run_folder(run_id)
        self.socket_path: Path | None = None
        self._made_folder = False
        self._made_socket = False
        self._socket_lock: int | None = None
        self._lock: int | None = None

    def claim_folder(self) -> None:
        """Make the run's state folder and take its lock. Raises Refused when the run exists already, OSError."""
        runs_folder().mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            self.folder.mkdir(mode=0o700)
        except FileExistsError:
            os.close(hold_lock(self.run_id))  # says who serves it, when somebody does
            raise Refused(f"there is a run {self.run_id} already; look at it: hopline show {self.run_id}") from None
        self._made_folder = True
        self._lock = hold_lock(self.run_id)

    def claim_view(self) -> bool:
        """Take the lock of the run's one read-only server. Returns False when somebody else has it."""
        descriptor = os.open(self.folder / VIEW_LOCK_FILE, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return False
        self._lock = descriptor
        return True

    def bind(self) -> socket.socket:
        """The run's control socket, listening, in folders that are ours alone.

        The folder is locked for this process's lifetime, so that no other server of the run takes its socket away.
        Raises HoplineError, OSError.
        """
        path = socket_path(self.run_id)
        for folder in (runtime_folder(), path.parent.parent, path.parent):
            private_folder(folder)
        self._lock_socket_folder(path.parent)
        self.socket_path = path
        bound = bind(path)
        self._made_socket = True
        return bound

    def socket_stands(self) -> bool:
        """Whether the socket is still where clients look for it."""
        return self.socket_path is not None and self.socket_path.exists()

    def _lock_socket_folder(self, folder: Path) -> None:
        """Lock it, unless it is the folder that is locked already: after its removal there is a new one to lock."""
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        held = self._socket_lock
        if held is not None and os.path.samestat(os.fstat(descriptor), os.fstat(held)):
            os.close(descriptor)
            return
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            raise Unavailable(
                f"run {self.run_id} already has a server; attach to it: hopline attach {self.run_id}"
            ) from None
        if held is not None:
            os.close(held)
        self._socket_lock = descriptor

    def release_socket(self) -> None:
        """Remove the socket and its folder; the lock is still held."""
        if self._made_socket and self.socket_path is not None:
            self._made_socket = False
            with contextlib.suppress(OSError):
                self.socket_path.unlink(missing_ok=True)
                self.socket_path.parent.rmdir()

    def undo(self) -> None:
        """The start failed: leave nothing of it."""
        self.release_socket()
        if self.socket_path is not None:
            with contextlib.suppress(OSError):
                self.socket_path.parent.rmdir()
        if self._made_folder:
            import shutil

            shutil.rmtree(self.folder, ignore_errors=True)


def explained(error: OSError) -> Unavailable:
    """The sentence for an OSError of the start."""
    where = f" ({error.filename})" if error.filename else ""
    known = _SCARCE.get(error.errno or 0)
    return Unavailable(f"cannot start the run's server: {known or error.strerror or error}{where}.")
