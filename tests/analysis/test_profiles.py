"""Performance profiles and interquartile means, worked by hand."""

from typing import Any

import numpy as np
import pytest

from analysis.profiles import interquartile_means, performance_profiles


def test_profile_counts_networks_within_a_factor_of_the_best() -> None:
    # Means on three networks: A 4 2 0 (failed), B 2 2 5.
    values = [[[3, 5], [2, 2], [0, 0]], [[2, 2], [1, 3], [5, 5]]]
    found = performance_profiles(values, [1, 1.9, 2, 1000], seed=1)
    assert found.share[0] == pytest.approx([2 / 3, 2 / 3, 2 / 3, 2 / 3])
    assert found.share[1] == pytest.approx([2 / 3, 2 / 3, 1, 1])


def test_network_that_nobody_solves_counts_for_none() -> None:
    found = performance_profiles([[[0, 0], [1, 1]], [[0, 0], [2, 2]]], [1, 9], seed=1)
    assert found.share.tolist() == [[0, 0.5], [0.5, 0.5]]


def test_profile_has_the_interval_of_its_seeds() -> None:
    # On the first network either may win, on the second A always does.
    values = [[[1, 3, 1, 3], [9, 9, 9, 9]], [[2, 2, 2, 2], [1, 1, 1, 1]]]
    found = performance_profiles(values, [1], seed=1)
    assert (found.low[0][0], found.share[0][0], found.high[0][0]) == (0.5, 1, 1)
    again = performance_profiles(values, [1], seed=1)
    assert found.high.tolist() == again.high.tolist()


def test_interquartile_mean_is_that_of_the_middle_half() -> None:
    # 1 to 8 on two networks: 3, 4, 5, 6 remain. Of five values one is cut at either end.
    (score,) = interquartile_means([[[1, 8, 2, 7], [3, 6, 4, 500]]], seed=1)
    assert score.value == pytest.approx((3 + 4 + 6 + 7) / 4)
    (score,) = interquartile_means([[[1, 2, 3, 4, 100]]], seed=1)
    assert score.value == pytest.approx(3)
    assert score.low <= score.value <= score.high


def test_runs_are_drawn_within_networks() -> None:
    # No spread between the seeds of a network: none at all.
    (score,) = interquartile_means([[[1] * 4, [2] * 4, [30] * 4]], seed=1)
    assert score.low == score.value == score.high


def test_one_run_draws_no_interval() -> None:
    (score,) = interquartile_means([[[1], [2], [3]]], seed=1)
    assert np.isnan([score.low, score.high]).all()
    found = performance_profiles([[[1], [2]], [[2], [1]]], [1], seed=1)
    assert np.isnan([found.low, found.high]).all()


def test_interval_of_the_interquartile_mean_covers_the_truth() -> None:
    generator = np.random.default_rng(4)
    hits, trials = 0, 200
    for trial in range(trials):
        (score,) = interquartile_means(generator.normal(5, 1, (1, 4, 10)), trial, resamples=200)
        hits += score.low <= 5 <= score.high
    assert 0.89 < hits / trials < 0.99  # the percentile bootstrap of few runs is a little narrow


@pytest.mark.parametrize("values", [[], [[1, 2]], [[[1, -1]]], [[[float("nan")]]]])
def test_values_of_another_shape_are_refused(values: Any) -> None:
    with pytest.raises(ValueError, match="shape"):
        interquartile_means(values, seed=1)
