"""Statistics of runs, by hand; the error rates of intervals of further runs."""

import math
from typing import Any

import pandas as pd
import pytest

from kneepoint.analysis import statistics
from kneepoint.stats import intervals
from tests.analysis import synthetic


def runs_of(powers: list[float], **more: Any) -> pd.DataFrame:
    made = (synthetic.run_row("fixed_window", {"window": 12}, p / 10, 100.0) for p in powers)
    return pd.DataFrame(made).assign(**more)


def test_spread_worked_by_hand() -> None:
    found = intervals.spread(pd.Series([2.0, 4.0, 6.0]))
    half = 4.302653 * 2 / math.sqrt(3)
    ends = {"low": 4 - half, "high": 4 + half, "least": 2, "greatest": 6}
    about = {"n": 3, "mean": 4, "standard_deviation": 2, "cv": 0.5}
    assert found == pytest.approx({**about, **ends}, rel=1e-6)


def test_chance_pools_the_variation_of_all_settings() -> None:
    runs = pd.concat(
        [
            runs_of([99.0, 101.0], setting="a"),  # cv sqrt(2) %
            runs_of([198.0, 200.0, 202.0], setting="b"),  # cv 1 %
            runs_of([7.0], setting="c"),  # without a spread
        ]
    )
    found = statistics.chance(runs, ["setting"])
    assert found.degrees == 3
    assert found.cv == pytest.approx(math.sqrt((1 * 2e-4 + 2 * 1e-4) / 3))
    assert found.margin(1, 1) == pytest.approx(3.182446 * math.sqrt(2) * found.cv, rel=1e-6)
    assert found.margin(4, 4) == pytest.approx(found.margin(1, 1) / 2)


@pytest.mark.parametrize(
    ("values", "runs", "margin", "label", "ties"),
    [
        ([10.0, 12.0, math.nan, 11.9, 11.0], [1] * 5, 0.01, 1, (3,)),
        ([1.0, 2.0, 2.0], [1] * 3, 0.0, 1, (2,)),  # the first of equal values
        ([-1.0, -1.005, -2.0], [1] * 3, 0.01, 0, (1,)),  # misfits
        (
            [12.0, 11.95, 11.95],
            [25, 25, 1],
            0.01,
            0,
            (2,),
        ),  # a mean of more runs has a smaller margin
        ([10.0, 12.0, 11.9], [1] * 3, math.nan, 1, ()),  # unknown variation
    ],
)
def test_best_and_its_ties(
    values: list[float], runs: list[int], margin: float, label: int, ties: tuple[int, ...]
) -> None:
    known = intervals.Chance(margin / (12.706205 * math.sqrt(2)), 1)  # of two single runs
    luck = known if margin == margin else intervals.Chance()
    found = statistics.best(pd.Series(values), pd.Series(runs), luck)
    assert found is not None
    assert (found.label, found.value, found.ties) == (label, values[label], ties)
    assert found.runs == runs[label]
    assert found.margin == pytest.approx(margin / math.sqrt(runs[label]), nan_ok=True)
    assert statistics.best(pd.Series([math.nan]), pd.Series([1]), luck) is None


def test_exclusions_group_failures_alike() -> None:
    failures = ((1, "sends without end"), (1, "sends without end"), (2, "window is NaN"))
    runs = [synthetic.failed_row("aimd", {"alpha": alpha}, reason) for alpha, reason in failures]
    runs.append(synthetic.run_row("aimd", {"alpha": 3}, 1, 1))
    results = synthetic.MadeUp(studies=[synthetic.study("one", runs)])
    found = synthetic.analysed(results, "inventory")["exclusions"]
    assert found["runs"].tolist() == [2, 1]
    assert found["reason"].tolist() == ["sends without end", "window is NaN"]


def test_front_is_what_nothing_dominates() -> None:
    # Some points are better in one objective and equal in the other; equal points do not dominate
    # each other.
    points = pd.DataFrame([(2, 10), (2, 20), (1, 10), (2, 10), (3, 30)], columns=["mbps", "ms"])
    found = statistics.on_front(points["mbps"], points["ms"])
    assert found.tolist() == [True, False, False, True, True]
