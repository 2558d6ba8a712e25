"""Outliers: how far one row of a table may lie from the others, some of which may be wrong."""

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Self

import numpy as np
from scipy.special import stdtr, stdtrit

from kneepoint.stats import Floats
from kneepoint.stats.robust import qn

FACTOR = 6.0
"""The minimum distance of an outlier in standard deviations."""
LEVEL = 0.01
"""Significance level per table: the probability of a false outlier in a table without errors."""
EFFICIENCY = 0.6
"""Lower bound of the efficiency of Qn, relative to the sample standard deviation."""
MIN_NEIGHBOURS = 3
"""The minimum number of neighbours that bound a point, of which one may be wrong."""


@dataclass(frozen=True)
class OtherRows:
    """The distribution of the other rows of a table, which predicts one more row.

    Differences are differences of natural logarithms.

    Args:
        middle: median of the other rows.
        usual: median of the absolute relative differences.
        scale: predictive standard deviation, from the other rows (see `qn`) or from the variation
            of our own runs, whichever is greater.
        degrees: degrees of freedom of `scale`.
        numbers: number of values in the table, for the correction of multiple tests.
    """

    middle: float
    usual: float
    scale: float
    degrees: int
    numbers: int

    @classmethod
    def of(cls, others: Floats, chance: float, numbers: int) -> Self:
        """Estimates the distribution; `chance` is the standard deviation of our own runs."""
        n, middle = len(others), float(np.median(others))
        usual = float(np.median(abs(np.expm1(others))))
        spread = qn(others)
        scale = max(spread, chance) * math.sqrt(1 + 1 / n)
        return cls(middle, usual, scale, max(1, int(EFFICIENCY * (n - 1))), numbers)

    def limit(self, close: float, far: float) -> float:
        """Returns the minimum absolute difference of an outlier.

        Differences up to `close` are never outliers. Differences above `far` are outliers even if
        they are not improbable. In any case the difference must exceed FACTOR times the scale.
        """
        improbable = self.scale * float(stdtrit(self.degrees, 1 - LEVEL / self.numbers / 2))
        return max(FACTOR * self.scale, min(far, max(close, improbable)))

    def p(self, size: float) -> float:
        """The p value of a difference, with Bonferroni's correction for the table's numbers.

        NaN above LEVEL: a difference from `far` on is an outlier whatever its p value.
        """
        if self.scale == 0:
            return 0.0
        p = 2 * self.numbers * (1 - float(stdtr(self.degrees, size / self.scale)))
        return p if p <= LEVEL else math.nan


def beyond_neighbours(x: Floats, y: Floats, i: int) -> tuple[float, float, float]:
    """Returns the distance of point i from the range that its neighbours allow.

    Neighbours are the two nearest points on each side; the range spans the lines through any two.

    Returns:
        The distance from the range, the bound that is exceeded, and the distance from the line
        through the nearest neighbour on each side; all NaN if a side has no neighbour or both sides
        have fewer than MIN_NEIGHBOURS.
    """
    order = np.argsort(x, kind="stable")
    before = [j for j in order if x[j] < x[i]][-2:]
    after = [j for j in order if x[j] > x[i]][:2]
    if not before or not after or len(before) + len(after) < MIN_NEIGHBOURS:
        return math.nan, math.nan, math.nan

    def on_line(a: int, b: int) -> float:
        return float(y[a] + (y[b] - y[a]) * (x[i] - x[a]) / (x[b] - x[a]))

    allowed = [on_line(a, b) for a, b in combinations([*before, *after], 2) if x[a] != x[b]]
    value = float(y[i])
    edge = min(max(value, min(allowed)), max(allowed))
    return value - edge, edge, value - on_line(before[-1], after[0])
