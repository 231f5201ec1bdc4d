"""A relay between a dialling hub and its peer that does something once a connection has carried so many bytes."""

import contextlib
import socket
import threading
from collections.abc import Callable

BLOCK = 1 << 16


class Tripwire:
    """Listens on loopback and copies both ways until `close`.

    Args:
        target: where everything goes.
    """

    def __init__(self, target: tuple[str, int]) -> None:
        self._target = target
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address: tuple[str, int] = self._listener.getsockname()
        self.tripped = threading.Event()
        self._after = -1
        self._round = 0
        self._then: Callable[[], None] = lambda: None
        self._open: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def set(self, after_bytes: int, then: Callable[[], None]) -> None:
        """Once a dialler has sent `after_bytes` from now on by one connection: do `then`, and cut it. Once."""
        self._then = then
        self._round += 1
        self.tripped.clear()
        self._after = after_bytes

    def close(self) -> None:
        """End everything."""
        self._listener.close()
        for one in self._open:
            _end(one)

    def _accept(self) -> None:
        while True:
            try:
                near, _ = self._listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(self._target, 5)
            except OSError:
                _end(near)
                continue
            far.settimeout(None)
            self._open += [near, far]
            threading.Thread(target=self._copy, args=(near, far, True), daemon=True).start()
            threading.Thread(target=self._copy, args=(far, near, False), daemon=True).start()

    def _copy(self, source: socket.socket, target: socket.socket, watched: bool) -> None:
        carried, counted = 0, self._round
        with contextlib.suppress(OSError):
            while data := source.recv(BLOCK):
                target.sendall(data)
                if counted != self._round:
                    carried, counted = 0, self._round
                carried += len(data)
                if watched and 0 <= self._after < carried:
                    self._after = -1
                    self._then()
                    self.tripped.set()
                    break
        _end(source)
        _end(target)


def _end(one: socket.socket) -> None:
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()
