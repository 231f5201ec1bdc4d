"""Every scenario of the corpus over every carrier that its runner names, whole and in pieces."""

import random

import pytest
from conformance_corpus import corpus
from conformance_format import Runner, Scenario
from conformance_player import replay

CASES = [
    pytest.param(corpus().scenarios[name], runner, id=f"{name}-over-{runner.id}")
    for runner in corpus().runners.values()
    for name in runner.scenarios
    if name in corpus().scenarios
]


@pytest.mark.parametrize(("scenario", "runner"), CASES)
def test_a_carrier_does_what_the_scenario_says(scenario: Scenario, runner: Runner) -> None:
    replay(scenario, runner, seed=random.randrange(1 << 32))
