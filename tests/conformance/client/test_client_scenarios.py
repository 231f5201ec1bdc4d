"""Every scenario of the corpus over every carrier that its runner names, whole and in pieces."""

import pytest
from conformance_carriers import Pieces
from conformance_corpus import Runner, Scenario, corpus
from conformance_player import Player

CASES = [
    pytest.param(corpus().scenarios[name], runner, pieces, id=f"{runner.id}-{name}-{pieces}")
    for runner in corpus().runners.values()
    for name in runner.scenarios
    if name in corpus().scenarios
    for pieces in (["whole"] if corpus().scenarios[name].whole_only else runner.pieces)
]


@pytest.mark.parametrize(("scenario", "runner", "pieces"), CASES)
def test_a_carrier_does_what_the_scenario_says(scenario: Scenario, runner: Runner, pieces: Pieces) -> None:
    Player(scenario, runner, pieces).play()
