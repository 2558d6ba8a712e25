"""The plan of a study: from a trial's point to its runs, and from the runs to its score."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeVar

from optuna.distributions import BaseDistribution

from kneepoint.config.published import PublishedRow, PublishedTable, number_on
from kneepoint.config.study import (
    NETWORK,
    Bounded,
    Fit,
    Flows,
    Formula,
    Front,
    Least,
    Power,
    Study,
    WorstCase,
)
from kneepoint.engines.base import EngineSettings, RunSpec
from kneepoint.engines.catalogue import Controller
from kneepoint.engines.entry import Entry
from kneepoint.engines.expression import Expression
from kneepoint.networks.fitted_host import column_of_host
from kneepoint.networks.scenario import ALONE, PreparedNetwork, Traffic
from kneepoint.networks.searched import SearchedNetworks
from kneepoint.runs.results import FinishedRun, PlannedRun
from kneepoint.runs.seeds import derive_seed
from kneepoint.search import objective, spaces
from kneepoint.search.spaces import PARAMETER, Point

T = TypeVar("T")


@dataclass(frozen=True)
class Opponent:
    """A setting that repeats every run of the controller under study, for comparison."""

    controller: Controller
    parameters: Mapping[str, float]

    def instead(self, spec: RunSpec) -> RunSpec:
        """Returns a run with its setting replaced by the opponent's."""
        return replace(
            spec,
            controller=self.controller.name,
            controller_sha256=self.controller.sha256,
            parameters=self.parameters,
        )


Subject = tuple[Controller | Entry, Mapping[str, float]]
"""The sender of a run, with its parameters."""


@dataclass(frozen=True)
class StudyPlan:
    """A study with everything that its runs depend on.

    Args:
        name: of the study.
        study: its configuration.
        controller: the controller under study.
        networks: prepared networks.
        engine: of its runs.
        seed: from which the seeds of runs and of the sampler derive.
        tables: rows of the replayed table, or of each fitted table, numbered across tables.
        points: all trials, if known in advance.
        space: distributions of the searched columns.
        traffic: other flows.
        given: points of the first trials.
        opponent: reference of a worst case; None: the omniscient bound.
        searched: makes the networks of trials, if the study searches them.
        subject: maps a trial's parameters to its sender, if the sender is not the controller.
    """

    name: str
    study: Study
    controller: Controller
    networks: tuple[PreparedNetwork, ...]
    engine: EngineSettings
    seed: int
    tables: tuple[tuple[PublishedRow, ...], ...]
    points: Sequence[Point] | None
    space: Mapping[str, BaseDistribution]
    traffic: Traffic = ALONE
    given: tuple[Point, ...] = ()
    opponent: Opponent | None = None
    searched: SearchedNetworks | None = None
    subject: Callable[[Mapping[str, float]], Subject] | None = None

    @property
    def rows(self) -> tuple[PublishedRow, ...]:
        """The rows of all tables."""
        return tuple(row for table in self.tables for row in table)

    def runs_of(self, trial: int, point: Point) -> tuple[PlannedRun, ...]:
        """Returns a trial's runs: all repeats on each row or network.

        The opponent's runs follow, with the same seeds.
        """
        places = self._places(trial)
        seeds = [derive_seed(self.seed, trial, run) for run in range(len(places))]
        if self.study.race:
            places = [(None, network) for network, _ in self.pairs]
            seeds = [seed for _, seed in self.pairs]
        runs = [
            (row.number if row else None, self._spec(row, network, point, seed))
            for (row, network), seed in zip(places, seeds, strict=True)
        ]
        if self.opponent:
            runs += [(row, self.opponent.instead(spec)) for row, spec in runs]
        return tuple(PlannedRun(trial, run, row, spec) for run, (row, spec) in enumerate(runs))

    @property
    def total(self) -> int | None:
        """The number of runs of all trials; None if the sampler decides."""
        trials = self.study.sampler.trials if self.points is None else len(self.points)
        each = len(self._places(0)) * (2 if self.opponent else 1)
        return None if trials is None else trials * each

    def _places(self, trial: int) -> list[tuple[PublishedRow | None, PreparedNetwork]]:
        """Returns the row and the network of each of a trial's runs."""
        row = self.rows[trial] if self.study.table else None
        own = row.network if row else None
        places = self._places_of_fit or [
            (row, network) for network in self.networks if own in (None, network.name)
        ]
        return [place for place in places for _ in range(self.study.runs_per_trial)]

    @cached_property
    def _places_of_fit(self) -> list[tuple[PublishedRow | None, PreparedNetwork]]:
        """The rows of the fitted tables, each with its table's network."""
        goal, known = self.study.objective, {each.name: each for each in self.networks}
        if not isinstance(goal, Fit):
            return []
        on = goal.on or dict.fromkeys(goal.fit, self.networks[0].name)
        tables = zip(goal.fit, self.tables, strict=True)
        return [(row, known[on[name]]) for name, rows in tables for row in rows]

    def own(self, runs: Sequence[T]) -> Sequence[T]:
        """Returns a trial's runs without the opponent's."""
        return runs[: len(runs) // 2] if self.opponent else runs

    @cached_property
    def pairs(self) -> tuple[tuple[PreparedNetwork, int], ...]:
        """The pairs of network and seed of every raced trial, in the same order.

        Every round visits all networks, in a new order, so that no trial is stopped for its values
        on one network alone.
        """
        rounds = (
            [(network, derive_seed(self.seed, network.name, repeat)) for network in self.networks]
            for repeat in range(self.study.runs_per_trial)
        )
        return tuple(
            pair
            for each in rounds
            for pair in sorted(each, key=lambda pair: derive_seed(self.seed, "race", pair[1]))
        )

    @property
    def start(self) -> Sequence[Point]:
        """Points of the first trials: all known points, the given points, or else the defaults."""
        return self.points or self.given or ((self.defaults,) if self.defaults else ())

    @property
    def defaults(self) -> Point | None:
        """The point of the declared defaults, the first trial: a search never ends below it.

        None if a default lies outside its range, for samplers that choose their own first trials,
        for minimised objectives (a fit must find the parameters unaided), and for a search over
        networks.
        """
        learns = ("tpe", "cmaes", "nsga2", "nsga3")
        if self.study.objective.minimises or self.study.sampler.kind not in learns:
            return None
        return spaces.point_of(self.study, self.controller, {})

    def score(self, runs: Sequence[FinishedRun], point: Point) -> objective.Score:
        """Returns a trial's score."""
        match self.study.objective:
            case Power(power=over, tail=tail):
                return objective.score_power(runs, over, tail or objective.TAIL)
            case Bounded(throughput=over, delay_ms=bound_ms, tail=tail):
                return objective.score_bounded(runs, over, bound_ms, tail or objective.TAIL)
            case Formula(expression=text, over=over):
                return objective.score_expression(runs, Expression(text), over)
            case Front(front=over):
                return objective.score_front(runs, over)
            case Flows(flows=over):
                return objective.score_flows(runs, over, self.subjects)
            case Least(least=name, keeping=keeping):
                value, greatest = point[spaces.column_of(name)], self.study.space[name].bounds[1]
                return objective.score_least(runs, value, greatest, keeping.items())
            case WorstCase():
                opponent = runs[len(runs) // 2 :] if self.opponent else ()
                return objective.score_worst_case(self.own(runs), opponent)
            case Fit(robust=robust):
                tables = [{row.number: row.metrics for row in table} for table in self.tables]
                return objective.score_fit(runs, tables, robust)

    @property
    def subjects(self) -> frozenset[str]:
        """Names of the flows of the controller under study."""
        return frozenset(n for n, flow in self.traffic.flows.items() if "controller" not in flow)

    def _spec(
        self, row: PublishedRow | None, network: PreparedNetwork, point: Point, seed: int
    ) -> RunSpec:
        searched = {
            name.removeprefix(PARAMETER): value
            for name, value in point.items()
            if name.startswith(PARAMETER)
        }
        given = {**self.study.parameters, **(row.parameters if row else {}), **searched}
        parameters = self.controller.complete(given, f"study {self.name}")
        subject = self.subject(parameters) if self.subject else (self.controller, parameters)
        place = network_of_trial(self.study, network, point, self.searched)
        return RunSpec.on(self.engine, *subject, place, seed, self.traffic)


def network_of_trial(
    study: Study, network: PreparedNetwork, point: Point, searched: SearchedNetworks | None
) -> PreparedNetwork:
    """Returns a trial's network; `searched` is required if the study searches networks."""
    values = {
        name.removeprefix(NETWORK): point[spaces.column_of(name)]
        for name in study.space
        if name.startswith(NETWORK)
    }
    if values:
        assert searched is not None
        network = searched.with_value(network, values)
    for parameter in study.host:
        network = network.with_host(parameter, point[column_of_host(parameter)])
    return network


def plan_study(
    name: str,
    study: Study,
    controller: Controller,
    tables: Mapping[str, PublishedTable],
    networks: Sequence[PreparedNetwork],
    engine: EngineSettings,
    seed: int,
) -> StudyPlan:
    """Makes the plan of a validated study."""
    names = (study.table,) if study.table else study.fit
    rows = number_on([tables[name] for name in names])
    points: Sequence[Point] | None = None
    if study.table:
        points = spaces.table_points(rows[0], controller)
    elif study.sampler.kind == "grid":
        points = spaces.grid_points(study, controller)
    space = (
        spaces.span_distributions(points)
        if points is not None
        else spaces.make_distributions(study, controller)
    )
    placed = tuple(engine.place(network) for network in networks)
    return StudyPlan(name, study, controller, placed, engine, seed, rows, points, space)


def summarise(plan: StudyPlan) -> dict[str, Any]:
    """Returns the contents of study.json without the outcome."""
    study = plan.study
    return {
        "name": plan.name,
        "title": study.title,
        "controller": plan.controller.name,
        "engine": study.engine,
        "networks": [network.name for network in plan.networks],
        "parameters": dict(study.parameters),
        "table": study.table,
        "sampler": "table" if study.table else study.sampler.kind,
        "objective": str(study.objective),
        "fit": list(study.fit),
        "direction": "minimize" if study.objective.minimises else "maximize",
        "runs_per_trial": study.runs_per_trial,
        "ask_ahead": study.ask_ahead,
        "searched": [
            {"column": column, **_interval(distribution)}
            for column, distribution in plan.space.items()
        ],
        "compare": list(study.compare),
        "seed": plan.seed,
    }


def units_of(plan: StudyPlan) -> dict[str, str]:
    """Returns the declared units of the controller's searched parameters, by column."""
    parameters = plan.controller.parameters
    searched = {column: column.removeprefix(PARAMETER) for column in plan.space}
    return {
        column: parameters[name].unit for column, name in searched.items() if name in parameters
    }


def _interval(distribution: BaseDistribution) -> dict[str, Any]:
    choices = getattr(distribution, "choices", None)
    if choices is not None:
        return {"low": min(choices), "high": max(choices), "log": False}
    return {name: getattr(distribution, name) for name in ("low", "high", "log")}
