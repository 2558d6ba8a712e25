"""Who is better than whom: scores and ranks, with their intervals.

Entries are compared in pairs of runs that share network and seed, on two questions: whether the
order would be the same with other seeds on these networks (the sign-flip test, corrected by Holm),
and whether it would be on other networks such as these (ranks over resampled networks and seeds).
"""

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from analysis.paired import bootstrap_interval, holm, sign_flip_test

Floats = NDArray[np.float64]

SIGNIFICANT = 0.05
RESAMPLES = 4_000
FLIPS = 19_999
_TAIL = 0.025


@dataclass(frozen=True)
class Standing:
    """One entry among all.

    Args:
        rank: from 1; equal scores share a rank.
        best_rank: of the 95 % interval of its rank, networks and seeds resampled.
        worst_rank: see best_rank.
        first: share of resamples in which it is first.
    """

    rank: int
    best_rank: int
    worst_rank: int
    first: float


@dataclass(frozen=True)
class Comparison:
    """A pair of entries, by their positions.

    Args:
        a: the first entry.
        b: the second.
        difference: of their scores, A less B, or their ratio.
        p: of the sign-flip test over seeds on these networks, corrected by Holm.
        ahead: share of resamples over networks and seeds in which A is better.
    """

    a: int
    b: int
    difference: float
    p: float
    ahead: float

    @property
    def better(self) -> int | None:
        """The position of the entry shown to be better on these networks."""
        if not self.p <= SIGNIFICANT or self.ahead == 0.5:
            return None
        return self.a if self.difference > 0 else self.b


@dataclass(frozen=True)
class Spread:
    """How a network tells entries apart: standard deviations of scores, of ratios of their logs.

    Args:
        between: entries, free of what seeds add.
        within: an entry, between its runs; NaN for a single run.
        share: that entries have in the variance of a run's score; NaN for a single run.
    """

    between: float
    within: float
    share: float


def spread_of(scores: Floats, *, is_ratio: bool) -> Spread:
    """Splits the variance of scores, shape (entries, runs), as a one-way analysis of variance."""
    values = _scale(scores, is_ratio)
    entries = values.mean(axis=1).var(ddof=1)
    runs = values.shape[1]
    if runs == 1:
        return Spread(float(np.sqrt(entries)), np.nan, np.nan)
    within = values.var(axis=1, ddof=1).mean()
    between = max(0.0, entries - within / runs)
    total = between + within
    share = float(between / total) if total else np.nan
    return Spread(float(np.sqrt(between)), float(np.sqrt(within)), share)


def mean_of(scores: Floats, is_ratio: bool) -> float:
    """An entry's mean over networks of the mean over runs; of ratios the geometric one."""
    return _unscale(_scale(scores, is_ratio).mean(), is_ratio)


def interval_of(scores: Floats, seed: int, is_ratio: bool) -> tuple[float, float]:
    """The 95 % interval of `mean_of` for other seeds on these networks; NaN for a single run."""
    low, high = bootstrap_interval(list(_scale(scores, is_ratio)), seed)
    return _unscale(low, is_ratio), _unscale(high, is_ratio)


def rank_entries(scores: Floats, seed: int, *, is_ratio: bool) -> list[Standing]:
    """Ranks entries.

    Args:
        scores: shape (entries, networks, runs); run k of a network has the same seed for all.
        seed: of the resampling.
        is_ratio: scores are positive, and averaged geometrically.
    """
    values = _scale(scores, is_ratio)
    overall = values.mean(axis=(1, 2))
    resampled = resampled_scores(values, seed)
    ranks = 1 + (resampled[:, None, :] < resampled[None, :, :]).sum(axis=1)
    best, worst = np.quantile(ranks, [_TAIL, 1 - _TAIL], axis=1, method="nearest")
    return [
        Standing(
            rank=int(1 + np.count_nonzero(overall > own)),
            best_rank=int(best[entry]),
            worst_rank=int(worst[entry]),
            first=float(np.mean(ranks[entry] == 1)),
        )
        for entry, own in enumerate(overall)
    ]


def compare_pairs(scores: Floats, seed: int, *, is_ratio: bool) -> list[Comparison]:
    """Compares every pair of entries (see `rank_entries`)."""
    values = _scale(scores, is_ratio)
    resampled = resampled_scores(values, seed)
    pairs = list(combinations(range(len(values)), 2))
    p_values = [sign_flip_test(list(values[a] - values[b]), seed, FLIPS) for a, b in pairs]
    return [
        Comparison(
            a,
            b,
            float(np.mean(values[a] - values[b])),
            p,
            float(np.mean(resampled[a] > resampled[b]) + np.mean(resampled[a] == resampled[b]) / 2),
        )
        for (a, b), p in zip(pairs, holm(p_values), strict=True)
    ]


def resampled_scores(values: Floats, seed: int, resamples: int = RESAMPLES) -> Floats:
    """Overall scores of networks drawn with replacement, and of each one's seeds, too.

    The same are drawn for all entries: shape (entries, resamples).
    """
    entries, networks, runs = values.shape
    generator = np.random.default_rng(seed)
    drawn = generator.integers(0, networks, (resamples, networks, 1))
    seeds = generator.integers(0, runs, (resamples, networks, runs))
    found = np.empty((entries, resamples))
    for entry, own in enumerate(values):
        found[entry] = own[drawn, seeds].mean(axis=(1, 2))
    return found


def _scale(scores: Floats, is_ratio: bool) -> Floats:
    return np.log(scores) if is_ratio else scores


def _unscale(value: float, is_ratio: bool) -> float:
    return float(np.exp(value)) if is_ratio else float(value)
