"""Paired comparison of two settings, whose runs share network and seed.

The estimate is the geometric mean of A over B: over the pairs of each network, then over networks,
which have equal weight. In `paired_ratio`, seeds are random and networks are fixed: its interval
covers other seeds on the same networks, not other networks. In `over_networks`, the networks are a
sample, too.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from kneepoint.stats import Floats
from kneepoint.stats.bootstrap import RESAMPLES, bootstrap_interval
from kneepoint.stats.intervals import t_quantile

FLIPS = 99_999
"""The number of random sign patterns of a Monte Carlo test."""
MAX_EXACT_PAIRS = 16
"""The maximum number of nonzero differences for which the test enumerates all sign patterns."""


@dataclass(frozen=True)
class Ratio:
    """A over B, its interval, and the p value of the sign-flip test.

    If a network has only one pair, its spread is unknown and the interval is NaN.
    """

    ratio: float
    low: float
    high: float
    p: float
    networks: int
    pairs: int

    def __str__(self) -> str:
        """Returns `1.07 [1.03, 1.11]`, with more digits for narrow intervals, or only the ratio."""
        if math.isnan(self.low):
            return f"{self.ratio:.2f}"
        width = self.high - self.low
        digits = min(4, max(2, math.ceil(-math.log10(width / 4)))) if width > 0 else 2
        return f"{self.ratio:.{digits}f} [{self.low:.{digits}f}, {self.high:.{digits}f}]"


def paired_ratio(
    pairs: Sequence[tuple[ArrayLike, ArrayLike]],
    seed: int,
    level: float = 0.95,
    resamples: int = RESAMPLES,
) -> Ratio:
    """Compares two settings on fixed networks.

    Args:
        pairs: for each network the values of A and of B, all above 0; the k-th values of both have
            the same seed.
        seed: of the bootstrap and of a Monte Carlo test.
        level: of the interval.
        resamples: number of resamples of the bootstrap.

    Raises:
        ValueError: there are no values, or they are not in pairs or not above 0.
    """
    strata = [_log_ratios(a, b) for a, b in pairs]
    if not strata:
        raise ValueError("no pair of runs")
    low, high = bootstrap_interval(strata, seed, level, resamples)
    return Ratio(
        ratio=math.exp(float(np.mean([each.mean() for each in strata]))),
        low=math.exp(low),
        high=math.exp(high),
        p=sign_flip_test(strata, seed),
        networks=len(strata),
        pairs=sum(each.size for each in strata),
    )


def over_networks(strata: Sequence[Floats], seed: int, level: float = 0.95) -> Ratio:
    """Compares two settings on a population of networks; the measured networks are a sample.

    Each network is one value, the mean logarithm of its pairs, which includes the variation between
    seeds. The interval is Student's t interval; the test flips the signs of whole networks. With
    fewer than three networks, the interval and p are NaN.

    Args:
        strata: for each network the natural logarithms of A over B.
        seed: of a Monte Carlo test.
        level: of the interval.
    """
    means = np.array([each.mean() for each in strata])
    center, n = float(means.mean()), len(means)
    half = p = math.nan
    if n > 2:
        half = float(t_quantile(n - 1, level)) * float(means.std(ddof=1)) / math.sqrt(n)
        p = sign_flip_test([means], seed)
    return Ratio(
        ratio=math.exp(center),
        low=math.exp(center - half),
        high=math.exp(center + half),
        p=p,
        networks=n,
        pairs=sum(each.size for each in strata),
    )


def sign_flip_test(strata: Sequence[Floats], seed: int, flips: int = FLIPS) -> float:
    """The two-sided p value of Fisher's randomisation test on the differences of each stratum.

    If A and B are exchangeable in every pair, each difference has either sign with equal
    probability. Ties are 0 under either sign, so the test is exact with any number of ties. Beyond
    MAX_EXACT_PAIRS nonzero differences it draws `flips` random sign patterns, and counts the
    observed pattern as one of them (Phipson and Smyth 2010).
    """
    terms = np.concatenate([each / each.size for each in strata])
    terms = terms[terms != 0]
    if terms.size == 0:
        return 1.0
    extreme = abs(terms.sum()) - 1e-9 * np.abs(terms).sum()  # rounding depends on the order
    if terms.size <= MAX_EXACT_PAIRS:
        sums = np.zeros(1)
        for term in terms:
            sums = np.concatenate([sums + term, sums - term])
        return float(np.mean(np.abs(sums) >= extreme))
    sums = 2 * (_signs(seed, flips, terms.size) @ terms) - terms.sum()
    return float((1 + np.count_nonzero(np.abs(sums) >= extreme)) / (1 + flips))


@lru_cache(maxsize=1)
def _signs(seed: int, flips: int, terms: int) -> Floats:
    """Random sign patterns, 0 or 1, of shape (flips, terms); cached for tests of equal size."""
    return np.random.default_rng(seed).integers(0, 2, (flips, terms), dtype=np.int8).astype(float)


def min_pairs(comparisons: int, level: float = 0.05) -> int:
    """Returns the minimum number of pairs with which a sign-flip test can reject at `level`.

    If all n pairs have the same sign, 2 of the 2^n sign patterns are as extreme.
    """
    return math.ceil(1 + math.log2(comparisons / level))


def holm(p_values: Sequence[float]) -> list[float]:
    """P values corrected for multiple comparisons (Holm 1979).

    Rejecting at 5 % bounds the family-wise error rate at 5 % under any dependence. NaN does not
    count as a comparison and stays NaN.
    """
    values = np.asarray(p_values, dtype=float)
    order = np.argsort(values, kind="stable")[: np.count_nonzero(~np.isnan(values))]  # NaN is last
    corrected = np.full(values.size, math.nan)
    times = np.arange(order.size, 0, -1)
    corrected[order] = np.minimum(1, np.maximum.accumulate(times * values[order]))
    return [float(value) for value in corrected]


def _log_ratios(a: ArrayLike, b: ArrayLike) -> Floats:
    ours, theirs = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if ours.shape != theirs.shape or ours.ndim != 1 or ours.size == 0:
        raise ValueError(f"{ours.size} and {theirs.size} runs are not in pairs")
    if not (np.all(ours > 0) and np.all(theirs > 0)):
        raise ValueError("a ratio needs values above 0")
    ratios: Floats = np.log(ours / theirs)
    return ratios
