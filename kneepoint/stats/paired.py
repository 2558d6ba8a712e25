"""Is A better than B? Runs of two settings in pairs that share network and seed.

The measure is the geometric mean of A over B: within each network that of its pairs, then over the
networks, each of which counts once. With `paired_ratio`, seeds are random and networks are fixed:
its interval covers other seeds on the same networks, never other networks. With `over_networks`,
the networks are a sample, too.
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
MOST_EXACT_PAIRS = 16
"""Up to this many pairs that differ, all sign patterns (at most 65,536) are counted."""


@dataclass(frozen=True)
class Ratio:
    """A over B, its 95 % interval, and the p value of the sign-flip test.

    With only one pair on a network, its spread is unknown and the interval NaN.
    """

    ratio: float
    low: float
    high: float
    p: float
    networks: int
    pairs: int

    def __str__(self) -> str:
        """Returns `1.07 [1.03, 1.11]`, or the ratio alone; a narrow interval has more digits."""
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
    """Relates two settings.

    Args:
        pairs: for each network the values of A and those of B, all above 0; element k of both is
            from the same seed.
        seed: of the bootstrap and of a test by Monte Carlo.
        level: of the interval.
        resamples: how many the bootstrap draws.

    Raises:
        ValueError: values are not in pairs, not above 0, or there are none.
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
    """Relates two settings on all networks, of which the measured networks are a sample.

    Each network is one value, the mean logarithm of its pairs, which contains the variation from
    seed to seed. The interval is Student's t interval; the test flips the signs of whole networks.
    With fewer than three networks both ends and p are NaN: they say nothing about other networks.

    Args:
        strata: for each network the logarithms of A over B.
        seed: of a test by Monte Carlo.
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
    """The two-sided p value of exchangeable pairs, given the differences in each stratum.

    If A and B are exchangeable in every pair, each difference has either sign with equal
    probability (Fisher's randomisation test). Ties remain ties under any sign and count as such:
    the test is exact however many there are. Beyond MOST_EXACT_PAIRS differences other than 0 it
    draws `flips` sign patterns, and counts the observed one among them (Phipson and Smyth 2010).
    """
    terms = np.concatenate([each / each.size for each in strata])
    terms = terms[terms != 0]
    if terms.size == 0:
        return 1.0
    extreme = abs(terms.sum()) - 1e-9 * np.abs(terms).sum()  # sums differ by their order
    if terms.size <= MOST_EXACT_PAIRS:
        sums = np.zeros(1)
        for term in terms:
            sums = np.concatenate([sums + term, sums - term])
        return float(np.mean(np.abs(sums) >= extreme))
    sums = 2 * (_signs(seed, flips, terms.size) @ terms) - terms.sum()
    return float((1 + np.count_nonzero(np.abs(sums) >= extreme)) / (1 + flips))


@lru_cache(maxsize=1)
def _signs(seed: int, flips: int, terms: int) -> Floats:
    """Random patterns of signs, 0 or 1: the same for every test of so many terms."""
    return np.random.default_rng(seed).integers(0, 2, (flips, terms), dtype=np.int8).astype(float)


def least_pairs(comparisons: int, level: float = 0.05) -> int:
    """The number of pairs that a sign-flip test needs to reject at `level` after Holm's correction.

    Of n pairs that all agree, 2 of the 2^n sign patterns are as extreme.
    """
    return math.ceil(1 + math.log2(comparisons / level))


def holm(p_values: Sequence[float]) -> list[float]:
    """P values corrected for the number of comparisons (Holm 1979).

    To reject those of at most 5 % errs in any of the comparisons with at most 5 % probability,
    however they depend on each other. NaN is no comparison and stays NaN.
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
