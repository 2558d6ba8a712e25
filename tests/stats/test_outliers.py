"""Outliers: examples by hand, and the rate of false outliers."""

import math

import numpy as np
import pytest

from kneepoint.stats.outliers import FACTOR, LEVEL, OtherRows, beyond_neighbours


def test_what_lies_between_lines_through_neighbours_is_allowed() -> None:
    x = np.array([0.0, 1.0, 2.0, 3.0, 4.0])
    line = 2 * x
    assert beyond_neighbours(x, line, 2) == pytest.approx((0, 4, 0))
    jumped = np.where(x == 2, 7.0, line)
    assert beyond_neighbours(x, jumped, 2) == pytest.approx((3, 4, 3))
    bent = np.array([0.0, 2.0, 3.0, 2.0, 0.0])  # lines through either two on a side meet at 4
    assert beyond_neighbours(x, bent, 2) == pytest.approx((0, 3, 1))


def test_the_first_has_no_neighbours_before_it() -> None:
    x = np.arange(4.0)
    assert all(map(math.isnan, beyond_neighbours(x, x, 0)))


def test_one_of_many_numbers_is_improbable_as_often_as_it_is_said() -> None:
    random, numbers = np.random.default_rng(3), 20
    found = []
    for _ in range(2000):
        values = random.normal(scale=0.01, size=numbers)
        rest = OtherRows.of(values[1:], chance=0.0, numbers=numbers)
        found.append(rest.p(abs(values[0] - rest.middle)))
    share = np.mean([p <= LEVEL for p in found])
    assert 0 < numbers * share < 3 * LEVEL + 0.01


@pytest.mark.parametrize(("scale", "least"), [(0.1, 0.05), (3, 0.1)])
def test_a_size_is_evidence_from_far_on_even_if_it_is_likely(scale: float, least: float) -> None:
    """The limit is between `close` and `far`, unless FACTOR times the scale is more."""
    others = scale * np.array([0.0, 0.001, -0.001, 0.002, -0.002])
    rest = OtherRows.of(others, chance=0.0, numbers=6)
    assert rest.limit(close=0.05, far=0.1) == pytest.approx(max(least, FACTOR * rest.scale))
