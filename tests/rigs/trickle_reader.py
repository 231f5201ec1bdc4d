"""A client that reads one byte a second, whatever it is sent, until it is stopped or cut."""

import base64
import select
import socket
import threading
import time
from urllib.parse import parse_qs, urlsplit

from websockets.frames import Frame, Opcode

SECONDS_A_BYTE = 1.0
NARROW_BYTES = 64 << 10
"""Of a TCP window: the system's own would take megabytes ahead of a reader that does not ask for them."""


class TrickleReader:
    """Subscribes, then takes a byte a second from a thread of its own.

    Args:
        connected: the connection; it is owned from now on.
        subscription: the bytes that ask for the stream.
    """

    def __init__(self, connected: socket.socket, subscription: bytes) -> None:
        self.socket = connected
        self.socket.settimeout(10)
        self.socket.sendall(subscription)
        self.taken = b""
        self.cut_after_seconds: float | None = None
        """How long it lived, once the other side has ended it."""
        self._begun = time.monotonic()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._trickle)
        self._thread.start()

    def stop(self) -> None:
        """Trickle no more; the connection stays as it is."""
        self._stopped.set()
        self._thread.join()

    def wait_until_cut(self, seconds: float) -> float:
        """How long it lived. Raises AssertionError when it is not cut in time."""
        self._thread.join(seconds)
        assert self.cut_after_seconds is not None, f"it was not cut in {seconds} s and has {len(self.taken)} bytes"
        return self.cut_after_seconds

    def rest(self) -> bytes:
        """Everything that still comes, as fast as it comes, to the end of the connection."""
        parts = []
        try:
            while data := self.socket.recv(1 << 20):
                parts.append(data)
        except ConnectionError:
            pass
        return b"".join(parts)

    def close(self) -> None:
        """Safe to call at any time."""
        self.stop()
        self.socket.close()

    def _trickle(self) -> None:
        poll = select.poll()
        poll.register(self.socket, select.POLLRDHUP)  # and POLLHUP and POLLERR: the other side has ended it
        while not self._stopped.is_set():
            if poll.poll(SECONDS_A_BYTE * 1000):
                self.cut_after_seconds = time.monotonic() - self._begun
                return
            self.taken += self.socket.recv(1)


def over_unix(path: str) -> TrickleReader:
    """On the run's own socket."""
    connected = socket.socket(socket.AF_UNIX)
    connected.connect(path)
    return TrickleReader(connected, b'{"type":"subscribe"}\n')


def over_websocket(url: str, path: str) -> TrickleReader:
    """On `path` of the gateway whose page is at `url`."""
    place = urlsplit(url)
    token = parse_qs(place.query)["token"][0]
    connected = socket.socket()
    connected.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, NARROW_BYTES)
    connected.settimeout(10)
    connected.connect((place.hostname, place.port))
    lines = [
        f"GET {path}?token={token} HTTP/1.1",
        f"Host: {place.netloc}",
        f"Origin: http://{place.netloc}",
        "Upgrade: websocket",
        "Connection: Upgrade",
        "Sec-WebSocket-Version: 13",
        f"Sec-WebSocket-Key: {base64.b64encode(bytes(16)).decode()}",
    ]
    connected.sendall("\r\n".join((*lines, "", "")).encode())
    answer = b""
    while not answer.endswith(b"\r\n\r\n"):
        answer += connected.recv(1)
    assert answer.startswith(b"HTTP/1.1 101"), answer
    return TrickleReader(connected, Frame(Opcode.TEXT, b'{"type":"subscribe"}').serialize(mask=True))
