"""WW-PHASE: every semantic event in every state of the worker's operations, and what may come then."""

import base64

import pytest

from hopline.wire.worker.messages import (
    CellStarted,
    Completed,
    ConsoleDiagnostic,
    ConsoleOutput,
    Image,
    InputCancelled,
    InputReceived,
    InputRequested,
    Ready,
    RuntimeInitialized,
    SemanticEvent,
)
from hopline.wire.worker.phases import Operations

EVENTS: dict[str, SemanticEvent] = {
    "ready": Ready(),
    "initialized": RuntimeInitialized(interrupted=False),
    "cell_started": CellStarted(),
    "output": ConsoleOutput(data="x"),
    "diagnostic": ConsoleDiagnostic(data="x"),
    "image": Image(data=base64.b64encode(b"png").decode(), mime_type="image/png"),
    "requested": InputRequested(prompt="? "),
    "received": InputReceived(),
    "cancelled": InputCancelled(),
    "completed": Completed(),
}
QUIET = {"cell_started", "output", "diagnostic", "image"}

STATES: dict[str, tuple[list[str], set[str]]] = {
    "new": ([], {"ready"}),
    "idle": (["ready"], {*QUIET, "initialized", "requested"}),
    "initialized": (["ready", "initialized"], {*QUIET, "requested"}),
    "idle, asked": (["ready", "requested"], {*QUIET, "initialized", "received", "cancelled"}),
    "busy": (["ready", "evaluate"], {*QUIET, "initialized", "requested", "completed"}),
    "busy, asked": (["ready", "evaluate", "requested"], {*QUIET, "initialized", "received", "cancelled"}),
    "busy, answered": (
        ["ready", "evaluate", "requested", "received"],
        {*QUIET, "initialized", "requested", "completed"},
    ),
    "completed": (["ready", "evaluate", "completed"], {*QUIET, "initialized", "requested"}),
}


def reached(steps: list[str]) -> Operations:
    operations = Operations()
    for step in steps:
        if step == "evaluate":
            assert operations.refuse_evaluate() is None
            operations.begin()
        else:
            assert operations.receive(EVENTS[step]) is None
    return operations


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("event", EVENTS)
def test_an_event_is_accepted_only_where_its_state_allows_it(state: str, event: str) -> None:
    steps, allowed = STATES[state]
    refusal = reached(steps).receive(EVENTS[event])
    assert (refusal is None) == (event in allowed), refusal


@pytest.mark.parametrize(
    ("state", "allowed"), [("new", False), ("idle", True), ("busy", False), ("completed", True), ("busy, asked", False)]
)
def test_an_operation_is_submitted_only_to_a_ready_and_idle_worker(state: str, allowed: bool) -> None:
    assert (reached(STATES[state][0]).refuse_evaluate() is None) == allowed


@pytest.mark.parametrize("data", ["a", "YQ", "YQ==\n", "Y Q==", "YQ=", "Y-==", "YQ==YQ==", "é"])
def test_an_image_that_is_not_padded_standard_base64_is_refused(data: str) -> None:
    operations = reached(["ready"])
    assert "base64" in (operations.receive(Image(data=data, mime_type="image/png")) or "")
