"""Measures the leading settings again until one of them is clearly as good as the best."""

import math
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from kneepoint.config.study import Power
from kneepoint.runs.results import (
    FinishedRun,
    FinishedTrial,
    PlannedRun,
)
from kneepoint.runs.runner import Batch
from kneepoint.runs.seeds import derive_seed
from kneepoint.search.objective import LEAST_POWER
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
"""Probability of being within 1 % of the best at which no more is measured."""
CLEAR_TRIAL = 0.975
"""The same for the trials of a search: at 0.95, 75 of 80 choices were (docs/searches.md)."""
NEAR, MOST = 0.7, 300
"""Settings of less than this share of the best value, or beyond this number, cannot lead."""


@dataclass(frozen=True)
class Setting:
    """A setting that may be the best: its number and its searched values."""

    trial: int
    point: Point


@dataclass(frozen=True)
class Settled:
    """What measurements of the leaders said, and their runs."""

    measured: Measured
    posterior: Posterior
    verdict: Verdict
    runs: tuple[FinishedRun, ...]


def log_value(plan: StudyPlan, value: float) -> float:
    """Returns a trial's value as a logarithm, on which posteriors are."""
    goal = plan.study.objective
    assert isinstance(goal, Power)
    return value if goal.power == "mean_log" else math.log(max(value, LEAST_POWER))


def leading(
    plan: StudyPlan, trials: Sequence[FinishedTrial], most: int = LEADERS
) -> tuple[list[Setting], Posterior]:
    """Returns the settings of a search that may be the best, and what its trials say of them.

    These are the luckiest one, and those with the greatest posterior means, best first.
    """
    values = [log_value(plan, trial.value) for trial in trials]
    least = max(values) + math.log(NEAR)
    places: dict[tuple[float, ...], int] = {}
    found: list[tuple[int, float]] = []
    settings: list[Setting] = []
    for number in sorted(range(len(trials)), key=lambda number: -values[number]):
        point = trials[number].searched
        key = tuple(point.values())
        if key not in places and values[number] >= least and len(places) < MOST:
            places[key] = len(places)
            settings.append(Setting(number, point))
        if key in places:
            found.append((places[key], values[number]))
    measured = Measured.nothing(len(settings)).with_values(found)
    at = coordinates(plan.space, [each.point for each in settings])
    posterior = Posterior.given(hypotheses_of_search(at, measured), measured)
    order = list(dict.fromkeys((0, *posterior.leaders(most))))
    return [settings[k] for k in order], posterior.of(order)


def repeat_leaders(
    plan: StudyPlan, trials: Sequence[FinishedTrial], budget: int
) -> Generator[Batch, Iterator[FinishedRun], tuple[int, dict[str, Any]]]:
    """Repeats the leading trials of a search until it is clear which one is the best.

    Returns:
        The number of the best trial, and what study.json says of the choice.
    """
    settings, posterior = leading(plan, trials)
    settled = yield from settle(
        plan, settings, lambda _: posterior.parts, budget, clear=CLEAR_TRIAL
    )
    each = len(measurement(plan, settings[0], 0))
    best = settings[settled.verdict.recommended].trial
    return best, summarise_choice(settings, settled, budget * each, 0)


def summarise_choice(
    settings: Sequence[Setting], settled: Settled, budget: int, otherwise: int
) -> dict[str, Any]:
    """Returns what study.json says of the choice of the best.

    Args:
        settings: among which it was chosen.
        settled: what their measurements said.
        budget: the most runs.
        otherwise: the setting that would be the best without these runs.
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


def measurement(plan: StudyPlan, setting: Setting, number: int) -> list[PlannedRun]:
    """Returns the runs of a setting's measurement: those of a trial, with fresh seeds."""
    seed = derive_seed(plan.seed, "again", number)
    runs = replace(plan, seed=seed).runs_of(setting.trial, setting.point)
    return [replace(run, run=number * len(runs) + run.run) for run in runs]


def measure(
    plan: StudyPlan, settings: Sequence[Setting], asked: Sequence[tuple[int, int]]
) -> Generator[Batch, Iterator[FinishedRun], tuple[list[tuple[int, float]], list[FinishedRun]]]:
    """Makes measurements at once; returns settings and values, in the order asked, and the runs.

    Args:
        plan: says what runs.
        settings: of which some are measured.
        asked: the setting of each measurement, and its number among those of the setting.
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
    settings: Sequence[Setting],
    hypotheses: Callable[[Sequence[FinishedRun]], Sequence[Hypothesis]],
    budget: int,
    known: Measured | None = None,
    ahead: int | None = None,
    clear: float = CLEAR,
    least: int = 1,
    among_measured: bool = False,
) -> Generator[Batch, Iterator[FinishedRun], Settled]:
    """Measures leaders, some at once, until one is clearly as good as the best.

    Which ones depends on the study and the values of its measurements alone, not on when they end.

    Args:
        plan: says what runs.
        settings: the leaders.
        hypotheses: gives those on their values, after these runs.
        budget: the most measurements.
        known: what is known of them before.
        ahead: measurements at once; without, as many as the study asks.
        clear: the probability at which it ends.
        least: measurements before that.
        among_measured: whether only what was measured is recommended.
    """
    measured, ahead = known or Measured.nothing(len(settings)), ahead or plan.study.ask_ahead
    runs, used = list[FinishedRun](), 0
    numbers = [0] * len(settings)
    while True:
        posterior = Posterior.given(hypotheses(runs), measured)
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
