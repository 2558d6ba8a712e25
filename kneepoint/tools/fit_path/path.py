"""Fits an emulated network to measurements of several schemes over one path.

CMA-ES (Hansen and Ostermeier, Evolutionary Computation 9, 2001) searches the parameters of the
network; local regressions of every figure on the parameters then give least-squares steps. A
parameter's interval ends where the best fit with the parameter held fixed is rejected (profile
likelihood), so that intervals may be asymmetric, or end at the range.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from cmaes import CMA
from numpy.typing import NDArray
from pydantic import Field, field_validator, model_validator
from scipy import stats

from kneepoint.common.config_file import ConfigModel
from kneepoint.config.study import NETWORK, Range, Setting
from kneepoint.engines.base import RunRecord
from kneepoint.engines.expression import Expression
from kneepoint.networks.config import Name
from kneepoint.networks.scenario import DELAYS_MS, OF_QUEUE, PreparedNetwork

Floats = NDArray[Any]
Asked = tuple["Scheme", PreparedNetwork, int]
"""A scheme on a network with a seed."""
Run = Callable[[Sequence[Asked]], list[RunRecord]]
"""Runs schemes on networks with seeds; returns the records in the same order."""


@dataclass(frozen=True)
class Effort:
    """Effort of a fit: the networks on which it runs every scheme, and their spread.

    Args:
        population: size of each generation of CMA-ES.
        generations: number of generations.
        cooling: factor of the tolerance of figures per generation: the tolerance is coarse at
            first, because far from the optimum all figures are many deviations off.
        repeats: runs on one network, from which the variance of a run is estimated.
        cloud: points around a centre for a regression.
        steps: maximum number of least-squares steps.
        tries: least-squares steps with a parameter held fixed before its value is rejected.
        min_spread: minimum standard deviation of the points, as a share of each range.
        max_spread: greatest standard deviation of the points: a regression is local.
        stride: factor between a rejected and an accepted distance at the end of an interval.
    """

    population: int = 48
    generations: int = 16
    cooling: float = 0.75
    repeats: int = 8
    cloud: int = 40
    steps: int = 4
    tries: int = 2
    min_spread: float = 0.005
    max_spread: float = 0.15
    stride: float = 1.6


EFFORT = Effort()
PRINTED_ERROR = 0.002
"""Relative rounding error of a printed figure with about three digits."""
TOLERANCE = 0.05
"""Relative error that the first generation tolerates; for loss, 0.01 absolute."""
MIN_FIGURE = 0.05
"""Floor of figures (Mbit/s or ms) where errors are relative."""
LEVEL = 0.95


class Scheme(Setting):
    """Measurements of a controller over the path."""

    measured: Mapping[str, float] = Field(
        min_length=1,
        description="mean over the runs, by metric (throughput_mbps, signal_delay_p95_ms, "
        "queueing_delay_p95_ms, loss) or expression of metrics",
    )
    runs: int = Field(default=1, ge=1, description="number of runs behind the means")

    @field_validator("measured")
    @classmethod
    def _exists(cls, measured: Mapping[str, float]) -> Mapping[str, float]:
        for name, value in measured.items():
            Expression(name)
            if not value >= 0:
                raise ValueError(f"{name} is {value:g}; give a number of at least 0")
            if name == "loss" and value > 1:
                raise ValueError(f"loss is {value:g}; give the share, not the percentage")
        return measured


class PathDescription(ConfigModel):
    """A path to fit: the initial network, the searched parameters, the measurements."""

    title: str = Field(min_length=1, description="title of the fitted network")
    network: Name = Field(
        description="initial network of config/networks, with the parameters not searched"
    )
    space: Mapping[str, Range] = Field(
        min_length=1,
        description="ranges of network.rate_mbps, network.delay_ms, network.loss_probability, "
        "network.queue.packets and other parameters of its queue, host_latency_us",
    )
    schemes: tuple[Scheme, ...] = Field(
        min_length=2, description="controllers that were measured over the path"
    )

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
    """A parameter of the path with its simultaneous 95 % interval, which is cut at the range."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Figure:
    """A measured figure, the fitted figure, and the prediction of a fit without its scheme."""

    controller: str
    metric: str
    measured: float
    fitted: float
    left_out: float


@dataclass(frozen=True)
class Fitted:
    """A fitted path.

    `misfit_p` is the p value of the hypothesis that one network explains all schemes; `worst` is
    the scheme without which the others fit best.
    """

    parameters: Mapping[str, Estimate]
    figures: tuple[Figure, ...]
    misfit_p: float
    worst: str


def fit_path(path: PathDescription, network: PreparedNetwork, run: Run, seed: int) -> Fitted:
    """Fits a network to measurements; equal seeds give equal fits.

    Throughputs and delays are fitted on a logarithmic scale. The variance of a figure is the
    variance of our runs divided by its number of runs.

    Args:
        path: the path to fit.
        network: the prepared network `path.network`.
        run: runs schemes.
        seed: of all draws.
    """
    return _Fit(path, network, run, np.random.default_rng(seed)).result()


@dataclass(frozen=True)
class _Linear:
    """A linear regression of the figures on points around a centre.

    `variance` is the variance of the differences between measured and predicted figures.
    """

    centre: Floats
    spread: Floats
    at: Floats
    slopes: Floats
    variance: Floats

    def __call__(self, point: Floats) -> Floats:
        return np.asarray(self.at + self.slopes @ (point - self.centre))

    def information(self, known: Floats | float = 1.0) -> Floats:
        """Returns the information matrix of the known figures and of the parameters' ranges."""
        weighted = self.slopes.T * (known / self.variance)
        return np.asarray(weighted @ self.slopes + np.eye(len(self.centre)))


class _Fit:
    """A fit; points are in the unit cube of the space, figures are transformed."""

    def __init__(
        self, path: PathDescription, network: PreparedNetwork, run: Run, random: np.random.Generator
    ) -> None:
        self._path, self._network, self._run, self._random = path, network, run, random
        self._metrics = [(each, name) for each in path.schemes for name in each.measured]
        self._is_loss = np.array([name == "loss" for _, name in self._metrics])
        self._measured = self._scaled(np.array([of.measured[name] for of, name in self._metrics]))
        self._runs = np.array([each.runs for each, _ in self._metrics])
        size = np.where(self._is_loss, np.maximum(self._measured, MIN_FIGURE), 1)
        self._printed = PRINTED_ERROR * size
        self._tolerance = np.where(self._is_loss, 0.01, TOLERANCE)

    def result(self) -> Fitted:
        spare = len(self._metrics) - len(self._path.space)
        linear = self._optimum()
        centre = self._solved(linear)
        fitted = linear(centre)
        misfit = self._misfit(fitted, linear.variance)
        # If one network does not explain all schemes, its misfit counts as noise.
        level = 1 - (1 - LEVEL) / len(centre) / 2
        enough = misfit + max(1.0, misfit / spare) * stats.t.ppf(level, spare) ** 2
        ends = {
            side: np.array([self._end(k, side, linear, centre, enough) for k in range(len(centre))])
            for side in (-1, 1)
        }
        value, low, high = (self._values(ends.get(side, centre), side) for side in (0, -1, 1))
        figures: list[Figure] = []
        rests: list[float] = []
        for scheme in self._path.schemes:
            known = np.array([of is not scheme for of, _ in self._metrics])
            point = self._solved(linear, known)
            rests.append(self._misfit(linear(point), linear.variance, known))
            again = self._figures(np.repeat(point[None], EFFORT.repeats, axis=0)).mean(axis=0)
            ours = zip(*map(self._unscaled, (self._measured, fitted, again)), strict=True)
            figures += [
                Figure(scheme.controller, name, *map(float, of))
                for (own, name), of in zip(self._metrics, ours, strict=True)
                if own is scheme
            ]
        return Fitted(
            {name: Estimate(value[name], low[name], high[name]) for name in value},
            tuple(figures),
            float(stats.chi2.sf(misfit, spare)),
            self._path.schemes[int(np.argmin(rests))].controller,
        )

    def _optimum(self) -> _Linear:
        """Returns the regression around the optimum, from CMA-ES and then least squares."""
        dimensions = len(self._path.space)
        optimizer = CMA(
            np.full(dimensions, 0.5),
            sigma=0.3,
            bounds=np.tile([0.0, 1.0], (dimensions, 1)),
            population_size=EFFORT.population,
            seed=int(self._random.integers(2**31)),
        )
        noise = np.zeros(len(self._metrics))
        centre = np.clip(optimizer.mean, 0, 1)
        for generation in range(EFFORT.generations):
            if generation > 0:
                repeated = np.repeat(centre[None], EFFORT.repeats, axis=0)
                noise = self._figures(repeated).var(axis=0, ddof=1)
            tolerance = EFFORT.cooling**generation * self._tolerance
            variance = noise * (1 + 1 / self._runs) + self._printed**2 + tolerance**2
            points = np.array([optimizer.ask() for _ in range(EFFORT.population)])
            misfits = self._misfit(self._figures(points), variance)
            optimizer.tell(list(zip(points, misfits.tolist(), strict=True)))
            centre = np.clip(optimizer.mean, 0, 1)
        spread = points.std(axis=0)
        for _ in range(EFFORT.steps):
            spread = np.clip(spread, EFFORT.min_spread, EFFORT.max_spread)
            step = self._solved(self._regressed(centre, spread)) - centre
            step = np.clip(step, -2 * spread, 2 * spread)
            centre, is_there = centre + step, (np.abs(step) < spread / 2).all()
            if is_there:
                break
            spread = np.maximum(spread, np.abs(step))
        return self._regressed(centre, spread)

    def _regressed(self, centre: Floats, spread: Floats) -> _Linear:
        """Returns the regression on points around a centre; a spread of 0 fixes a parameter."""
        points = np.clip(centre + spread * self._normal(EFFORT.cloud), 0, 1)
        figures = self._figures(points)
        terms = np.hstack([np.ones((EFFORT.cloud, 1)), points - centre])
        found, *_ = np.linalg.lstsq(terms, figures, rcond=None)
        noise = ((figures - terms @ found) ** 2).sum(axis=0) / (EFFORT.cloud - terms.shape[1])
        variance = noise * (1 / self._runs + terms.shape[1] / EFFORT.cloud) + self._printed**2
        return _Linear(centre, spread, found[0], found[1:].T, variance)

    def _solved(self, linear: _Linear, known: Floats | float = 1.0) -> Floats:
        """Returns the least-squares point of the known figures, within a fifth of each range."""
        gradient = linear.slopes.T @ (known * (self._measured - linear.at) / linear.variance)
        step = np.linalg.solve(linear.information(known), gradient)
        return np.asarray(np.clip(linear.centre + np.clip(step, -0.2, 0.2), 0, 1))

    def _end(self, k: int, side: int, linear: _Linear, centre: Floats, enough: float) -> float:
        """Returns the end of a parameter's interval, optimising the other parameters."""
        room = float(1 - centre[k] if side > 0 else centre[k])
        spread = np.where(np.arange(len(centre)) == k, 0, linear.spread)

        def is_rejected(distance: float) -> bool:
            point = centre.copy()
            for _ in range(EFFORT.tries):
                point[k] = centre[k] + side * distance
                there = replace(self._regressed(point, spread), variance=linear.variance)
                point = self._solved(there)
                if self._misfit(there(point), linear.variance) <= enough:
                    return False
            return True

        least = math.sqrt(np.linalg.inv(linear.information())[k, k])
        inner, outer, distance = 0.0, math.inf, min(room, 3 * least)
        while inner < room and outer > 1.01 * EFFORT.stride * max(inner, least):
            if is_rejected(distance):
                outer, distance = distance, distance / EFFORT.stride
            else:
                inner, distance = distance, min(room, EFFORT.stride * distance)
        return float(centre[k] + side * min(outer, room))

    def _normal(self, count: int) -> Floats:
        return self._random.standard_normal((count, len(self._path.space)))

    def _misfit(self, figures: Floats, variance: Floats, known: Floats | float = 1.0) -> Any:
        return (known * (figures - self._measured) ** 2 / variance).sum(axis=-1)

    def _scaled(self, figures: Floats) -> Floats:
        return np.where(self._is_loss, figures, np.log(np.maximum(figures, MIN_FIGURE)))

    def _unscaled(self, figures: Floats) -> Floats:
        return np.where(self._is_loss, np.maximum(figures, 0), np.exp(figures))

    def _figures(self, points: Floats) -> Floats:
        """Runs each scheme once at each point, with different seeds; returns the figures."""
        asked = [
            (scheme, network, int(self._random.integers(2**31)))
            for network in map(self._at, points)
            for scheme in self._path.schemes
        ]
        found = [
            _value(Expression(name), record, network)
            for (scheme, network, _), record in zip(asked, self._run(asked), strict=True)
            for name in scheme.measured
        ]
        return self._scaled(np.array(found).reshape(len(points), -1))

    def _values(self, point: Floats, side: int = 0) -> dict[str, float]:
        """Returns the parameters at a point; ends of intervals are rounded outwards."""
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
                network = network.with_value(name.removeprefix(NETWORK), value)
            else:
                network = network.with_host(name, value)
        return network


def _value(expression: Expression, record: RunRecord, network: PreparedNetwork) -> float:
    is_ok = record.status == "ok"
    return expression.of_run(record, network) if is_ok else expression.of_failed_run()
