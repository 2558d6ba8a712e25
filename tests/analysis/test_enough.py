"""How many runs are enough: tables of order statistics, and what simulation says."""

import numpy as np
import pytest

from analysis.enough import Enough, enough_runs, median_ranks


@pytest.mark.parametrize(
    ("n", "ranks"),  # Conover's and Le Boudec's tables
    [(5, None), (6, (1, 6)), (8, (1, 8)), (9, (2, 8)), (10, (2, 9)), (20, (6, 15)), (70, (27, 44))],
)
def test_ranks_are_the_printed_ones(n: int, ranks: tuple[int, int] | None) -> None:
    assert median_ranks(n) == ranks


def test_runs_that_do_not_vary_are_enough_once_there_is_an_interval() -> None:
    assert enough_runs([7.0] * 9, seed=1) == Enough(6, 9)
    assert str(enough_runs([7.0] * 9, seed=1)) == "6"


def test_all_runs_together_are_the_largest_subset() -> None:
    # Of nine the interval is from the second to the eighth: 99 to 101, just within 1 %.
    values = [90, 99, 99.5, 100, 100, 100, 100.5, 101, 110]
    assert enough_runs(values, seed=1, within=0.01).runs == 9
    assert enough_runs(values, seed=1, within=0.0099).runs is None


def test_twice_the_precision_takes_four_times_the_runs() -> None:
    values = np.random.default_rng(11).normal(100, 2, 800)
    once, twice = (enough_runs(values, seed=1, within=within).runs for within in (0.01, 0.005))
    assert once is not None and twice is not None
    # Half the width of the interval is about 1.96 * 1.25 * 2 / sqrt(n): 24 runs, and more for ranks
    # that are whole and a centre that is not quite the median.
    assert 24 <= once <= 40
    assert twice / once == pytest.approx(4, rel=0.4)
