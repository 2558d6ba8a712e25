"""Paired comparisons: by hand, by SciPy, by simulation."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats

from kneepoint.stats import paired
from kneepoint.stats.paired import Ratio, holm, over_networks, paired_ratio, sign_flip_test


def test_ratio_is_the_geometric_mean_over_networks_of_that_of_pairs() -> None:
    # 2 and 8 have the geometric mean 4, the other network has 1: together 2.
    found = paired_ratio([([4, 8], [2, 1]), ([3, 3, 3], [3, 3, 3])], seed=1)
    assert found.ratio == pytest.approx(2)
    assert (found.networks, found.pairs) == (2, 5)
    single = paired_ratio([([2], [1]), ([2, 3], [1, 2])], seed=1)
    assert math.isnan(single.low) and math.isnan(single.high)


def test_two_networks_say_nothing_of_others() -> None:
    gains = [np.array([0.1]), np.array([0.2]), np.array([0.15])]
    two, three = over_networks(gains[:2], seed=1), over_networks(gains, seed=1)
    assert math.isnan(two.low) and math.isnan(two.high) and math.isnan(two.p)
    assert two.ratio == pytest.approx(math.exp(0.15))
    low, high = scipy.stats.ttest_1samp([0.1, 0.2, 0.15], 0).confidence_interval()
    assert (math.log(three.low), math.log(three.high)) == pytest.approx((low, high))


@pytest.mark.parametrize(
    ("values", "p"),
    [
        ([1, 2, 3, 4, 5], 2 / 32),  # all agree: 2 of the 32 sign patterns are as extreme
        ([1, 2, -3], 1),  # |1 + 2 - 3| = 0: every pattern is at least as extreme
        ([-1, 1, 3], 6 / 8),  # sums of +-1 +-1 +-3: 5 5 3 3 1 1 (and signs): |3| or more
    ],
)
def test_sign_flip_test_is_exact_for_few_pairs(values: list[float], p: float) -> None:
    assert sign_flip_test([np.array(values, dtype=float)], seed=1) == pytest.approx(p)


def test_sign_flips_are_those_of_scipy() -> None:
    differences = np.random.default_rng(3).normal(0.4, 1, 11)
    found = scipy.stats.permutation_test(
        (differences,), np.mean, permutation_type="samples", n_resamples=np.inf
    )
    assert sign_flip_test([differences], seed=1) == pytest.approx(found.pvalue)


def test_every_network_weighs_the_same_in_the_test() -> None:
    weighted = [3.0, -0.25, -0.25, -0.25, -0.25]
    signs = np.array(list(itertools.product([-1, 1], repeat=5)))
    expected = (abs(signs @ weighted) >= 2).mean()
    assert sign_flip_test([np.array([3.0]), np.full(4, -1.0)], seed=1) == pytest.approx(expected)


def test_monte_carlo_agrees_with_the_exact_test(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [np.random.default_rng(7).normal(0.5, 1, 14)]
    exact = sign_flip_test(values, seed=1)
    monkeypatch.setattr(paired, "MAX_EXACT_PAIRS", 0)
    drawn = sign_flip_test(values, seed=1)
    assert drawn != exact
    assert drawn == pytest.approx(exact, abs=0.005)
    assert sign_flip_test([np.ones(40)], seed=1) == 1 / (1 + paired.FLIPS)


@pytest.mark.parametrize(("comparisons", "n"), [(1, 6), (6, 8), (7, 9), (15, 10)])
def test_least_pairs_are_just_enough(comparisons: int, n: int) -> None:
    assert paired.min_pairs(comparisons) == n
    p, one_less = (sign_flip_test([np.ones(pairs)], seed=1) for pairs in (n, n - 1))
    assert holm([p] * comparisons)[0] <= 0.05 < holm([one_less] * comparisons)[0]


def test_holm_corrects_the_least_most() -> None:
    # Computed by hand: 4 x 0.005, 3 x 0.01, 2 x 0.03; then at least the value before.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1, 1]
    assert holm([0.02, math.nan, 0.5]) == pytest.approx([0.04, math.nan, 0.5], nan_ok=True)
    assert holm([]) == []


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ((1.07, math.nan, math.nan), "1.07"),
        ((1.071, 1.032, 1.109), "1.07 [1.03, 1.11]"),
        ((1.00213, 1.00174, 1.00252), "1.0021 [1.0017, 1.0025]"),
        ((0.2771, 0.2719, 0.2824), "0.277 [0.272, 0.282]"),
        ((1.0, 1.0, 1.0), "1.00 [1.00, 1.00]"),
        ((12.3, 9.1, 17.9), "12.30 [9.10, 17.90]"),
    ],
)
def test_ratio_is_printed(numbers: tuple[float, float, float], text: str) -> None:
    assert str(Ratio(*numbers, p=0.01, networks=1, pairs=8)) == text


@pytest.mark.parametrize("pairs", [[], [([1], [1, 2])], [([1, 0], [1, 2])], [([], [])]])
def test_what_cannot_be_related_is_refused(pairs: list[tuple[list[float], list[float]]]) -> None:
    with pytest.raises(ValueError, match=r"pair|above 0"):
        paired_ratio(pairs, seed=1)
