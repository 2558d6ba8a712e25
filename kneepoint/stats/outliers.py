"""How far one value may lie from others of its kind, some of which may be wrong."""

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Self

import numpy as np
from scipy.special import stdtr, stdtrit

from kneepoint.stats import Floats
from kneepoint.stats.robust import qn

FACTOR = 6.0
"""Multiple of the typical size that counts as far."""
LEVEL = 0.01
"""The probability that a table without a wrong row has one that is called improbable."""
EFFICIENCY = 0.6
"""A robust standard deviation is at least as sure as the plain one of this share of the values."""
LEAST_NEIGHBOURS = 3
"""The fewest neighbours that define what is allowed: one of them may be wrong."""


@dataclass(frozen=True)
class Rest:
    """How near the other rows of a table are, and how far off one more such row may be.

    Distances are differences of logarithms. `scale` is a standard deviation: the greater of that
    of the other rows about their `middle` (see `qn`), and that of our own runs. It is as
    sure as the other rows are many: it has so many `degrees` of freedom. `usual` is the median size
    of their relative difference. A table has so many `numbers`, any of which may be the farthest.
    """

    middle: float
    usual: float
    scale: float
    degrees: int
    numbers: int

    @classmethod
    def of(cls, others: Floats, chance: float, numbers: int) -> Self:
        """That of these rows, where our runs vary by chance."""
        n, middle = len(others), float(np.median(others))
        usual = float(np.median(abs(np.expm1(others))))
        spread = qn(others)
        scale = max(spread, chance) * math.sqrt(1 + 1 / n)
        return cls(middle, usual, scale, max(1, int(EFFICIENCY * (n - 1))), numbers)

    def limit(self, close: float, far: float) -> float:
        """The least size that is evidence: none up to `close`, from `far` on even a likely one."""
        improbable = self.scale * float(stdtrit(self.degrees, 1 - LEVEL / self.numbers / 2))
        return max(FACTOR * self.scale, min(far, max(close, improbable)))

    def p(self, size: float) -> float:
        """The probability that any of the table's numbers is so far off, were all of one kind.

        NaN above LEVEL: few rows say little of others, and a number may be far by any measure.
        """
        if self.scale == 0:
            return 0.0
        p = 2 * self.numbers * (1 - float(stdtr(self.degrees, size / self.scale)))
        return p if p <= LEVEL else math.nan


def outside(x: Floats, y: Floats, i: int) -> tuple[float, float, float]:
    """How far a point lies outside what its neighbours, the two nearest on each side, allow.

    They allow whatever lies between any lines through two of them.

    Returns:
        The distance, the bound that is passed, and the distance from the line through the nearest
        on each side; NaN where a side has no neighbours or both have less than LEAST_NEIGHBOURS.
    """
    order = np.argsort(x, kind="stable")
    before = [j for j in order if x[j] < x[i]][-2:]
    after = [j for j in order if x[j] > x[i]][:2]
    if not before or not after or len(before) + len(after) < LEAST_NEIGHBOURS:
        return math.nan, math.nan, math.nan

    def on_line(a: int, b: int) -> float:
        return float(y[a] + (y[b] - y[a]) * (x[i] - x[a]) / (x[b] - x[a]))

    allowed = [on_line(a, b) for a, b in combinations([*before, *after], 2) if x[a] != x[b]]
    value = float(y[i])
    edge = min(max(value, min(allowed)), max(allowed))
    return value - edge, edge, value - on_line(before[-1], after[0])
