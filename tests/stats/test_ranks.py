"""Statistics of ranks: by printed tables, by hand, by SciPy."""

import math

import numpy as np
import pytest

from kneepoint.stats.ranks import (
    SufficientRuns,
    enough_runs,
    median_interval,
    median_ranks,
    rank_correlation,
)


@pytest.mark.parametrize(
    ("n", "ranks"),  # Conover's and Le Boudec's tables
    [(5, None), (6, (1, 6)), (8, (1, 8)), (9, (2, 8)), (10, (2, 9)), (20, (6, 15)), (70, (27, 44))],
)
def test_ranks_are_the_printed_ones(n: int, ranks: tuple[int, int] | None) -> None:
    assert median_ranks(n) == ranks


def test_all_runs_together_are_the_largest_subset() -> None:
    # The interval of nine values is from the second to the eighth: 99 to 101, just within 1 %.
    values = [90, 99, 99.5, 100, 100, 100, 100.5, 101, 110]
    assert enough_runs(values, seed=1, within=0.01).runs == 9
    assert enough_runs(values, seed=1, within=0.0099).runs is None
    equal = enough_runs([7.0] * 9, seed=1)  # equal values suffice as soon as they have an interval
    assert equal == SufficientRuns(6, 9) and str(equal) == "6"


def test_twice_the_precision_takes_four_times_the_runs() -> None:
    values = np.random.default_rng(11).normal(100, 2, 800)
    once, twice = (enough_runs(values, seed=1, within=within).runs for within in (0.01, 0.005))
    assert once is not None and twice is not None
    # Half the width of the interval is about 1.96 * 1.25 * 2 / sqrt(n): 24 runs, and some more
    # because ranks are whole numbers and the centre is not the median.
    assert 24 <= once <= 40
    assert twice / once == pytest.approx(4, rel=0.4)


@pytest.mark.parametrize(
    ("gains", "found"),
    [
        ([0.3], (math.nan,) * 3),
        ([0.3, 0.1, 0.2], (0.2, math.nan, math.nan)),
        ([0.6, 0.1, 0.2, 0.3, 0.5, 0.4], (0.35, 0.1, 0.6)),
        ([0.9, 0.1, 0.2, 0.3, 0.5, 0.4, 0.6, 0.7, 0.8], (0.5, 0.2, 0.8)),  # Conover's ranks 2, 8
    ],
)
def test_a_median_takes_two_values_and_its_interval_six(
    gains: list[float], found: tuple[float, ...]
) -> None:
    assert median_interval(gains) == pytest.approx(found, nan_ok=True)


def test_rank_correlation() -> None:
    pairs = (([1.0, 2, 3, 4], [1.0, 3, 2, 4]), ([1.0, 2], [1.0, 2]), ([1.0, 1, 1], [1.0, 2, 3]))
    # 1 - 6 * (0 + 1 + 1 + 0) / (4 * 15); two values or equal values have no correlation.
    found = [rank_correlation(*each) for each in pairs]
    assert found == pytest.approx([0.8, math.nan, math.nan], nan_ok=True)
