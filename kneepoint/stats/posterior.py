"""Posterior of settings' values from noisy measurements: a mixture of Gaussian processes.

Values are natural logarithms of power, so that differences are relative. Each hyperparameter of the
model (amplitude, correlation length, noise) has a few hypotheses, weighted by their marginal
likelihood. No hyperparameter is optimised: with few measurements, the posterior keeps their
uncertainty.
"""

import functools
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray
from optuna.distributions import BaseDistribution
from scipy.linalg import cho_solve, cholesky, orth, solve_triangular
from scipy.special import chdtrc, logsumexp

from kneepoint.runs.seeds import derive_seed
from kneepoint.stats import Floats

WITHIN = 0.01
"""A setting is as good as the best if its value is lower by at most this share."""
LEADERS = 15
"""The number of settings that may be the best: settings with the greatest posterior means."""
DRAWS = 4000
_CONSTANT = 1.0
"""Prior standard deviation of the level common to all settings."""
_MIN_WEIGHT = 1e-3
_JITTER = 1e-10


@dataclass(frozen=True)
class Measured:
    """Measurements of m settings.

    Args:
        counts: measurements per setting, shape (m,).
        means: their means, shape (m,); 0 without measurements.
        squares: sums of squared deviations from the means, shape (m,).
    """

    counts: Floats
    means: Floats
    squares: Floats

    @classmethod
    def empty(cls, settings: int) -> Self:
        """Returns zero measurements of each of `settings` settings."""
        return cls(*np.zeros((3, settings)))

    def with_values(self, found: Iterable[tuple[int, float]]) -> Self:
        """Returns these and further measurements, each with the index of its setting."""
        counts, means, squares = (each.copy() for each in (self.counts, self.means, self.squares))
        for at, value in found:
            counts[at] += 1
            before = value - means[at]
            means[at] += before / counts[at]
            squares[at] += before * (value - means[at])
        return replace(self, counts=counts, means=means, squares=squares)

    def as_prior(self) -> "Hypothesis":
        """Returns the means as a prior; settings with few measurements use the pooled noise."""
        counts = np.maximum(self.counts, 1)
        pooled = self.squares.sum() / max(1, (counts - 1).sum())
        noise = (self.squares + pooled) / counts
        return Hypothesis(self.means, np.diag(noise / counts), noise)


@dataclass(frozen=True)
class Hypothesis:
    """A Gaussian prior of the values, and the variance of a measurement of each.

    Args:
        mean: shape (m,).
        covariance: shape (m, m).
        noise: variance of a measurement, shape (m,).
        weight: prior probability.
    """

    mean: Floats
    covariance: Floats
    noise: Floats
    weight: float = 1.0

    def evidence(self, measured: Measured) -> float:
        """Returns the log marginal likelihood of the measurements, up to a constant."""
        if not measured.counts.any():
            return 0.0
        at, root, residual = self._conditions(measured)
        standard = solve_triangular(root, residual, lower=True)
        counts, noise = measured.counts[at], self.noise[at]
        # The means, then the deviations from them.
        of_means = -0.5 * standard @ standard - np.log(np.diag(root)).sum()
        deviations = measured.squares[at] / noise + (counts - 1) * np.log(noise)
        return float(of_means - 0.5 * deviations.sum())

    def conditioned_on(self, measured: Measured) -> "Hypothesis":
        """Returns the posterior (Rasmussen and Williams, Gaussian Processes, 2006, ch. 2)."""
        if not measured.counts.any():
            return self
        at, root, residual = self._conditions(measured)
        known = self.covariance[at]
        gain = cho_solve((root, True), known).T
        covariance = self.covariance - gain @ known
        return replace(self, mean=self.mean + gain @ residual, covariance=covariance)

    def p_value(self, measured: Measured, along: Floats | None = None) -> float:
        """Returns the p value of the measured means under this prior.

        The squared Mahalanobis distance of the means from the prior is chi-squared.

        Args:
            measured: the measurements.
            along: directions in which the distance counts, shape (m, k); by default all.
        """
        at, root, residual = self._conditions(measured)
        standard = solve_triangular(root, residual, lower=True)
        if along is not None:
            standard = orth(solve_triangular(root, along[at], lower=True)).T @ standard
        return float(chdtrc(len(standard), standard @ standard))

    def _conditions(self, measured: Measured) -> tuple[NDArray[np.intp], Floats, Floats]:
        """Returns the measured settings, the Cholesky factor of their means, and the residuals."""
        at = np.flatnonzero(measured.counts)
        covariance = self.covariance[np.ix_(at, at)].copy()
        covariance[np.diag_indices(len(at))] += self.noise[at] / measured.counts[at] + _JITTER
        return at, cholesky(covariance, lower=True), measured.means[at] - self.mean[at]


@dataclass(frozen=True)
class Verdict:
    """The decision that a posterior supports.

    Args:
        recommended: the setting with the greatest posterior mean.
        within: probability that its value is within WITHIN of the best.
        best: probability of each setting to be the best, shape (m,).
    """

    recommended: int
    within: float
    best: Floats


@dataclass(frozen=True)
class Posterior:
    """A mixture of Gaussians over the values of m settings, in order of decreasing weight."""

    parts: tuple[Hypothesis, ...]

    @classmethod
    def from_hypotheses(cls, hypotheses: Sequence[Hypothesis], measured: Measured) -> Self:
        """Weights hypotheses by their marginal likelihood, and conditions them on measurements."""
        logs = np.array([math.log(h.weight) + h.evidence(measured) for h in hypotheses])
        weights = np.exp(logs - logsumexp(logs))
        order = [int(k) for k in np.argsort(-weights, kind="stable") if weights[k] > _MIN_WEIGHT]
        total = float(sum(weights[k] for k in order))
        parts = (replace(hypotheses[k], weight=float(weights[k]) / total) for k in order)
        return cls(tuple(part.conditioned_on(measured) for part in parts))

    @cached_property
    def mean(self) -> Floats:
        """Shape (m,)."""
        return _sum(part.weight * part.mean for part in self.parts)

    @cached_property
    def covariance(self) -> Floats:
        """Shape (m, m)."""
        differences = [part.mean - self.mean for part in self.parts]
        return _sum(
            part.weight * (part.covariance + np.outer(each, each))
            for part, each in zip(self.parts, differences, strict=True)
        )

    @cached_property
    def deviation(self) -> Floats:
        """Standard deviations, shape (m,)."""
        variances: Floats = np.maximum(np.diag(self.covariance), 0)
        return np.sqrt(variances)

    @property
    def noise(self) -> Floats:
        """The mean variance of a measurement of each setting, shape (m,)."""
        return _sum(part.weight * part.noise for part in self.parts)

    def marginal(self, settings: Sequence[int]) -> "Posterior":
        """Returns the marginal posterior of some settings."""
        at = list(settings)
        parts = (
            replace(
                part,
                mean=part.mean[at],
                covariance=part.covariance[np.ix_(at, at)],
                noise=part.noise[at],
            )
            for part in self.parts
        )
        return Posterior(tuple(parts))

    def leaders(self, most: int = LEADERS) -> list[int]:
        """Returns the settings with the greatest means, best first."""
        return [int(k) for k in np.argsort(-self.mean, kind="stable")[:most]]

    def draws(self, seed: int, count: int = DRAWS) -> Floats:
        """Draws values of all settings, shape (count, m)."""
        random = np.random.default_rng(seed)
        chosen = random.choice(len(self.parts), count, p=[part.weight for part in self.parts])
        normal = random.standard_normal((count, len(self.mean)))
        for k, part in enumerate(self.parts):
            root = cholesky(part.covariance + _JITTER * np.eye(len(self.mean)), lower=True)
            normal[chosen == k] = part.mean + normal[chosen == k] @ root.T
        return normal

    def verdict(self, seed: int, among: Floats | None = None) -> Verdict:
        """Returns the verdict on the best setting.

        Args:
            seed: of the draws.
            among: where above 0, a setting may be recommended, shape (m,); by default everywhere.
        """
        drawn = self.draws(seed)
        is_known = np.ones(len(self.mean), bool) if among is None or not among.any() else among > 0
        recommended = int(np.argmax(np.where(is_known, self.mean, -np.inf)))
        near = drawn[:, recommended] >= drawn.max(axis=1) + math.log(1 - WITHIN)
        best = np.bincount(drawn.argmax(axis=1), minlength=len(self.mean)) / len(drawn)
        return Verdict(recommended, float(near.mean()), best)

    def choose(self, count: int, seed: int) -> list[int]:
        """Returns the settings to measure next: top-two Thompson sampling.

        Half of the measurements go to the best setting of a draw, half to the best setting of the
        next draw in which another setting is best (Russo, Simple Bayesian Algorithms for Best Arm
        Identification, COLT 2016). The two halves alternate, because a few independent coin tosses
        seldom split evenly; one toss decides which half begins.
        """
        best = [int(k) for k in self.draws(derive_seed(seed, "choose")).argmax(axis=1)]
        begins = int(np.random.default_rng(derive_seed(seed, "coin")).integers(2))
        waiting = iter(best)
        chosen = []
        for turn in range(begins, begins + count):
            first = next(waiting)
            others = (each for each in waiting if each != first)
            chosen.append(next(others, first) if turn % 2 else first)
            waiting = itertools.chain(waiting, best)
        return chosen


def rounded(value: float) -> float:
    """Returns a value with five digits: further digits may depend on the processor."""
    return float(f"{value:.5g}")


def coordinates(
    space: Mapping[str, BaseDistribution], points: Sequence[Mapping[str, float]]
) -> Floats:
    """Returns the coordinates of points for `smooth`, shape (m, d).

    They are logarithmic where the search is, and standardised, so that lengths are in standard
    deviations of the settings.
    """
    at = np.array([[float(point[name]) for name in space] for point in points])
    for k, distribution in enumerate(space.values()):
        if getattr(distribution, "log", False):
            at[:, k] = np.log(at[:, k])
    spread = at.std(axis=0)
    scaled: Floats = (at - at.mean(axis=0)) / np.where(spread > 0, spread, 1)
    return scaled


def smooth(at: Floats, length: float) -> Floats:
    """Returns the Matern 5/2 correlation of points, shape (m, m)."""
    squares = ((at[:, None, :] - at[None, :, :]) ** 2).sum(axis=2)
    r = np.sqrt(5 * squares) / length
    correlation: Floats = (1 + r + r**2 / 3) * np.exp(-r)
    return correlation


def _sum(arrays: Iterable[Floats]) -> Floats:
    return functools.reduce(np.add, arrays)


AMPLITUDES, LENGTHS = (0.03, 0.1, 0.3), (0.7, 2.0, 6.0)
ROUGH = (0.0, 0.1)
"""Shares of the variance that are independent between settings, as at a timeout's threshold."""
NOISES = (0.0025, 0.005, 0.01, 0.02, 0.04, 0.08)
"""Standard deviations of a measurement."""
_ENOUGH = 30
"""Degrees of freedom of the repeats from which the pooled noise is used instead of NOISES."""


def hypotheses_of_search(at: Floats, measured: Measured) -> list[Hypothesis]:
    """Returns hypotheses on the values of a search's settings, with the median as prior mean."""
    m, degrees = len(at), float(np.maximum(measured.counts - 1, 0).sum())
    level = float(np.median(measured.means))
    pooled = math.sqrt(float(measured.squares.sum()) / degrees) if degrees else 0.0
    noises = NOISES if degrees < _ENOUGH else (max(pooled, MIN_NOISE),)
    return [
        Hypothesis(
            np.full(m, level),
            _CONSTANT**2 + amplitude**2 * ((1 - rough) * correlation + rough * np.eye(m)),
            np.full(m, noise**2),
        )
        for length in LENGTHS
        for correlation in [smooth(at, length)]
        for rough in ROUGH
        for amplitude in AMPLITUDES
        for noise in noises
    ]


MIN_NOISE = 0.002
"""Minimum standard deviation of a measurement, even if all runs agree."""
