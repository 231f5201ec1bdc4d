"""A cable between two network namespaces of this machine, which can be pulled and put back. Needs root and iproute2."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager


class NoNamespaces(Exception):
    """This machine does not let us make network namespaces; the message says what it said."""


def _ip(*words: str, program: str = "ip") -> None:
    try:
        done = subprocess.run([program, *words], capture_output=True, text=True, timeout=10, check=False)
    except FileNotFoundError as missing:
        raise NoNamespaces(f"{program} is not installed") from missing
    if done.returncode != 0:
        raise NoNamespaces(f"{program} {' '.join(words)}: {done.stderr.strip()}")


class Cable:
    """Two ends with an address each. What is sent while it is out is lost, and nobody is told.

    Attributes:
        prefixes: what runs a command at either end.
        addresses: of the ends.
    """

    def __init__(self, number: int) -> None:
        self._spaces = [f"hop{number}a", f"hop{number}b"]
        self._ends = [f"h{number}a", f"h{number}b"]
        self.prefixes = [("ip", "netns", "exec", space) for space in self._spaces]
        self.addresses = ["10.77.0.1", "10.77.0.2"]

    def lay(self, rate: str) -> None:
        """Make both ends; each sends at most `rate`, as tc spells it. Raises NoNamespaces."""
        for space in self._spaces:
            _ip("netns", "add", space)
        a, b = self._ends
        _ip("link", "add", a, "netns", self._spaces[0], "type", "veth", "peer", "name", b, "netns", self._spaces[1])
        for space, end, address in zip(self._spaces, self._ends, self.addresses, strict=True):
            _ip("-n", space, "addr", "add", f"{address}/24", "dev", end)
            _ip("-n", space, "link", "set", "lo", "up")
            _ip("-n", space, "link", "set", end, "up")
            limit = ["root", "tbf", "rate", rate, "burst", "256k", "latency", "50ms"]
            _ip("-n", space, "qdisc", "add", "dev", end, *limit, program="tc")

    def pull(self) -> None:
        """From now on nothing passes."""
        _ip("-n", self._spaces[1], "link", "set", self._ends[1], "down")

    def put_back(self) -> None:
        """It passes again."""
        _ip("-n", self._spaces[1], "link", "set", self._ends[1], "up")

    def take_away(self) -> None:
        """Remove the namespaces and what is in them."""
        for space in self._spaces:
            subprocess.run(["ip", "netns", "del", space], capture_output=True, timeout=10, check=False)


@contextmanager
def cable(rate: str = "400mbit") -> Iterator[Cable]:
    """A cable that is taken away with the block. Raises NoNamespaces."""
    laid = Cable(os.getpid() % 100_000)
    try:
        laid.lay(rate)
        yield laid
    finally:
        laid.take_away()
