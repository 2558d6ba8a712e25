"""Bootstrap intervals of a mean over strata, and of any statistic of repeated runs."""

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist

import numpy as np

from kneepoint.stats import Floats
from kneepoint.stats.intervals import t_quantile

RESAMPLES = 10_000
"""Number of resamples for an interval of a mean."""


def bootstrap_interval(
    strata: Sequence[Floats], seed: int, level: float = 0.95, resamples: int = RESAMPLES
) -> tuple[float, float]:
    """Returns the stratified bootstrap interval of the mean of the strata's means.

    From n values, n - 1 are drawn, so that the variance is not underestimated by the factor
    (n - 1) / n (Rao and Wu, JASA 1988). Percentiles are expanded by the ratio of t to normal
    quantiles (Hesterberg, The American Statistician 2015), with the degrees of freedom of Welch and
    Satterthwaite. The interval stays within the range of the resampled means: with fewer than six
    values it may be too narrow.

    Args:
        strata: values of each stratum, at least one.
        seed: of the bootstrap.
        level: of the interval.
        resamples: number of resamples.

    Returns:
        Low and high; NaN if a stratum has a single value.
    """
    if any(each.size < 2 for each in strata):
        return math.nan, math.nan
    generator = np.random.default_rng(seed)
    means = np.zeros(resamples)
    for each in strata:
        means += generator.choice(each, (resamples, each.size - 1)).mean(axis=1)
    tail = NormalDist().cdf(-t_quantile(_degrees_of_freedom(strata), level))
    low, high = np.quantile(means / len(strata), [tail, 1 - tail])
    return float(low), float(high)


def percentile_interval(
    statistic: Callable[[Floats], Floats], runs: Floats, seed: int, resamples: int = 2_000
) -> tuple[Floats, Floats, Floats]:
    """Returns a statistic of runs with its 95 % percentile bootstrap interval.

    Source: Agarwal et al., Deep Reinforcement Learning at the Edge of the Statistical Precipice,
    NeurIPS 2021.

    Args:
        statistic: computes the statistic from runs.
        runs: shape (settings, networks, n); the n runs are resampled within each network, with the
            same indices for all settings.
        seed: of the bootstrap.
        resamples: number of resamples.

    Returns:
        The statistic, low and high; low and high are NaN if n is 1.
    """
    found, (_, networks, n) = statistic(runs), runs.shape
    if n == 1:
        return found, np.full_like(found, math.nan), np.full_like(found, math.nan)
    generator = np.random.default_rng(seed)
    draws = (generator.integers(0, n, (1, networks, n)) for _ in range(resamples))
    drawn = [
        statistic(np.take_along_axis(runs, np.broadcast_to(chosen, runs.shape), axis=2))
        for chosen in draws
    ]
    low, high = np.quantile(drawn, [0.025, 0.975], axis=0)
    return found, low, high


def _degrees_of_freedom(strata: Sequence[Floats]) -> int:
    """Degrees of freedom of the mean of the strata's means (Welch 1947): whole, at least 1."""
    variances = np.array([each.var(ddof=1) / each.size for each in strata])
    free = np.array([each.size - 1 for each in strata])
    if not variances.any():
        return int(free.sum())
    return max(1, int(variances.sum() ** 2 / (variances**2 / free).sum()))
