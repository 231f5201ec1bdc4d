"""A worker on strings: does what it is told over an inherited socket and says what came of it.

Run as `python -S -E puppet_worker.py FD`. One JSON request a line, one JSON answer a line. The same puppet runs under
our relay and under the oracle, which name the sideband's descriptors after different prefixes.
"""

import base64
import json
import os
import select
import signal
import sys
from collections.abc import Callable
from typing import Any

NAMES = {"stdin": 0, "stdout": 1, "stderr": 2}
WAIT_SECONDS = 30.0

interrupts = 0


def descriptor(name: str) -> int:
    """The number behind a name; the sideband has two."""
    if name in NAMES:
        return NAMES[name]
    ending = "_SIDEBAND_READ_FD" if name == "sideband in" else "_SIDEBAND_WRITE_FD"
    return next(int(value) for variable, value in os.environ.items() if variable.endswith(ending))


def count_interrupt(*_: object) -> None:
    """SIGINT came."""
    global interrupts
    interrupts += 1


def write(name: str, data: str) -> bool:
    """Write everything."""
    left = base64.b64decode(data)
    while left:
        left = left[os.write(descriptor(name), left) :]
    return True


def read(name: str, size: int) -> str:
    """Read until `size` bytes or the end; less is there when nothing comes for long."""
    data = b""
    while len(data) < size and select.select([descriptor(name)], [], [], WAIT_SECONDS)[0]:
        got = os.read(descriptor(name), size - len(data))
        if not got:
            break
        data += got
    return base64.b64encode(data).decode()


def close(name: str) -> bool:
    """Close it."""
    os.close(descriptor(name))
    return True


def interrupted(count: int) -> bool:
    """Wait until `count` interrupts came."""
    left = WAIT_SECONDS * 100
    while interrupts < count and left > 0:
        select.select([], [], [], 0.01)
        left -= 1
    return interrupts == count


def hold(name: str) -> int:
    """Leave a child in a session of its own that holds only `name`; it ends with the control socket."""
    if child := os.fork():
        return child
    os.setsid()
    keep = {descriptor(name), CONTROL}
    for fd in range(64):
        if fd not in keep:
            try:
                os.close(fd)
            except OSError:
                continue
    poll = select.poll()
    poll.register(CONTROL, 0)
    poll.poll()
    os._exit(0)


def stop() -> bool:
    """Stop ourselves, as SIGSTOP does."""
    os.kill(os.getpid(), signal.SIGSTOP)
    return True


ACTIONS: dict[str, Callable[..., Any]] = {
    "write": write,
    "read": read,
    "close": close,
    "interrupted": interrupted,
    "hold": hold,
    "exit": os._exit,
    "signal": lambda number: os.kill(os.getpid(), number),
    "stop": stop,
}

CONTROL = int(sys.argv[1])

if __name__ == "__main__":
    signal.signal(signal.SIGINT, count_interrupt)
    with os.fdopen(os.dup(CONTROL), "rb") as requests:
        os.write(CONTROL, b'"ready"\n')
        for request in requests:
            action, *arguments = json.loads(request)
            os.write(CONTROL, json.dumps(ACTIONS[action](*arguments)).encode() + b"\n")
