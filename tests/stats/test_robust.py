"""Robust estimators: by SciPy, by their definition, by simulation."""

import numpy as np
import pytest
import scipy.stats

from kneepoint.stats.robust import interquartile_means, qn


def test_interquartile_means_are_those_of_scipy() -> None:
    runs = np.random.default_rng(4).exponential(size=(3, 5, 7))
    expected = [scipy.stats.trim_mean(of_setting.ravel(), 0.25) for of_setting in runs]
    assert interquartile_means(runs) == pytest.approx(expected)


@pytest.mark.parametrize("n", [4, 5, 6, 7, 8, 9, 10, 15, 40])
def test_qn_estimates_the_standard_deviation_of_normal_values(n: int) -> None:
    draws = np.random.default_rng(n).normal(scale=3, size=(4000, n))
    assert np.mean([qn(draw) for draw in draws]) == pytest.approx(3, rel=0.03)


def test_qn_hardly_moves_with_a_third_of_wild_values() -> None:
    values = np.random.default_rng(9).normal(size=60)
    wild = np.where(np.arange(60) % 3 == 0, 1e6, values)
    assert qn(wild) < 3 * qn(values)
