"""A program: opens connections to a port and ends none of them, each with the beginning of a request or nothing.

    half_open_flood.py PORT COUNT

Says "open" once all are, and holds them until its standard input ends.
"""

import contextlib
import resource
import socket
import sys

BURST = 100
"""As many come at once; then it waits until they were accepted, or the system would drop what its queue cannot hold and
the flood would be a slow one."""

BEGUN = b"GET / HT"


def flood(port: int, count: int) -> list[socket.socket]:
    """The open ends."""
    held = []
    for number in range(count):
        end = socket.create_connection(("127.0.0.1", port))
        with contextlib.suppress(ConnectionError):
            end.send(BEGUN[: number % (len(BEGUN) + 1)])
        held.append(end)
        if number % BURST == BURST - 1:
            _wait_until_accepted(port)
    return held


def _wait_until_accepted(port: int) -> None:
    """Noise is closed, and only after what came before it was accepted."""
    with socket.create_connection(("127.0.0.1", port)) as noise, contextlib.suppress(ConnectionError):
        noise.send(b"\r\n\r\n")
        noise.recv(1)


if __name__ == "__main__":
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    ends = flood(int(sys.argv[1]), int(sys.argv[2]))
    sys.stdout.write("open\n")
    sys.stdout.flush()
    sys.stdin.read()
