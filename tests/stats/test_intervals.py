"""Intervals: by SciPy, by a printed example, by simulation."""

import math

import numpy as np
import pytest
import scipy.stats

from kneepoint.stats.intervals import Chance, prediction_interval, spread, t_interval

VALUES = [51.4, 49.5, 48.7, 49.3, 51.6]
"""Hahn and Meeker, Statistical Intervals (1991), section 4.1.1: readings of five devices."""


def test_t_intervals_are_those_of_scipy() -> None:
    low, high = scipy.stats.ttest_1samp(VALUES, 0).confidence_interval(0.95)
    found, short = spread(VALUES), t_interval("mean", VALUES)
    for each in (found, short):
        assert (each["mean"], each["low"], each["high"]) == pytest.approx((50.10, low, high))
    assert found["standard_deviation"] == pytest.approx(scipy.stats.tstd(VALUES))
    assert found["cv"] == pytest.approx(scipy.stats.variation(VALUES, ddof=1))


def test_one_value_has_no_interval_and_none_nothing() -> None:
    assert math.isnan(spread([3.0])["low"]) and spread([3.0])["mean"] == 3
    assert t_interval("mean", [3.0]) == {"mean": 3, "low": None, "high": None}
    assert spread([])["n"] == 0 and math.isnan(spread([])["mean"])


def test_prediction_interval_of_one_further_value_is_the_printed_one() -> None:
    # Section 4.7 of the same book: 50.10 -+ 2.776 * sqrt(1 + 1/5) * 1.31 is (46.1, 54.1).
    assert prediction_interval(VALUES, 1, 0.95) == pytest.approx((46.1, 54.1), abs=0.06)
    assert all(map(math.isnan, prediction_interval(VALUES[:1], 1, 0.95)))
    assert all(map(math.isnan, prediction_interval(VALUES, 0, 0.95)))


def test_prediction_intervals_hold_their_share_of_further_means() -> None:
    generator = np.random.default_rng(7)
    hits = 0
    for _ in range(2000):
        low, high = prediction_interval(generator.normal(size=6), 4, 0.9)
        hits += low <= generator.normal(size=4).mean() <= high
    assert hits / 2000 == pytest.approx(0.9, abs=0.02)


def test_chance_explains_what_a_t_test_accepts() -> None:
    one, other = 100 + np.array([-2.0, 0, 1, 1]), 103 + np.array([-1.0, 0, 1])
    pooled = math.sqrt((6 + 2) / 5)
    margin = Chance(pooled / 100, 5).margin(4, 3)
    p = scipy.stats.ttest_ind(one, other).pvalue
    t = 3 / (pooled * math.sqrt(1 / 4 + 1 / 3))
    assert p == pytest.approx(2 * scipy.stats.t.sf(t, 5))
    assert (margin < 0.03) == (p < 0.05)
    assert margin * 100 == pytest.approx(3 * scipy.stats.t.ppf(0.975, 5) / t)
    assert math.isnan(Chance().margin(4, 3))
