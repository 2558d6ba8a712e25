"""Paired comparisons: values worked by hand, and the errors that simulation counts."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest

from analysis import paired
from analysis.paired import Floats, Ratio, bootstrap_interval, holm, paired_ratio, sign_flip_test


def test_ratio_is_the_geometric_mean_over_networks_of_that_of_pairs() -> None:
    # 2 and 8 have the geometric mean 4, the other network has 1: together 2.
    found = paired_ratio([([4, 8], [2, 1]), ([3, 3, 3], [3, 3, 3])], seed=1)
    assert found.ratio == pytest.approx(2)
    assert (found.networks, found.pairs) == (2, 5)


def test_one_pair_draws_no_interval() -> None:
    found = paired_ratio([([2], [1]), ([2, 3], [1, 2])], seed=1)
    assert math.isnan(found.low) and math.isnan(found.high)
    assert str(paired_ratio([([1.07], [1])], seed=1)) == "1.07"


def test_networks_are_fixed() -> None:
    # Networks far apart, each without spread between its seeds: no uncertainty.
    low, high = bootstrap_interval([np.full(4, -3.0), np.full(4, 5.0)], seed=1)
    assert (low, high) == (1, 1)


DRAWS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "normal": lambda generator, size: generator.normal(size=size),
    "skewed": lambda generator, size: generator.exponential(size=size) - 1,
    "whole": lambda generator, size: generator.integers(-2, 3, size).astype(float),  # many ties
}


@pytest.mark.parametrize(
    ("networks", "n", "least"), [(1, 8, 0.92), (5, 8, 0.93), (5, 3, 0.93), (1, 30, 0.93)]
)
@pytest.mark.parametrize("shape", DRAWS)
def test_interval_covers_the_truth(networks: int, n: int, least: float, shape: str) -> None:
    generator = np.random.default_rng(181124)
    spread = np.linspace(0.5, 2, networks)
    trials, hits = 600, 0
    for trial in range(trials):
        strata = [scale * DRAWS[shape](generator, n) for scale in spread]
        low, high = bootstrap_interval(strata, seed=trial, resamples=1000)
        hits += low <= 0 <= high
    # The mean of eight exponential values is itself skewed: of that nothing here takes care.
    allowed = 0.05 if shape == "skewed" else 0
    assert hits / trials >= least - allowed
    assert hits / trials < 0.99


def test_sign_flip_test_is_exact_for_few_pairs() -> None:
    # All of five agree: 2 of the 32 sign patterns are as extreme.
    assert sign_flip_test([np.array([1.0, 2, 3, 4, 5])], seed=1) == pytest.approx(2 / 32)
    # |1 + 2 - 3| = 0: every pattern is at least as extreme.
    assert sign_flip_test([np.array([1.0, 2, -3])], seed=1) == 1
    # Sums of +-1 +-1 +-3: 5 5 3 3 1 1 (and signs): |3| or more in 6 of 8.
    assert sign_flip_test([np.array([-1.0, 1, 3])], seed=1) == pytest.approx(6 / 8)


def test_every_network_weighs_the_same_in_the_test() -> None:
    strata = [np.array([3.0]), np.array([-1.0, -1.0, -1.0, -1.0])]
    weighted = [3.0, -0.25, -0.25, -0.25, -0.25]
    sums = [
        abs(sum(s * w for s, w in zip(signs, weighted, strict=True)))
        for signs in itertools.product([-1, 1], repeat=5)
    ]
    expected = sum(value >= 2 for value in sums) / 32
    assert sign_flip_test(strata, seed=1) == pytest.approx(expected)


def test_monte_carlo_agrees_with_the_exact_test(monkeypatch: pytest.MonkeyPatch) -> None:
    values = [np.random.default_rng(7).normal(0.5, 1, 14)]
    exact = sign_flip_test(values, seed=1)
    monkeypatch.setattr(paired, "MOST_EXACT_PAIRS", 0)
    drawn = sign_flip_test(values, seed=1)
    assert drawn != exact
    assert drawn == pytest.approx(exact, abs=0.005)
    assert sign_flip_test([np.ones(40)], seed=1) == 1 / (1 + paired.FLIPS)


def test_least_pairs_are_just_enough() -> None:
    assert [paired.least_pairs(m) for m in (1, 6, 7, 15)] == [6, 8, 9, 10]
    for comparisons in (1, 7, 15):
        n = paired.least_pairs(comparisons)
        for pairs, is_enough in ((n, True), (n - 1, False)):
            p = sign_flip_test([np.ones(pairs)], seed=1)
            assert (holm([p] * comparisons)[0] <= 0.05) == is_enough


def test_holm_corrects_the_least_most() -> None:
    # Worked by hand: 4 x 0.005, 3 x 0.01, 2 x 0.03, then no less than those before.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]) == [1, 1]
    corrected = holm([0.02, math.nan, 0.5])
    assert corrected[0] == 0.04 and math.isnan(corrected[1]) and corrected[2] == 0.5
    assert holm([]) == []


@pytest.mark.parametrize(
    ("found", "text"),
    [
        (Ratio(1.071, 1.032, 1.109, 0.01, 1, 8), "1.07 [1.03, 1.11]"),
        (Ratio(1.00213, 1.00174, 1.00252, 0.01, 1, 8), "1.0021 [1.0017, 1.0025]"),
        (Ratio(0.2771, 0.2719, 0.2824, 0.01, 1, 8), "0.277 [0.272, 0.282]"),
        (Ratio(1.0, 1.0, 1.0, 1.0, 1, 8), "1.00 [1.00, 1.00]"),
        (Ratio(12.3, 9.1, 17.9, 0.01, 1, 8), "12.30 [9.10, 17.90]"),
    ],
)
def test_ratio_is_printed(found: Ratio, text: str) -> None:
    assert str(found) == text


@pytest.mark.parametrize("pairs", [[], [([1], [1, 2])], [([1, 0], [1, 2])], [([], [])]])
def test_what_cannot_be_related_is_refused(pairs: list[tuple[list[float], list[float]]]) -> None:
    with pytest.raises(ValueError, match=r"pair|above 0"):
        paired_ratio(pairs, seed=1)
