"""A client that reads one byte a second while the run floods: the run, the others, and what becomes of the client."""

import json
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest
from run_servers import RunningServer
from trickle_reader import TrickleReader, over_unix, over_websocket

LINES = 1_000_000
LAST = f"{LINES}\n"
FLOOD = ("sh", "-c", f'while read -r line; do case $line in go) seq {LINES};; *) echo "$line";; esac; done')

BYTES = 4
"""What a reader has taken, at a byte a second, when it is left alone."""

DEADLINE_SECONDS = 2.0
HURRIED = [sys.executable, str(Path(__file__).with_name("hurried_gateway.py")), str(DEADLINE_SECONDS)]

LATE_SECONDS = 4.0
"""How much later than its deadline it may be cut: a reader gets as long again while the system still takes some."""

ECHO_SECONDS = 1.0
"""How long a line may take to the worker and back; it takes milliseconds on an idle machine."""

HELD_BYTES = (256 << 10) + (1 << 20)
"""What may wait for one reader in the server: its high water and one frame."""

MAX_GROWTH_BYTES = 24 << 20


@contextmanager
def closing(reader: TrickleReader) -> Iterator[TrickleReader]:
    try:
        yield reader
    finally:
        reader.close()


def texts(events: list[dict[str, Any]]) -> list[str]:
    return [event["data"]["content"] for event in events if event["type"] == "subprocess_output"]


class Flooded:
    """A run whose worker floods once it is told to, and a healthy reader of all of it.

    Args:
        served: runs FLOOD.
    """

    def __init__(self, served: RunningServer) -> None:
        self._process = psutil.Process(served.process.pid)
        self._typing, self._healthy = served.dial(), served.dial()
        self._healthy.subscribe()

    def flood(self) -> None:
        """Let it flood and follow it to the last line."""
        events = self._events_after("go", lambda events: any(LAST in text for text in texts(events[-2:])))
        assert "".join(texts(events)).split() == [str(number) for number in range(1, LINES + 1)]

    def echo_seconds(self, text: str) -> float:
        """How long a line takes to the worker and back."""
        begun = time.monotonic()
        self._events_after(text, lambda events: f"{text}\n" in texts(events))
        return time.monotonic() - begun

    def goes_on_beside(self, slow: TrickleReader, over: Callable[[], bool]) -> None:
        """Flood for every byte that is taken and echo in between, until `over`."""
        waits, flooded = [], -1
        while not over():
            if flooded < (flooded := len(slow.taken)):
                self.flood()
            waits.append(self.echo_seconds(f"line {len(waits)}"))
            time.sleep(0.01)  # an echo after another without end would be a flood of its own
        assert max(waits) < ECHO_SECONDS, sorted(waits)[-5:]

    def end(self) -> None:
        """Let the worker end."""
        assert self._typing.ask(type="command.input", close=True)["ok"]
        self._typing.close()
        self._healthy.close()

    @property
    def memory_bytes(self) -> int:
        """What the run's server takes."""
        taken: int = self._process.memory_info().rss
        return taken

    def _events_after(self, text: str, enough: Callable[[list[dict[str, Any]]], bool]) -> list[dict[str, Any]]:
        assert self._typing.ask(type="command.input", text=text + "\n")["ok"]
        events: list[dict[str, Any]] = []
        while not enough(events):
            message = self._healthy.receive()
            assert message is not None
            events += message["events"]
        return events


def test_one_that_reads_a_byte_a_second_is_served_late_and_the_run_never_notices() -> None:
    served = RunningServer(*FLOOD)
    run = Flooded(served)
    run.flood()
    before = run.memory_bytes
    with closing(over_unix(served.record["socket_path"])) as slow:
        run.goes_on_beside(slow, lambda: len(slow.taken) >= BYTES)
        assert run.memory_bytes - before < MAX_GROWTH_BYTES
        assert slow.cut_after_seconds is None
        slow.stop()
        run.end()
        messages = [json.loads(line) for line in (slow.taken + slow.rest()).splitlines()]
    events = [event for message in messages[1:] for event in message["events"]]
    assert events == served.stored()
    assert served.leaves() == 0


def test_with_a_deadline_one_that_reads_a_byte_a_second_is_cut_and_nobody_else_is() -> None:
    served = RunningServer(*FLOOD, unix_write_deadline_seconds=DEADLINE_SECONDS)
    run = Flooded(served)
    run.flood()
    with closing(over_unix(served.record["socket_path"])) as slow:
        run.goes_on_beside(slow, lambda: slow.cut_after_seconds is not None)
        assert DEADLINE_SECONDS <= slow.cut_after_seconds < DEADLINE_SECONDS + LATE_SECONDS
        assert len(slow.taken) + len(slow.rest()) < HELD_BYTES
    run.end()
    assert served.leaves() == 0


@pytest.fixture
def gateway() -> Iterator[dict[str, Any]]:
    """The record of `hopline web` in a hurry."""
    command = [*HURRIED, "web", "--json", "--port", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    assert process.stdout is not None
    with process.stdout as told:
        yield json.loads(told.readline())
    process.terminate()
    assert process.wait(10) == 0


@pytest.mark.parametrize("place", ["before the run", "inside its server"])
def test_over_a_websocket_one_that_reads_a_byte_a_second_is_aborted_and_nobody_else_waits(
    place: str, gateway: dict[str, Any]
) -> None:
    """WG-ABORT, WG-STALL"""
    inside = place == "inside its server"
    hurried = f"set -- {shlex.join([*HURRIED, 'run-server'])}" if inside else ""
    served = RunningServer(*FLOOD, web=inside, shell=hurried)
    run = Flooded(served)
    run.flood()
    url = served.record["url"] if inside else gateway["url"]
    others = psutil.Process(gateway["pid"])
    before, before_others = run.memory_bytes, others.memory_info().rss
    with closing(over_websocket(url, f"/runs/{served.id}/ws")) as slow:
        run.goes_on_beside(slow, lambda: slow.cut_after_seconds is not None)
        assert DEADLINE_SECONDS <= slow.cut_after_seconds < DEADLINE_SECONDS + LATE_SECONDS
        assert len(slow.taken) + len(slow.rest()) < HELD_BYTES
    assert run.memory_bytes - before < MAX_GROWTH_BYTES
    assert others.memory_info().rss - before_others < MAX_GROWTH_BYTES
    run.end()
    assert served.leaves() == 0
