"""Repeats the leading settings of a study until one of them is clearly as good as the best."""

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from kneepoint.config.study import Power
from kneepoint.runs.results import FinishedRun, FinishedTrial, PlannedRun
from kneepoint.runs.runner import Batch
from kneepoint.runs.seeds import derive_seed
from kneepoint.search.objective import MIN_POWER
from kneepoint.search.plan import StudyPlan
from kneepoint.search.spaces import Point
from kneepoint.stats.posterior import (
    LEADERS,
    Hypothesis,
    Measured,
    Posterior,
    Verdict,
    coordinates,
    hypotheses_of_search,
    rounded,
)

CLEAR = 0.95
"""The probability that the recommendation is within 1 % of the best at which measurements end."""
CLEAR_TRIAL = 0.975
"""The same for the trials of a search: with 0.95, only 75 of 80 choices were within 1 %
(docs/searches.md)."""
NEAR, MOST = 0.7, 300
"""The minimum share of the best value, and the maximum number, of candidates."""


@dataclass(frozen=True)
class Leader:
    """A setting that may be the best: its trial's number and its searched values."""

    trial: int
    point: Point


@dataclass(frozen=True)
class Settled:
    """The measurements of the leaders, their posterior, the verdict, and the runs."""

    measured: Measured
    posterior: Posterior
    verdict: Verdict
    runs: tuple[FinishedRun, ...]


def log_value(plan: StudyPlan, value: float) -> float:
    """Returns the natural logarithm of a trial's power, the scale of posteriors."""
    goal = plan.study.objective
    assert isinstance(goal, Power)
    return value if goal.power == "mean_log" else math.log(max(value, MIN_POWER))


def leading(
    plan: StudyPlan, trials: Sequence[FinishedTrial], most: int = LEADERS
) -> tuple[list[Leader], Posterior]:
    """Returns the settings of a search that may be the best, and their posterior from its trials.

    The first is the setting of the best trial; the others follow by their posterior means.
    """
    values = [log_value(plan, trial.value) for trial in trials]
    least = max(values) + math.log(NEAR)
    places: dict[tuple[float, ...], int] = {}
    found: list[tuple[int, float]] = []
    settings: list[Leader] = []
    for number in sorted(range(len(trials)), key=lambda number: -values[number]):
        point = trials[number].searched
        key = tuple(point.values())
        if key not in places and values[number] >= least and len(places) < MOST:
            places[key] = len(places)
            settings.append(Leader(number, point))
        if key in places:
            found.append((places[key], values[number]))
    measured = Measured.empty(len(settings)).with_values(found)
    at = coordinates(plan.space, [each.point for each in settings])
    posterior = Posterior.from_hypotheses(hypotheses_of_search(at, measured), measured)
    order = list(dict.fromkeys((0, *posterior.leaders(most))))
    return [settings[k] for k in order], posterior.marginal(order)


def repeat_leaders(
    plan: StudyPlan, trials: Sequence[FinishedTrial], budget: int
) -> Generator[Batch, Iterator[FinishedRun], tuple[int, dict[str, Any]]]:
    """Repeats the leading trials of a search until the best is clear.

    Returns:
        The number of the best trial, and the entry `posterior` of study.json.
    """
    settings, posterior = leading(plan, trials)
    settled = yield from settle(
        plan, settings, lambda _: posterior.parts, budget, clear=CLEAR_TRIAL
    )
    each = len(measurement(plan, settings[0], 0))
    best = settings[settled.verdict.recommended].trial
    return best, summarise_choice(settings, settled, budget * each, 0)


def summarise_choice(
    settings: Sequence[Leader], settled: Settled, budget: int, otherwise: int
) -> dict[str, Any]:
    """Returns the entry `posterior` of study.json: how the best setting was chosen.

    Args:
        settings: the candidates.
        settled: the outcome of their measurements.
        budget: maximum number of runs.
        otherwise: index of the setting that would be chosen without these runs.
    """
    mean, chosen = settled.posterior.mean, settled.verdict.recommended
    return {
        "candidates": len(settings),
        "runs": len(settled.runs),
        "budget": budget,
        "within_1_percent": rounded(settled.verdict.within),
        "otherwise": {
            "trial": settings[otherwise].trial,
            "searched": dict(settings[otherwise].point),
        },
        "gain": rounded(math.expm1(mean[chosen] - mean[otherwise])),
    }


def measurement(plan: StudyPlan, setting: Leader, number: int) -> list[PlannedRun]:
    """Returns the runs of a measurement: a trial of the setting with fresh seeds."""
    seed = derive_seed(plan.seed, "again", number)
    runs = replace(plan, seed=seed).runs_of(setting.trial, setting.point)
    return [replace(run, run=number * len(runs) + run.run) for run in runs]


def measure(
    plan: StudyPlan, settings: Sequence[Leader], asked: Sequence[tuple[int, int]]
) -> Generator[Batch, Iterator[FinishedRun], tuple[list[tuple[int, float]], list[FinishedRun]]]:
    """Makes measurements in one batch; returns (setting, log value) in order, and the runs.

    Args:
        plan: the study.
        settings: the candidates.
        asked: for each measurement, the index of its setting and its number for that setting.
    """
    planned = [measurement(plan, settings[at], number) for at, number in asked]
    results = yield Batch([run for runs in planned for run in runs])
    finished = [list(islice(results, len(runs))) for runs in planned]
    found = [
        (at, log_value(plan, plan.score(runs, settings[at].point).value))
        for (at, _), runs in zip(asked, finished, strict=True)
    ]
    return found, [run for runs in finished for run in runs]


def settle(
    plan: StudyPlan,
    settings: Sequence[Leader],
    hypotheses: Callable[[Sequence[FinishedRun]], Sequence[Hypothesis]],
    budget: int,
    known: Measured | None = None,
    ahead: int | None = None,
    clear: float = CLEAR,
    least: int = 1,
    among_measured: bool = False,
) -> Generator[Batch, Iterator[FinishedRun], Settled]:
    """Measures candidates in batches until one is clearly as good as the best.

    The choice of candidates depends on the study and on the measured values alone, not on the order
    in which runs end.

    Args:
        plan: the study.
        settings: the candidates.
        hypotheses: returns the hypotheses on their values, given the runs so far.
        budget: maximum number of measurements.
        known: earlier measurements.
        ahead: measurements per batch; the study's `ask_ahead` by default.
        clear: probability at which measurements end (see CLEAR).
        least: minimum number of measurements.
        among_measured: whether only a measured setting may be recommended.
    """
    measured, ahead = known or Measured.empty(len(settings)), ahead or plan.study.ask_ahead
    runs, used = list[FinishedRun](), 0
    numbers = [0] * len(settings)
    while True:
        posterior = Posterior.from_hypotheses(hypotheses(runs), measured)
        among = measured.counts if among_measured else None
        verdict = posterior.verdict(derive_seed(plan.seed, "verdict", used), among)
        is_clear = used >= least and verdict.within > clear
        if is_clear or used == budget:
            return Settled(measured, posterior, verdict, tuple(runs))
        count = min(ahead, budget - used)
        asked = []
        for at in posterior.choose(count, derive_seed(plan.seed, "ask", used)):
            asked.append((at, numbers[at]))
            numbers[at] += 1
        found, finished = yield from measure(plan, settings, asked)
        measured = measured.with_values(found)
        runs += finished
        used += count
