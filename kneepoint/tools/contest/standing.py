"""Who is better than whom: scores and ranks, with their intervals.

Entries are compared in pairs of runs that share network and seed, on two questions: whether the
order would be the same with other seeds on these networks (the sign-flip test, corrected by Holm),
and whether it would be on other networks such as these (ranks over resampled networks and seeds).
"""

import math
from collections.abc import Sequence
from functools import cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from kneepoint.common.json_text import Json
from kneepoint.stats import Floats
from kneepoint.stats.bootstrap import bootstrap_interval
from kneepoint.stats.means import scaled, unscaled
from kneepoint.stats.paired import (
    holm,
    sign_flip_test,
)

SIGNIFICANT = 0.05
RESAMPLES = 4_000
FLIPS = 19_999
_TAIL = 0.025
_FEWEST_RUNS, _APART, _SAMPLES = 4, 0.2, 10_000
"""Of two outcomes: see outcomes_of."""


def spread_of(scores: Floats, *, is_ratio: bool) -> Json:
    """How a network tells entries apart: its scores' variance in a one-way analysis of variance.

    Args:
        scores: shape (entries, runs).
        is_ratio: the scores' logarithms count.

    Returns:
        Standard deviations `between` entries, free of what seeds add, and `within` an entry,
        between its runs; the `share` that entries have in the variance. None: of a single run.
    """
    values = scaled(scores, is_ratio)
    entries = values.mean(axis=1).var(ddof=1)
    runs = values.shape[1]
    if runs == 1:
        return {"between": float(np.sqrt(entries)), "within": None, "share": None}
    within = values.var(axis=1, ddof=1).mean()
    between = max(0.0, entries - within / runs)
    total = between + within
    share = float(between / total) if total else None
    return {"between": float(np.sqrt(between)), "within": float(np.sqrt(within)), "share": share}


def interval_of(scores: Floats, seed: int, is_ratio: bool) -> tuple[float, float]:
    """The 95 % interval of `mean_of` for other seeds on these networks; NaN for a single run."""
    low, high = bootstrap_interval(list(scaled(scores, is_ratio)), seed)
    return unscaled(low, is_ratio), unscaled(high, is_ratio)


def outcomes_of(scores: Floats, *, is_ratio: bool) -> list[Json]:
    """Two outcomes of an entry's runs on one network, if chance decides between them.

    The widest gap between sorted scores divides the runs. It must be a fifth of the greatest score,
    and so much wider than either group as 1 % of as many normal scores have it.

    Args:
        scores: of runs with different seeds, shape (runs); fewer than four tell nothing.
        is_ratio: the scores' logarithms count.

    Returns:
        The lower outcome and the higher, each with its mean `score` and its `runs`; or nothing.
    """
    if len(scores) < _FEWEST_RUNS:
        return []
    ordered = np.sort(scaled(scores, is_ratio))
    (at,), (gap,), (width,) = _widest_gaps(ordered[None])
    least = -math.log(1 - _APART) if is_ratio else _APART * np.abs(ordered).max()
    if gap == 0 or gap < max(least, _widest_by_chance(len(ordered)) * width):
        return []
    groups = ordered[:at], ordered[at:]
    return [
        {"score": unscaled(float(group.mean()), is_ratio), "runs": len(group)} for group in groups
    ]


@cache
def _widest_by_chance(runs: int) -> float:
    """By how much a gap of normal scores is wider than the groups beside it, in 1 % of samples."""
    samples = np.sort(np.random.default_rng(1).normal(size=(_SAMPLES, runs)))
    _, gaps, widths = _widest_gaps(samples)
    return float(np.quantile(gaps / widths, 0.99))


def _widest_gaps(ordered: Floats) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Of rows of sorted scores: where the widest gap ends, its width, and the wider group's."""
    gaps = np.diff(ordered)
    rows, at = np.arange(len(ordered)), gaps.argmax(axis=1) + 1
    widths = np.maximum(ordered[rows, at - 1] - ordered[:, 0], ordered[:, -1] - ordered[rows, at])
    return at, gaps.max(axis=1), widths


def rank_entries(scores: Floats, seed: int, *, is_ratio: bool) -> list[Json]:
    """Ranks entries.

    Args:
        scores: shape (entries, networks, runs); run k of a network has the same seed for all.
        seed: of the resampling.
        is_ratio: scores are positive, and averaged geometrically.

    Returns:
        Of each its `rank` from 1, which equal scores share, with the ends of its 95 % interval,
        `best_rank` and `worst_rank`, networks and seeds resampled; and in which share of the
        resamples it is `first`, of which those that are first together have equal parts.
    """
    values = scaled(scores, is_ratio)
    overall = values.mean(axis=(1, 2))
    resampled = resampled_scores(values, seed)
    ranks = 1 + (resampled[:, None, :] < resampled[None, :, :]).sum(axis=1)
    firsts = (ranks == 1) / (ranks == 1).sum(axis=0)
    best, worst = np.quantile(ranks, [_TAIL, 1 - _TAIL], axis=1, method="nearest")
    return [
        {
            "rank": int(1 + np.count_nonzero(overall > own)),
            "best_rank": int(best[entry]),
            "worst_rank": int(worst[entry]),
            "first": float(firsts[entry].mean()),
        }
        for entry, own in enumerate(overall)
    ]


def compare_pairs(names: Sequence[str], scores: Floats, seed: int, *, is_ratio: bool) -> list[Json]:
    """Compares every pair of entries (see `rank_entries`).

    Returns:
        The names `a` and `b`; the `ratio` A/B or the `difference` A - B of their scores; `p_holm`
        of the sign-flip test over seeds on these networks; the share of resamples over networks and
        seeds in which A is `ahead`; and which is shown to be `better` on these networks, or None.
    """
    values = scaled(scores, is_ratio)
    resampled = resampled_scores(values, seed)
    pairs = list(combinations(range(len(values)), 2))
    p_values = [sign_flip_test(list(values[a] - values[b]), seed, FLIPS) for a, b in pairs]
    rows = []
    for (a, b), p in zip(pairs, holm(p_values), strict=True):
        difference = float(np.mean(values[a] - values[b]))
        ties = np.mean(resampled[a] == resampled[b]) / 2
        ahead = float(np.mean(resampled[a] > resampled[b]) + ties)
        is_clear = p <= SIGNIFICANT and ahead != 0.5
        rows.append(
            {
                **{"a": names[a], "b": names[b]},
                "ratio": math.exp(difference) if is_ratio else None,
                "difference": None if is_ratio else difference,
                "p_holm": p,
                "ahead": ahead,
                "better": names[a if difference > 0 else b] if is_clear else None,
            }
        )
    return rows


def resampled_scores(values: Floats, seed: int) -> Floats:
    """Overall scores of networks drawn with replacement, and of each one's seeds, too.

    The same are drawn for all entries: shape (entries, RESAMPLES).
    """
    entries, networks, runs = values.shape
    generator = np.random.default_rng(seed)
    drawn = generator.integers(0, networks, (RESAMPLES, networks, 1))
    seeds = generator.integers(0, runs, (RESAMPLES, networks, runs))
    found = np.empty((entries, RESAMPLES))
    for entry, own in enumerate(values):
        found[entry] = own[drawn, seeds].mean(axis=(1, 2))
    return found
