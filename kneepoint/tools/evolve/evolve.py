"""Searches for a rule in rounds: structures by evolution, literals of the best rules by CMA-ES.

Both searches are ordinary studies. In the study of structures, the only parameter of a trial is its
number, which stands for a rule bred from the best finished trials. All trials run with the same
seeds, and a trial is stopped after the first run if this run is below the median of other trials'
first runs.
"""

import math
import random
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import optuna

from kneepoint.common.study_record import BestTrial
from kneepoint.config.study import Power, Race, Range, Sampler, Study
from kneepoint.engines.base import EngineSettings
from kneepoint.engines.catalogue import Controller, Parameter
from kneepoint.networks.scenario import PreparedNetwork
from kneepoint.runs.results import FinishedRun, FinishedTrial
from kneepoint.runs.runner import Batch
from kneepoint.runs.seeds import derive_seed
from kneepoint.search.fresh import repeat
from kneepoint.search.language import Rule, parse, with_numbers
from kneepoint.search.loop import ask_and_tell
from kneepoint.search.plan import StudyPlan, Subject, plan_study
from kneepoint.search.samplers import make_asker
from kneepoint.search.spaces import PARAMETER
from kneepoint.tools.evolve.breeding import breed, random_rule

_COLUMN = "rule"
_PARENTS = 24
_ASK_AHEAD = 8
_APART = 15
"""The number of first rounds that start from random rules, which determine most of a round's
outcome. Independent of the number of rounds, so that a search with more rounds extends a shorter
search."""
_AGAIN = 5
"""The factor on the number of runs, with other seeds, from which the best rule is chosen at the
end."""
_HALF, _ALL = Race(pruner="median", first=1), Race(p=1e-9)
"""A race that stops half of the trials after the first run, and a race that stops no trial."""


@dataclass(frozen=True)
class EvolutionEffort:
    """The effort of a search.

    Args:
        rounds: number of rounds, each with a search of structures and a search of literals.
        trials: number of trials per round for structures, and also for literals.
        penalty: share of its value that a rule loses with each operator.
        tuned: number of best structures whose literals are searched.
        longer: factor of the trials for literals after the last round.
        runs: runs of each trial on each network; a race requires three.
    """

    rounds: int = 25
    trials: int = 1000
    penalty: float = 0.001
    tuned: int = 3
    longer: int = 6
    runs: int = 3

    @property
    def max_trials(self) -> int:
        """The maximum number of trials of the whole search."""
        searches = self.rounds * (1 + self.tuned) + self.tuned * self.longer
        return self.trials * searches + _PARENTS

    def worth(self, value: float, rule: Rule) -> float:
        """Returns a rule's power less the penalty of its operators."""
        return value * (1 - self.penalty * rule.operators)


@dataclass
class Evolution:
    """The results of a search so far.

    Args:
        found: runs and mean power of each rule, by its text.
        runs: number of runs.
        trials: number of trials.
        curve: best value by number of trials.
        whole: the search of which this is a part; None: this is the whole search.
    """

    found: dict[str, tuple[int, float]] = field(default_factory=dict)
    runs: int = 0
    trials: int = 0
    curve: list[tuple[int, float]] = field(default_factory=list)
    whole: "Evolution | None" = None

    def add(self, rule: Rule, trial: FinishedTrial) -> None:
        """Adds a finished trial; a stopped trial counts only for a rule that is already known."""
        if self.whole is not None:
            self.whole.add(rule, trial)
        self.runs += trial.n_runs
        self.trials += 1
        if trial.is_stopped and rule.text not in self.found:
            return
        power = math.exp(trial.value)
        runs, mean = self.found.get(rule.text, (0, 0.0))
        total = runs + trial.n_runs
        self.found[rule.text] = total, mean + (power - mean) * trial.n_runs / total
        if not trial.is_stopped and power > (self.curve[-1][1] if self.curve else 0):
            self.curve.append((self.runs, power))

    @property
    def values(self) -> dict[str, float]:
        """Each rule's mean over all its runs: repeats correct the means of lucky rules."""
        return {text: mean for text, (_, mean) in self.found.items()}

    def ranked(self, settings: EvolutionEffort, count: int) -> list[Rule]:
        """Returns the rules of greatest power, ordered by decreasing worth."""
        values = self.values
        some = sorted(values, key=lambda text: -values[text])[: 20 * count]
        return sorted(map(parse, some), key=lambda each: -settings.worth(values[each.text], each))

    def best(self, settings: EvolutionEffort, count: int) -> list[Rule]:
        """Returns the best rule of each length, as `ranked` orders them."""
        return of_each_length(self.ranked(settings, count), count)

    def front(self) -> list[dict[str, Any]]:
        """Returns the rules that no shorter or equally long rule exceeds, the shortest first."""
        found: list[dict[str, Any]] = []
        values = self.values
        lengths = {text: parse(text).operators for text in values}
        for text in sorted(values, key=lambda each: (lengths[each], -values[each])):
            if not found or values[text] > found[-1]["value"]:
                found.append({"operators": lengths[text], "value": values[text], "rule": text})
        return found


def of_each_length(rules: Iterable[Rule], count: int) -> list[Rule]:
    """Returns the first rule of each length, to keep the rules diverse."""
    found: dict[int, Rule] = {}
    for rule in rules:
        found.setdefault(rule.operators, rule)
        if len(found) == count:
            break
    return list(found.values())


class _Breeder:
    """The rules of a study by trial number: the first are given, the others are bred."""

    def __init__(self, first: Sequence[Rule], settings: EvolutionEffort, seed: int) -> None:
        self._rules = list(first)
        self._settings = settings
        self._seed = seed
        self._worths: dict[int, float] = {}

    def rule(self, number: int) -> Rule:
        """Returns a trial's rule, bred from the finished trials before it."""
        while number >= len(self._rules):
            rng = random.Random(derive_seed(self._seed, len(self._rules)))  # noqa: S311
            ranked = sorted(self._worths, key=lambda each: -self._worths[each])
            if len(ranked) < _PARENTS:
                self._rules.append(random_rule(rng))
                continue
            parents = of_each_length((self._rules[each] for each in ranked), _PARENTS)
            # Better rules are chosen more often.
            chosen = [parents[min(rng.choices(range(len(parents)), k=2))] for _ in range(2)]
            self._rules.append(breed(chosen, rng, {rule.text for rule in self._rules}))
        return self._rules[number]

    def add(self, trial: FinishedTrial) -> None:
        """Adds a finished trial to the parents, unless it was stopped."""
        if not trial.is_stopped:
            power = math.exp(trial.value)
            self._worths[trial.number] = self._settings.worth(power, self._rules[trial.number])


Steps = Generator[Batch, Iterator[FinishedRun], dict[str, Any]]


def evolve(
    settings: EvolutionEffort,
    controller: Controller,
    networks: Sequence[PreparedNetwork],
    engine: EngineSettings,
    seed: int,
    first: Sequence[Rule] = (),
    found: Evolution | None = None,
) -> Steps:
    """Yields the runs of a search in batches; returns its outcome, for JSON.

    Args:
        settings: the effort.
        controller: the controller that interprets rules.
        networks: networks; the geometric mean of the power over them is maximised.
        engine: of the runs.
        seed: from which all random numbers derive.
        first: initial rules.
        found: receives results as they are found.
    """
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    found = found or Evolution()
    for number in range(settings.rounds):
        search = _Search(settings, controller, networks, engine, derive_seed(seed, number))
        own = Evolution(whole=found) if number < _APART else found
        yield from search.structures(own.best(settings, _PARENTS) or first, own)
        for rule in own.best(settings, settings.tuned):
            yield from search.numbers(rule, own)
    longer = replace(settings, trials=settings.longer * settings.trials)
    search = _Search(longer, controller, networks, engine, derive_seed(seed, "longer"))
    for rule in found.best(settings, settings.tuned):
        yield from search.numbers(rule, found)
    last = found.ranked(settings, _PARENTS)[:_PARENTS]
    again = replace(settings, trials=len(last), runs=_AGAIN * settings.runs)
    search = _Search(again, controller, networks, engine, derive_seed(seed, "last"), _ALL)
    own = Evolution(whole=found)
    yield from search.structures(last, own)
    best = own.ranked(settings, 1)[0]
    plan = search.plan_of_rules(lambda _: best)
    trial = BestTrial(0, own.values[best.text], {PARAMETER + _COLUMN: 0}, {})
    repeated = yield from repeat(plan, trial)
    ends = {"value": repeated.value, "low": repeated.low, "high": repeated.high}
    fresh: dict[str, Any] = {k: None if end is None else math.exp(end) for k, end in ends.items()}
    fresh |= {"runs": repeated.runs, "networks": dict(repeated.networks)}
    return {
        **{"rule": best.text, "operators": best.operators, "value": trial.value},
        **{"fresh": fresh, "runs": found.runs, "front": found.front(), "curve": found.curve},
    }


@dataclass(frozen=True)
class _Search:
    """The searches of one round, whose trials share their seeds."""

    settings: EvolutionEffort
    controller: Controller
    networks: Sequence[PreparedNetwork]
    engine: EngineSettings
    seed: int
    race: Race = _HALF

    def structures(
        self, start: Sequence[Rule], found: Evolution
    ) -> Generator[Batch, Iterator[FinishedRun], None]:
        """Evolves rules from `start`, which run first."""
        breeder = _Breeder(start, self.settings, derive_seed(self.seed, "structures"))
        plan = self.plan_of_rules(breeder.rule)
        asker = make_asker(plan.study.sampler, plan.space, plan.points, self.seed)

        def add(trial: FinishedTrial) -> None:
            breeder.add(trial)
            found.add(breeder.rule(trial.number), trial)

        # Breeding uses finished trials only, so few trials run at the same time.
        yield from ask_and_tell(plan, replace(asker, learns=True), add)

    def plan_of_rules(self, rule: Callable[[int], Rule]) -> StudyPlan:
        """Returns the plan of a study whose trials are numbered rules."""
        every = range(self.settings.trials)
        column = Parameter(
            *(_COLUMN, True, 0, 0, len(every), 0, len(every), False, "1", "the rule's number")
        )
        return self._plan(
            replace(self.controller, parameters={_COLUMN: column}),
            self.race,
            lambda point: rule(int(point[_COLUMN])),
            space={_COLUMN: Range(values=tuple(every))},
            sampler=Sampler(kind="grid"),
        )

    def numbers(
        self, rule: Rule, found: Evolution
    ) -> Generator[Batch, Iterator[FinishedRun], None]:
        """Searches the literals of a rule by CMA-ES, starting from their values."""
        if not rule.numbers:
            return
        plan = self._plan_of_numbers(rule)
        seed = derive_seed(self.seed, rule.text)

        def add(trial: FinishedTrial) -> None:
            point = {name.removeprefix(PARAMETER): each for name, each in trial.searched.items()}
            found.add(_at(rule, point), trial)

        yield from ask_and_tell(plan, make_asker(plan.study.sampler, plan.space, None, seed), add)

    def _plan_of_numbers(self, rule: Rule) -> StudyPlan:
        sampler = Sampler(
            kind="cmaes",
            trials=max(1, self.settings.trials // self.settings.tuned),
            startup_trials=1,
        )
        plan = self._plan(
            self.controller,
            _ALL,  # CMA-ES needs the values of all trials
            lambda point: _at(rule, point),
            space={f"number_{k}": _around(value) for k, value in enumerate(rule.numbers)},
            sampler=sampler,
        )
        own = {f"{PARAMETER}number_{k}": value for k, value in enumerate(rule.numbers)}
        return replace(plan, given=(own,))

    def _plan(
        self,
        controller: Controller,
        race: Race,
        rule_of: Callable[[Mapping[str, float]], Rule],
        **keys: Any,
    ) -> StudyPlan:
        """Returns the plan of a study whose points stand for rules."""

        @cache  # all runs of a trial have one rule
        def completed(point: tuple[tuple[str, float], ...]) -> Subject:
            given = self.controller.complete(rule_of(dict(point)).parameters, "rule")
            return self.controller, given

        settings = {
            "title": "Rules",
            "controller": controller.name,
            "networks": tuple(network.name for network in self.networks),
            "runs_per_trial": self.settings.runs,
            "ask_ahead": _ASK_AHEAD,
            "objective": Power(power="mean_log"),
            "race": race,
            **keys,
        }
        study = Study.model_validate(settings)
        plan = plan_study("rules", study, controller, {}, self.networks, self.engine, self.seed)
        return replace(plan, subject=lambda parameters: completed(tuple(parameters.items())))


def _at(rule: Rule, point: Mapping[str, float]) -> Rule:
    return with_numbers(rule, [point[f"number_{k}"] for k in range(len(rule.numbers))])


def _around(value: float) -> Range:
    if value == 0:
        return Range(low=-1, high=1)
    low, high = sorted((value / 4, value * 4))
    return Range(low=low, high=high, log=value > 0)
