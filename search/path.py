"""The network whose emulation explains what was measured of a few schemes over one path.

The fit draws settings of the network, keeps the best, draws again around them (the cross-entropy
method), and ends with a local regression of every figure on the parameters: its slopes give the
least-squares step, its scatter the noise of a single run, and both the intervals.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator, model_validator
from scipy import stats

from common.config_file import ConfigModel
from engines.base import RunRecord
from engines.expression import Expression
from experiments.models.study import NETWORK, Range, Setting
from networks.config import Name
from networks.scenario import DELAYS_MS, OF_QUEUE, PreparedNetwork

Floats = NDArray[Any]
Asked = tuple["Scheme", PreparedNetwork, int]
"""A scheme on a network with a seed."""
Run = Callable[[Sequence[Asked]], list[RunRecord]]
"""Runs schemes on networks with seeds, and returns the records in this order."""

_FIRST, _DRAWN, _PARENTS, _GENERATIONS = 256, 64, 10, 7
_LOCAL, _LOCAL_ROUNDS, _FRESH = 120, 2, 8
_LEAST_SPREAD = 0.02
"""Of a range: the least spread of the settings of the regression."""
_SHARE_SPREAD = 0.002
"""Relative error of a figure that is printed with few digits."""
_NO_DELAY_MS = 0.5
_LEVEL = 0.95


class Scheme(Setting):
    """What was measured of a controller over the path."""

    measured: Mapping[str, float] = Field(
        min_length=1,
        description="by metric of a run (throughput_mbps, signal_delay_p95_ms, "
        "queueing_delay_p95_ms, loss) or expression of them, the mean of the runs",
    )
    runs: int = Field(default=1, ge=1, description="runs that the means are of")

    @field_validator("measured")
    @classmethod
    def _exists(cls, measured: Mapping[str, float]) -> Mapping[str, float]:
        for name, value in measured.items():
            Expression(name)
            if not value >= 0:
                raise ValueError(f"{name} is {value:g}; give a number from 0 on")
        return measured


class PathDescription(ConfigModel):
    """A path to fit: a network to begin with, what of it is searched, what was measured."""

    title: str = Field(min_length=1, description="title of the fitted network")
    network: Name = Field(description="file of config/networks that has all that is not searched")
    space: Mapping[str, Range] = Field(
        min_length=1,
        description="ranges of network.rate_mbps, network.delay_ms, network.loss_probability, "
        "network.queue.packets and other parameters of its queue, host_latency_us",
    )
    schemes: tuple[Scheme, ...] = Field(min_length=2, description="measured over the path")

    @model_validator(mode="after")
    def _can_be_fitted(self) -> Self:
        for name, searched in self.space.items():
            if searched.values is not None:
                raise ValueError(f"space.{name}: has values; give low and high")
            if not name.startswith(NETWORK) and name != "host_latency_us":
                raise ValueError(f"space.{name}: is neither network.* nor host_latency_us")
        figures = sum(len(each.measured) for each in self.schemes)
        if figures <= len(self.space):
            raise ValueError(
                f"schemes: {figures} figures cannot fit {len(self.space)} parameters; measure "
                "more, or search fewer"
            )
        return self


@dataclass(frozen=True)
class Estimate:
    """A parameter of the path with its 95 % interval, which ends where the range does."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Figure:
    """A measured figure and ours: `left_out` of a fit that did not know its scheme."""

    controller: str
    metric: str
    measured: float
    fitted: float
    left_out: float


@dataclass(frozen=True)
class Fitted:
    """A fitted path. `misfit_p` is the probability of as bad a fit if one network explains all."""

    parameters: Mapping[str, Estimate]
    figures: tuple[Figure, ...]
    misfit_p: float

    @property
    def worst(self) -> str:
        """The scheme whose figures a fit without it predicts worst."""
        off = [
            abs(_scaled(e.metric, e.left_out) - _scaled(e.metric, e.measured)) for e in self.figures
        ]
        return self.figures[int(np.argmax(off))].controller


def fit_path(path: PathDescription, network: PreparedNetwork, run: Run, seed: int) -> Fitted:
    """Fits a network to what was measured; the same for the same seed.

    Throughputs and delays count by their logarithms, losses by their square roots. A figure's
    variance is that of a run here, over the runs that it is the mean of.

    Args:
        path: what to fit.
        network: the prepared network `path.network`.
        run: runs schemes.
        seed: of all draws.
    """
    return _Fit(path, network, run, np.random.default_rng(seed)).result()


class _Fit:
    """A fit; points are in the unit cube of the space, figures are transformed."""

    def __init__(
        self, path: PathDescription, network: PreparedNetwork, run: Run, random: np.random.Generator
    ) -> None:
        self._path, self._network, self._run, self._random = path, network, run, random
        self._metrics = [(each, name) for each in path.schemes for name in each.measured]
        self._measured = np.array([_scaled(n, each.measured[n]) for each, n in self._metrics])
        self._runs = np.array([each.runs for each, _ in self._metrics])

    def result(self) -> Fitted:
        points = stats.qmc.Sobol(len(self._path.space), rng=self._random).random(_FIRST)
        figures = self._figures(points)
        # Until it is known, all figures have the same noise.
        noise = np.full(len(self._metrics), 0.05)
        for _ in range(_GENERATIONS):
            order = np.argsort(self._misfit(figures, noise), kind="stable")[:_PARENTS]
            parents = points[order]
            spread = parents.std(axis=0) + _LEAST_SPREAD
            drawn = parents.mean(axis=0) + spread * self._normal(_DRAWN)
            points = np.vstack([parents, np.clip(drawn, 0, 1)])
            figures = np.vstack([figures[order], self._figures(points[_PARENTS:])])
        best = points[np.argsort(self._misfit(figures, noise), kind="stable")[:_PARENTS]]
        centre, spread = best.mean(axis=0), np.maximum(best.std(axis=0), _LEAST_SPREAD)
        for _ in range(_LOCAL_ROUNDS):
            points = np.clip(centre + spread * self._normal(_LOCAL), 0, 1)
            at, slopes, noise = self._regress(points, centre)
            covariance = self._covariance(slopes, noise, points)
            centre = self._solve(centre, at, slopes, noise)
            spread = np.clip(np.sqrt(np.diag(covariance)), _LEAST_SPREAD, 0.15)
        points = np.clip(centre + spread * self._normal(_LOCAL), 0, 1)
        local = self._regress(points, centre)
        known = ([of is not each for of, _ in self._metrics] for each in self._path.schemes)
        without = [self._mean(self._solve(centre, *local, each)) for each in known]
        return self._described(centre, self._covariance(*local[1:], points), local[2], without)

    def _described(
        self, centre: Floats, covariance: Floats, noise: Floats, left_out: Sequence[Floats]
    ) -> Fitted:
        fitted = self._mean(centre)
        variance = self._variance(noise)
        spare = max(1, len(fitted) - len(centre))
        misfit = float((((fitted - self._measured) ** 2) / variance).sum())
        # Where one network does not explain all, what it misses counts as noise.
        covariance = covariance * max(1.0, misfit / spare)
        reach = stats.t.ppf((1 + _LEVEL) / 2, spare) * np.sqrt(np.diag(covariance))
        low, value, high = (
            self._values(np.clip(centre + side * reach, 0, 1), side) for side in (-1, 0, 1)
        )
        figures = []
        for k, (scheme, name) in enumerate(self._metrics):
            own = left_out[self._path.schemes.index(scheme)][k]
            ours = (_unscaled(name, value) for value in (fitted[k], own))
            figures.append(Figure(scheme.controller, name, scheme.measured[name], *ours))
        return Fitted(
            {name: Estimate(value[name], low[name], high[name]) for name in value},
            tuple(figures),
            float(stats.chi2.sf(misfit, spare)),
        )

    def _normal(self, count: int) -> Floats:
        return self._random.standard_normal((count, len(self._path.space)))

    def _variance(self, noise: Floats) -> Floats:
        return np.asarray(noise**2 / self._runs + _SHARE_SPREAD**2)

    def _misfit(self, figures: Floats, noise: Floats) -> Floats:
        squares = (figures - self._measured) ** 2 / self._variance(noise)
        return np.asarray(squares.sum(axis=1))

    def _regress(self, points: Floats, centre: Floats) -> tuple[Floats, Floats, Floats]:
        """The figures at the centre, their slopes, and the noise of one run of each."""
        figures = self._figures(points)
        terms = np.hstack([np.ones((len(points), 1)), points - centre])
        found, *_ = np.linalg.lstsq(terms, figures, rcond=None)
        rest = figures - terms @ found
        noise = np.sqrt((rest**2).sum(axis=0) / (len(points) - terms.shape[1]))
        return found[0], found[1:].T, noise

    def _covariance(self, slopes: Floats, noise: Floats, points: Floats) -> Floats:
        """Of the parameters; one that no figure depends on may be anywhere in its range.

        Slopes have errors, too, which look like information: what they add is subtracted.
        """
        variance = self._variance(noise)
        weighted = slopes / np.sqrt(variance)[:, None]
        scatter = np.cov(points.T).reshape(len(points.T), -1) * (len(points) - 1)
        added = (noise**2 / variance).sum() * np.linalg.inv(scatter)
        values, vectors = np.linalg.eigh(weighted.T @ weighted - added)
        return np.asarray(vectors @ np.diag(1 / (np.maximum(values, 0) + 1)) @ vectors.T)

    def _solve(
        self,
        centre: Floats,
        at: Floats,
        slopes: Floats,
        noise: Floats,
        known: Sequence[bool] | None = None,
    ) -> Floats:
        """The least-squares step from the centre, no further than a fifth of each range."""
        weights = np.ones(len(at)) if known is None else np.array(known, float)
        weights = weights / self._variance(noise)
        normal = slopes.T @ (weights[:, None] * slopes) + np.eye(len(centre))
        step = np.linalg.solve(normal, slopes.T @ (weights * (self._measured - at)))
        return np.asarray(np.clip(centre + np.clip(step, -0.2, 0.2), 0, 1))

    def _mean(self, point: Floats) -> Floats:
        return np.asarray(self._figures(np.repeat(point[None], _FRESH, axis=0)).mean(axis=0))

    def _figures(self, points: Floats) -> Floats:
        """One run of each scheme at each point, with seeds of its own."""
        asked = [
            (scheme, self._at(point), int(self._random.integers(2**31)))
            for point in points
            for scheme in self._path.schemes
        ]
        found = [
            _scaled(name, _value(Expression(name), record, network))
            for (scheme, network, _), record in zip(asked, self._run(asked), strict=True)
            for name in scheme.measured
        ]
        return np.array(found).reshape(len(points), -1)

    def _values(self, point: Floats, side: int = 0) -> dict[str, float]:
        """A point as values of the parameters; ends of intervals are rounded outwards."""
        to_whole = (round, math.ceil, math.floor)[side]
        found = {}
        for (name, searched), share in zip(self._path.space.items(), point, strict=True):
            low, high = searched.bounds
            value = low * (high / low) ** share if searched.log else low + share * (high - low)
            found[name] = to_whole(value) if self._is_whole(name) else float(f"{value:.6g}")
        return found

    def _is_whole(self, name: str) -> bool:
        parameter = name.removeprefix(NETWORK)
        has_trace = bool(self._network.uplink.trace or self._network.downlink.trace)
        return (
            parameter.startswith(OF_QUEUE)
            or not name.startswith(NETWORK)
            or (parameter in DELAYS_MS and has_trace)
        )

    def _at(self, point: Floats) -> PreparedNetwork:
        network = self._network
        for name, value in self._values(point).items():
            if name.startswith(NETWORK):
                network = network.having(name.removeprefix(NETWORK), value)
            else:
                network = network.with_host(name, value)
        return network


def _value(expression: Expression, record: RunRecord, network: PreparedNetwork) -> float:
    is_ok = record.status == "ok"
    return expression.of_run(record, network) if is_ok else expression.of_failed_run()


def _scaled(name: str, value: float) -> float:
    """A figure whose noise hardly depends on it."""
    return math.sqrt(max(value, 0)) if name == "loss" else math.log(max(value, _NO_DELAY_MS / 10))


def _unscaled(name: str, value: float) -> float:
    return value**2 if name == "loss" else math.exp(value)
