"""The ends of a bridge as programs see them: statuses, and the line on stderr."""

import json
import re
from pathlib import Path

import pytest

from hopline.serve.bridge import BridgeLimits
from hopline.serve.bridge_outcomes import EXIT_STATUS, MAX_DETAIL_CHARACTERS, ChannelEnd, Outcome, end_line

PAGE = Path(__file__).parents[3] / "docs" / "wire" / "bridge.md"


def test_every_outcome_has_its_own_status_and_none_is_1_or_2() -> None:
    assert set(EXIT_STATUS) == set(Outcome)
    assert sorted(EXIT_STATUS.values()) == [0, *range(3, 12)]


def test_the_document_s_table_is_the_code_s() -> None:
    rows = re.findall(r"^\| (\d+) \| `(\w+)` \|", PAGE.read_text(), re.MULTILINE)
    assert {name: int(status) for status, name in rows} == {outcome.value: s for outcome, s in EXIT_STATUS.items()}


def test_the_document_s_bounds_are_the_code_s() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| ([\d,]+) ", PAGE.read_text(), re.MULTILINE))
    limits = BridgeLimits()
    assert {name: float(value.replace(",", "")) for name, value in rows.items()} == {
        name: float(getattr(limits, name)) for name in BridgeLimits.__dataclass_fields__
    }


@pytest.mark.parametrize("outcome", list(Outcome))
def test_an_end_is_one_json_line_on_stderr_unless_the_client_went_away(outcome: Outcome) -> None:
    line = ChannelEnd(outcome, "why\nand how").line()
    if outcome is Outcome.CLIENT_CLOSED:
        assert line == b""
        return
    assert line.count(b"\n") == 1
    assert line.endswith(b"\n")
    assert json.loads(line) == {
        "outcome": outcome.value,
        "exit_status": EXIT_STATUS[outcome],
        "detail": "why\nand how",
    }


def test_a_strange_path_neither_breaks_the_line_nor_makes_it_long() -> None:
    line = end_line("run_gone", 4, "\udcff\x00" + "é" * 5000)
    assert len(json.loads(line)["detail"]) == MAX_DETAIL_CHARACTERS
    assert len(line) < 4096
