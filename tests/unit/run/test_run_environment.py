"""What a worker finds in its environment."""

import pytest

from hopline.ids import new_run_id
from hopline.records import RunSpec
from hopline.run.environment import worker_environment


def spec(*, pty: bool, **env: str) -> RunSpec:
    return RunSpec(id=new_run_id(), name="n", command=["c"], cwd="/", env=env, pty=pty)


@pytest.fixture(autouse=True)
def surroundings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPLINE_RUN", "another")
    monkeypatch.setenv("COLUMNS", "300")
    monkeypatch.setenv("LINES", "100")
    monkeypatch.setenv("TERM", "screen-256color")


def test_the_names_of_the_run_are_this_runs_whatever_was_inherited_or_asked_for() -> None:
    asked = spec(pty=False, HOPLINE_SESSION="mine", WHAT="ever")
    found = worker_environment(asked, 3)
    assert (found["HOPLINE_RUN"], found["HOPLINE_SESSION"], found["HOPLINE_GENERATION"]) == (asked.id, asked.id, "3")
    assert (found["WHAT"], found["COLUMNS"]) == ("ever", "300")


def test_a_worker_with_a_terminal_inherits_no_size_but_keeps_one_that_was_asked_for() -> None:
    assert worker_environment(spec(pty=True), 1).keys() & {"COLUMNS", "LINES"} == set()
    assert worker_environment(spec(pty=True, COLUMNS="7"), 1)["COLUMNS"] == "7"


@pytest.mark.parametrize(
    ("inherited", "told"),
    [("screen-256color", "screen-256color"), ("dumb", "xterm-256color"), (None, "xterm-256color")],
)
def test_a_worker_with_a_terminal_is_told_which_kind(
    monkeypatch: pytest.MonkeyPatch, inherited: str | None, told: str
) -> None:
    if inherited is None:
        monkeypatch.delenv("TERM")
    else:
        monkeypatch.setenv("TERM", inherited)
    assert worker_environment(spec(pty=True), 1)["TERM"] == told
    assert worker_environment(spec(pty=True, TERM="vt100"), 1)["TERM"] == "vt100"
    assert worker_environment(spec(pty=False), 1).get("TERM") == inherited
