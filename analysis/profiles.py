"""Many settings on many networks: performance profiles and interquartile means.

Arrays have the shape (settings, networks, runs); a run whose controller failed counts 0. Intervals
are those of the percentile bootstrap, stratified: runs are drawn anew within each network, networks
stay (Agarwal et al., Deep Reinforcement Learning at the Edge of the Statistical Precipice, NeurIPS
2021). Run k of a network has the same seed for every setting and is drawn for all of them together.
One run a network draws no interval: it is NaN.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from analysis.paired import Floats

RESAMPLES = 2_000
LEVEL = 0.95


@dataclass(frozen=True)
class Profiles:
    """Shares of networks and their intervals, each of the shape (settings, factors)."""

    factors: Floats
    share: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True)
class Score:
    """A value with its interval."""

    value: float
    low: float
    high: float


def performance_profiles(
    values: ArrayLike, factors: ArrayLike, seed: int, resamples: int = RESAMPLES
) -> Profiles:
    """The share of networks on which a setting is within a factor of the best there.

    Dolan and More, Benchmarking optimization software with performance profiles, Mathematical
    Programming 91, 2002, with the mean over a network's runs for the measure, the greater the
    better. On a network where every setting fails, none is within any factor.

    Args:
        values: of the shape (settings, networks, runs), none below 0.
        factors: at least 1; the share at 1 is that of networks on which the setting is the best.
        seed: of the bootstrap.
        resamples: how many it draws.
    """
    runs, limits = _checked(values), np.asarray(factors, dtype=float)
    drawn = np.stack([_shares(each.mean(axis=2), limits) for each in _draws(runs, seed, resamples)])
    tails = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    if runs.shape[2] == 1:
        tails = np.full_like(tails, math.nan)
    return Profiles(limits, _shares(runs.mean(axis=2), limits), tails[0], tails[1])


def interquartile_means(values: ArrayLike, seed: int, resamples: int = RESAMPLES) -> list[Score]:
    """The mean of the middle half of each setting's runs on all networks (Agarwal et al. 2021).

    It uses more of the runs than a median and, unlike a mean, does not depend on one network. For
    networks of different rates to compare, the values are relative: to the omniscient bound, say.

    Args:
        values: of the shape (settings, networks, runs).
        seed: of the bootstrap.
        resamples: how many it draws.
    """
    runs = _checked(values)
    found = _middle_means(runs)
    drawn = np.stack([_middle_means(each) for each in _draws(runs, seed, resamples)])
    low, high = np.quantile(drawn, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    if runs.shape[2] == 1:
        low, high = np.full_like(low, math.nan), np.full_like(high, math.nan)
    return [Score(*map(float, row)) for row in zip(found, low, high, strict=True)]


def _checked(values: ArrayLike) -> Floats:
    runs = np.asarray(values, dtype=float)
    if runs.ndim != 3 or runs.size == 0 or np.isnan(runs).any() or (runs < 0).any():
        raise ValueError("needs values of the shape (settings, networks, runs), none below 0")
    return runs


def _draws(runs: Floats, seed: int, resamples: int) -> Iterator[Floats]:
    """Yields resampled runs; those of a network in all settings alike."""
    generator = np.random.default_rng(seed)
    _, networks, n = runs.shape
    for _ in range(resamples):
        chosen = generator.integers(0, n, (1, networks, n))
        yield np.take_along_axis(runs, np.broadcast_to(chosen, runs.shape), axis=2)


def _shares(means: Floats, factors: Floats) -> Floats:
    """From mean values of (settings, networks) to shares of (settings, factors)."""
    best = means.max(axis=0)
    is_solved = means > 0
    behind = np.divide(best, means, out=np.full_like(means, math.inf), where=is_solved)
    within: Floats = (behind[:, :, None] <= factors * (1 + 1e-12)).mean(axis=1)
    return within


def _middle_means(runs: Floats) -> Floats:
    """The means without a quarter of the values at either end, as scipy's trim_mean counts it."""
    ordered = np.sort(runs.reshape(runs.shape[0], -1), axis=1)
    cut = ordered.shape[1] // 4
    means: Floats = ordered[:, cut : ordered.shape[1] - cut].mean(axis=1)
    return means
