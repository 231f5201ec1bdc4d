"""Samples, medians, ratios, bars and the choice of benchmarks."""

import pytest
from benchmarks.harness import Bar, Benchmark, Row, Sample, Side, Verdict, choose, interleave, percentile


def side(*values: float, name: str = "hopline", unit: str = "MB/s") -> Side:
    return Side(name, unit, tuple(Sample(value) for value in values))


def test_a_side_is_judged_by_its_median() -> None:
    assert side(1, 100, 3).value == 3
    assert side(1, 2).value == 1.5


def test_the_cpu_cost_is_the_median_of_the_samples_that_have_one() -> None:
    costs = (Sample(1, 2.0), Sample(1, None), Sample(1, 4.0))
    assert Side("x", "s", costs).cpu_seconds_per_gb == 3.0
    assert side(1).cpu_seconds_per_gb is None


def test_a_side_says_what_its_middle_repetition_said() -> None:
    samples = (Sample(1, note="low"), Sample(5, note="middle"), Sample(9, note="high"))
    assert Side("x", "s", samples).note == "middle"


def test_a_ratio_is_ours_over_the_reference() -> None:
    assert Row("n", "m", side(30), side(20)).ratio == 1.5
    assert Row("n", "m", side(30)).ratio is None
    assert Row("n", "m", None, side(20)).ratio is None
    assert Row("n", "m", side(30), side(0)).ratio is None


@pytest.mark.parametrize(
    ("bar", "figure", "ratio", "met"),
    [
        (Bar(">=", 1.5), 1, 1.5, True),
        (Bar(">=", 1.5), 99, 1.49, False),
        (Bar("<=", 1.3), 99, 1.3, True),
        (Bar("<=", 1.3), 1, 1.31, False),
        (Bar("<", 3, "ms"), 2.9, 99, True),
        (Bar("<", 3, "ms"), 3, None, False),
        (Bar(">=", 200_000, "lines/s"), 200_000, None, True),
        (Bar(">=", 1), 99, None, False),
        (Bar("<=", 1), 99, float("nan"), False),
    ],
)
def test_a_bar_judges_its_own_quantity(bar: Bar, figure: float, ratio: float | None, met: bool) -> None:
    assert bar.met(figure, ratio) is met


def test_a_bar_reads_as_it_is_written_in_the_table() -> None:
    assert str(Bar(">=", 1.5)) == ">= 1.5x"
    assert str(Bar(">=", 2_000_000, "events/s")) == ">= 2,000,000 events/s"


def test_each_verdict_has_its_row() -> None:
    bar = Bar(">=", 2)
    assert Row("n", "m", side(4), side(2), bar).verdict is Verdict.MET
    assert Row("n", "m", side(3), side(2), bar).verdict is Verdict.MISSED
    assert Row("n", "m", side(3), side(2)).verdict is Verdict.SHOWN
    assert Row("n", "m", None, side(2), bar).verdict is Verdict.NOT_MEASURED


def test_sides_run_in_turns() -> None:
    order = []

    def turn(name: str) -> Sample:
        order.append(name)
        return Sample(len(order))

    samples = interleave({"a": lambda: turn("a"), "b": lambda: turn("b")}, 3)
    assert order == ["a", "b", "a", "b", "a", "b"]
    assert [sample.value for sample in samples["b"]] == [2, 4, 6]


def test_a_percentile_is_a_value_that_was_measured() -> None:
    values = list(range(1, 101))
    assert percentile(values, 0.5) == 50
    assert percentile(values, 0.99) == 99
    assert percentile(values, 0) == 1
    assert percentile(reversed(values), 1) == 100


@pytest.mark.parametrize(("values", "share"), [([], 0.5), ([1], 1.5), ([1], -0.1)])
def test_a_percentile_of_nothing_is_refused(values: list[float], share: float) -> None:
    with pytest.raises(ValueError, match="no percentile"):
        percentile(values, share)


def benchmarks(*names: str) -> list[Benchmark]:
    return [Benchmark(name, "", lambda context: []) for name in names]


def test_benchmarks_are_chosen_by_name_family_or_pattern_in_their_own_order() -> None:
    known = benchmarks("relay-ansi", "relay-small", "path-ansi", "latency")
    names = lambda *wanted: [each.name for each in choose(known, wanted)]  # noqa: E731  # reads as the call it tests
    assert names() == ["relay-ansi", "relay-small", "path-ansi", "latency"]
    assert names("latency", "relay") == ["relay-ansi", "relay-small", "latency"]
    assert names("*-ansi") == ["relay-ansi", "path-ansi"]


def test_a_wanted_name_that_chooses_nothing_is_an_error() -> None:
    with pytest.raises(KeyError, match="replay"):
        choose(benchmarks("relay-ansi"), ["relay", "replay"])
