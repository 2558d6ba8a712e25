"""Spread of values, t intervals of means, prediction intervals, differences due to chance."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import stdtrit


def t_quantile(degrees: ArrayLike, level: float = 0.95) -> Any:
    """Returns the quantile of Student's t that bounds a two-sided interval of this level."""
    return stdtrit(degrees, (1 + level) / 2)


def spread(values: ArrayLike) -> dict[str, Any]:
    """n, mean, sample standard deviation, cv, 95 % t interval of the mean, minimum and maximum.

    A single value has no spread: standard_deviation, cv, low and high are NaN, never an interval of
    width zero. Without values, everything but n is NaN.
    """
    numbers = np.asarray(values, dtype=float)
    n = len(numbers)
    mean = float(numbers.mean()) if n else math.nan
    deviation = float(numbers.std(ddof=1)) if n > 1 else math.nan
    half = float(t_quantile(n - 1)) * deviation / math.sqrt(n) if n > 1 else math.nan
    return {
        "n": n,
        "mean": mean,
        "standard_deviation": deviation,
        "cv": deviation / mean if mean else math.nan,
        "low": mean - half,
        "high": mean + half,
        "least": float(numbers.min()) if n else math.nan,
        "greatest": float(numbers.max()) if n else math.nan,
    }


SPREAD = tuple(spread([1.0]))
"""Names of the entries of `spread`."""


def t_interval(name: str, values: Sequence[float]) -> dict[str, float | None]:
    """Returns the mean, called `name`, and its 95 % t interval; None for a single value."""
    mean, n = statistics.fmean(values), len(values)
    if n == 1:
        return {name: mean, "low": None, "high": None}
    half = t_quantile(n - 1) * statistics.stdev(values) / math.sqrt(n)
    return {name: mean, "low": mean - half, "high": mean + half}


def prediction_interval(values: ArrayLike, further: int, level: float) -> tuple[float, float]:
    """The prediction interval of the mean of `further` values from the same normal distribution.

    Hahn and Meeker, Statistical Intervals, section 4.7. Both ends are NaN if the sample has fewer
    than two values, or if `further` is 0.
    """
    numbers = np.asarray(values, dtype=float)
    n = numbers.size
    if n < 2 or further < 1:
        return math.nan, math.nan
    mean, deviation = float(numbers.mean()), float(numbers.std(ddof=1))
    half = t_quantile(n - 1, level) * deviation * math.sqrt(1 / n + 1 / further)
    return mean - half, mean + half


@dataclass(frozen=True)
class Chance:
    """Variation of power from run to run: the coefficient of variation and its degrees of freedom.

    Without repeated runs there are no degrees of freedom, and the variation is unknown (NaN).
    """

    cv: float = math.nan
    degrees: int = 0

    def margin(self, n: float, other_n: float) -> float:
        """Returns the relative difference of means of n and other_n runs due to chance (95 %)."""
        if self.degrees == 0:
            return math.nan
        return float(t_quantile(self.degrees)) * self.cv * math.sqrt(1 / n + 1 / other_n)
