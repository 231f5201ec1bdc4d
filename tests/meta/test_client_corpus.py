"""The gate of the client wire's corpus, and the gate itself put to the test on copies that lack something."""

import json
import shutil
from pathlib import Path

import pytest
from conformance_corpus import CONTRACT, CORPUS, Corpus, corpus


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    shutil.copytree(CORPUS, tmp_path / "corpus")
    return tmp_path / "corpus"


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_the_corpus_lacks_nothing() -> None:
    assert corpus().problems() == []


def test_taking_a_scenario_away_is_noticed(copy: Path) -> None:
    (copy / "scenarios" / "bursts-coalesce.json").unlink()
    assert sorted(Corpus(copy).problems()) == [
        f"{name} lists bursts-coalesce, which there is not" for name in sorted(corpus().runners)
    ]


def test_taking_any_scenario_away_is_noticed() -> None:
    found = Corpus()
    for name in sorted(found.scenarios):
        scenario = found.scenarios.pop(name)
        assert any(name in problem for problem in found.problems()), name
        found.scenarios[name] = scenario
    assert found.problems() == []


def test_taking_one_of_the_contract_s_scenarios_from_everywhere_is_noticed(copy: Path) -> None:
    (copy / "scenarios" / "full-replay-bootstrap.json").unlink()
    for path in (copy / "runners").iterdir():
        edit(path, '      "full-replay-bootstrap",\n', "")
    assert Corpus(copy).problems() == ["the contract's scenario full-replay-bootstrap is missing"]


@pytest.mark.parametrize("name", sorted(corpus().runners))
def test_taking_a_scenario_from_a_runner_is_noticed(copy: Path, name: str) -> None:
    edit(copy / "runners" / f"{name}.json", '      "full-replay-bootstrap",\n', "")
    assert Corpus(copy).problems() == [f"full-replay-bootstrap is not replayed over {name}"]


def test_taking_a_runner_away_is_noticed(copy: Path) -> None:
    (copy / "runners" / "bridge.json").unlink()
    assert Corpus(copy).problems() == ["no runner replays anything over bridge"]


@pytest.mark.parametrize("folder", ["events", "payloads"])
@pytest.mark.parametrize("kind", ["worker_retired", "span_ended"])
def test_taking_a_fixture_away_is_noticed(copy: Path, folder: str, kind: str) -> None:
    (copy / folder / f"{kind}.json").unlink()
    assert Corpus(copy).problems() == [f"{kind} has no {folder[:-1]} fixture"]


def test_a_fixture_of_no_event_type_is_noticed(copy: Path) -> None:
    (copy / "events" / "invented.json").write_text('{"type":"invented","timestamp":"2026-01-01T00:00:00Z"}')
    assert "the event fixture invented is of no event type" in Corpus(copy).problems()


def test_an_event_fixture_with_a_payload_is_noticed(copy: Path) -> None:
    (copy / "events" / "output.json").write_text('{"type":"output","timestamp":"t","data":null}')
    assert "the event fixture output holds a payload; that belongs into payloads/" in Corpus(copy).problems()


def test_a_decision_that_no_scenario_exercises_is_noticed(copy: Path) -> None:
    for path in (copy / "scenarios").iterdir():
        path.write_text(json.dumps(json.loads(path.read_text()) | {"decisions": ["WP-ROLES"]}))
    assert Corpus(copy).problems() == [
        f"{token} is exercised by no scenario" for token in sorted(corpus().tokens - {"WP-ROLES"})
    ]


def test_a_decision_of_the_document_must_be_exercised(copy: Path, tmp_path: Path) -> None:
    document = tmp_path / "client.md"
    document.write_text(CONTRACT.read_text() + "\nNew: `WP-NEW-RULE`.\n")
    assert Corpus(copy, document).problems() == ["WP-NEW-RULE is exercised by no scenario"]


def test_an_event_type_of_the_document_must_have_fixtures(copy: Path, tmp_path: Path) -> None:
    document = tmp_path / "client.md"
    assert CONTRACT.read_text().count("\n## Events\n") == 1
    document.write_text(CONTRACT.read_text().replace("\n## Events\n", "\n## Events\n\nAlso `brand_new`*.\n"))
    assert Corpus(copy, document).problems() == [
        "brand_new has no event fixture",
        "brand_new has no payload fixture",
    ]


def test_a_decision_that_no_document_knows_is_noticed(copy: Path) -> None:
    edit(copy / "scenarios" / "full-replay-bootstrap.json", '"WP-ROLES"', '"WP-RULES"')
    assert "full-replay-bootstrap names WP-RULES, which no document knows" in Corpus(copy).problems()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"role": "subscribe"', '"role": "watch"'),
        ('"title"', '"headline"'),
        ('"sequences"', '"sequence"'),
        ('"dir": "c2s"', '"dir": "c2c"'),
    ],
)
def test_a_misspelled_member_is_an_error_and_no_check_that_does_not_happen(copy: Path, old: str, new: str) -> None:
    edit(copy / "scenarios" / "full-replay-bootstrap.json", old, new)
    with pytest.raises(ValueError, match=r"full-replay-bootstrap\.json"):
        Corpus(copy)


@pytest.mark.parametrize(
    ("name", "old", "new", "problem"),
    [
        ("full-replay-bootstrap", '"dir": "c2s", ', '"dir": "c2s", "text": "x", ', "step 1: a client sends"),
        ("full-replay-bootstrap", '"type": "subscribed"', '"kind": "subscribed"', "step 2: what is expected has"),
        ("two-clients-attributed-apart", '"client": "terminal", ', "", "step 1: a client is named iff"),
        ("two-clients-attributed-apart", '"client": "terminal"', '"client": "nobody"', "step 1: there is no client"),
        ("bursts-coalesce", '"do": "burst", ', "", "step 4: the run does something"),
        ("subscription-takes-no-requests", '"quiet": true', '"quiet": false', "step 6: something is expected"),
    ],
)
def test_a_step_that_says_nothing_or_too_much_is_noticed(
    copy: Path, name: str, old: str, new: str, problem: str
) -> None:
    edit(copy / "scenarios" / f"{name}.json", old, new)
    assert any(f"{name}, {problem}" in found for found in Corpus(copy).problems())
