"""Distribution-free statistics of ranks: medians, rank correlation, sufficient runs."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr

SUBSETS = 200
"""Subsets of each size, as in the paper (see `enough_runs`)."""


@dataclass(frozen=True)
class SufficientRuns:
    """Number of runs that suffices; None if more than the measured number are needed."""

    runs: int | None
    measured: int

    def __str__(self) -> str:
        """Returns `12`, or `more than 30`."""
        return f"more than {self.measured}" if self.runs is None else str(self.runs)


def median_ranks(n: int, level: float = 0.95) -> tuple[int, int] | None:
    """Ranks, from 1, of the order statistics that enclose the median with probability `level`.

    They are the narrowest symmetric pair for n independent values of any continuous distribution
    (Conover, Practical Nonparametric Statistics, section 3.2). None if n is too small: 95 % require
    six values.
    """
    tails = bdtr(np.arange(n // 2), n, 0.5)
    rank = int((tails <= (1 - level) / 2).sum())
    return (rank, n + 1 - rank) if rank else None


def median_interval(values: ArrayLike) -> tuple[float, float, float]:
    """Returns the median of values and its 95 % interval of order statistics (see `median_ranks`).

    The median of a single value and the interval of fewer than six values are NaN.
    """
    ordered = np.sort(np.asarray(values, dtype=float))
    ranks = median_ranks(len(ordered))
    low, high = (float(ordered[rank - 1]) for rank in ranks) if ranks else (math.nan, math.nan)
    return float(np.median(ordered)) if len(ordered) > 1 else math.nan, low, high


def rank_correlation(one: ArrayLike, other: ArrayLike) -> float:
    """Spearman's correlation: NaN for fewer than three values, a constant side or a NaN."""
    from scipy.stats import spearmanr  # slow to import

    pairs = np.asarray(one, dtype=float), np.asarray(other, dtype=float)
    if pairs[0].size < 3 or any(np.unique(each).size < 2 for each in pairs):
        return math.nan
    return float(spearmanr(*pairs).statistic)


def enough_runs(
    values: ArrayLike,
    seed: int,
    within: float = 0.01,
    level: float = 0.95,
    subsets: int = SUBSETS,
) -> SufficientRuns:
    """Returns the minimum number of runs that determines the median to `within`, as CONFIRM does.

    Maricq, Duplyakin, Jimenez, Maltzahn, Stutsman and Ricci, Taming Performance Variability, OSDI
    2018. For each number of runs, subsets of that size are drawn without replacement from the
    measured runs. The number suffices if the mean lower and the mean upper limits of the subsets'
    median intervals lie within the share `within` of the median of all measured runs.

    Args:
        values: one value per run.
        seed: of the subsets.
        within: half the allowed width, relative to the median: 0.01 is +-1 %.
        level: of the intervals.
        subsets: number of subsets of each size.
    """
    measured = np.asarray(values, dtype=float)
    median = float(np.median(measured)) if measured.size else math.nan
    margin = within * abs(median)
    generator = np.random.default_rng(seed)
    shuffled = generator.permuted(np.tile(measured, (subsets, 1)), axis=1)
    for runs in range(1, measured.size + 1):
        ranks = median_ranks(runs, level)
        if ranks is None:
            continue
        ordered = np.sort(shuffled[:, :runs], axis=1)
        low, high = (float(ordered[:, rank - 1].mean()) for rank in ranks)
        if median - margin <= low and high <= median + margin:
            return SufficientRuns(runs, measured.size)
    return SufficientRuns(None, measured.size)
