"""Pairwise comparisons and ranks of entries, with their intervals.

Entries are compared in pairs of runs that share network and seed, in two ways: whether their order
would be the same with other seeds on these networks (sign-flip test with Holm's correction), and
whether it would be the same on other networks of the same kind (ranks over resampled networks and
seeds).
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
from kneepoint.stats.paired import holm, sign_flip_test

SIGNIFICANT = 0.05
RESAMPLES = 4_000
FLIPS = 19_999
_TAIL = 0.025
_FEWEST_RUNS, _APART, _SAMPLES = 4, 0.2, 10_000
"""Minimum number of runs, minimum relative gap, and Monte Carlo samples of `outcomes_of`."""


def spread_of(scores: Floats, *, is_ratio: bool) -> Json:
    """Returns how a network separates entries: components of a one-way analysis of variance.

    Args:
        scores: shape (entries, runs).
        is_ratio: whether to analyse the logarithms of scores.

    Returns:
        Standard deviations `between` entries, without the contribution of seeds, and `within` an
        entry, between its runs; and the `share` of entries in the variance. None for single runs.
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
    """Returns the 95 % interval of `mean_of` over seeds on these networks; NaN for single runs."""
    low, high = bootstrap_interval(list(scaled(scores, is_ratio)), seed)
    return unscaled(low, is_ratio), unscaled(high, is_ratio)


def outcomes_of(scores: Floats, *, is_ratio: bool) -> list[Json]:
    """Returns the two outcomes of an entry's runs on one network, if its scores are bimodal.

    The widest gap between sorted scores divides the runs. It must be at least a fifth of the
    greatest score, and its width relative to the wider group must exceed the 99th percentile for
    samples of normal scores.

    Args:
        scores: of runs with different seeds, shape (runs), at least four.
        is_ratio: whether to average scores geometrically.

    Returns:
        The lower and the higher outcome, each with its mean `score` and its `runs`; empty if scores
        are not bimodal.
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
    """Returns the 99th percentile of the widest gap over the wider group, for normal scores."""
    samples = np.sort(np.random.default_rng(1).normal(size=(_SAMPLES, runs)))
    _, gaps, widths = _widest_gaps(samples)
    return float(np.quantile(gaps / widths, 0.99))


def _widest_gaps(ordered: Floats) -> tuple[NDArray[np.int64], Floats, Floats]:
    """Returns, for rows of sorted scores, end and width of the widest gap, and the wider group."""
    gaps = np.diff(ordered)
    rows, at = np.arange(len(ordered)), gaps.argmax(axis=1) + 1
    widths = np.maximum(ordered[rows, at - 1] - ordered[:, 0], ordered[:, -1] - ordered[rows, at])
    return at, gaps.max(axis=1), widths


def rank_entries(scores: Floats, seed: int, *, is_ratio: bool) -> list[Json]:
    """Ranks entries.

    Args:
        scores: shape (entries, networks, runs); run k of a network has the same seed for all.
        seed: of the resampling.
        is_ratio: whether scores are positive, and averaged geometrically.

    Returns:
        For each entry its `rank` from 1, which equal scores share; the ends of its 95 % interval
        over resampled networks and seeds, `best_rank` and `worst_rank`; and the share of resamples
        in which it is `first`, divided equally among tied entries.
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
        For each pair the names `a` and `b`; the `ratio` A/B or the `difference` A - B of their
        scores; `p_holm` of the sign-flip test over seeds on these networks; the share of resamples
        over networks and seeds in which A is `ahead`; and the name of the entry that is
        significantly `better` on these networks, or None.
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
    """Returns scores over resampled networks and seeds, shape (entries, RESAMPLES).

    The draws are the same for all entries.
    """
    entries, networks, runs = values.shape
    generator = np.random.default_rng(seed)
    drawn = generator.integers(0, networks, (RESAMPLES, networks, 1))
    seeds = generator.integers(0, runs, (RESAMPLES, networks, runs))
    found = np.empty((entries, RESAMPLES))
    for entry, own in enumerate(values):
        found[entry] = own[drawn, seeds].mean(axis=(1, 2))
    return found
