"""Checks a scenario's expectations against the events that came, producer by producer."""

import base64
from collections.abc import Callable
from typing import Any

from relay_rig import assert_orderly
from worker_scenario import Ending, Step, block, matches, producer


class Expectations:
    """What was expected so far, and what came.

    Args:
        more: called to wait for another event; False when none will come.
    """

    def __init__(self, more: Callable[[], bool]) -> None:
        self._more = more
        self._came: dict[str, list[dict[str, Any]]] = {}
        self._bytes = {"stdout": b"", "stderr": b""}
        self.all: list[dict[str, Any]] = []

    def came(self, event: dict[str, Any]) -> None:
        """An event came."""
        self.all.append(event)
        whose = producer(event)
        if whose in self._bytes:
            data = event["data"]
            self._bytes[whose] += base64.b64decode(data) if event["kind"].endswith("_bytes") else data.encode()
        else:
            self._came.setdefault(whose, []).append(event)

    def event(self, step: Step) -> None:
        """`relay: {…}`"""
        whose = producer(step.value)
        while not self._came.get(whose):
            assert self._more(), f"line {step.line}: {step.value} did not come; all: {self.all}"
        event = self._came[whose].pop(0)
        assert matches(event, step.value), f"line {step.line}: expected {step.value}, came {event}"

    def raw(self, step: Step) -> None:
        """`relay: stdout "…"`"""
        while len(self._bytes[step.name]) < len(step.value):
            assert self._more(), f"line {step.line}: {step.value!r} did not come, but {self._bytes[step.name]!r}"
        came = self._bytes[step.name]
        self._bytes[step.name] = came[len(step.value) :]
        assert came[: len(step.value)] == step.value, f"line {step.line}"

    def ending(self, step: Step, ending: Ending) -> None:
        """`ends: …`: the block, and nothing that was not expected."""
        while self._more():
            pass
        assert_orderly(self.all)
        lifecycle = self._came.pop("lifecycle", [])
        expected = block(ending)
        assert len(lifecycle) == len(expected), f"line {step.line}: {lifecycle}"
        assert all(map(matches, lifecycle, expected)), f"line {step.line}: {lifecycle}"
        assert not any(self._came.values()), f"line {step.line}: unexpected {self._came}"
        assert not any(self._bytes.values()), f"line {step.line}: unexpected {self._bytes}"
