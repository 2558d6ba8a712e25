"""Measures the leading settings again until one of them is clearly as good as the best."""

import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from experiments.models.study import Power
from experiments.results import FinishedRun, PlannedRun
from experiments.runner import Batch
from experiments.seeds import derive_seed
from search.objective import LEAST_POWER
from search.plan import StudyPlan
from search.posterior import Hypothesis, Measured, Posterior, Verdict
from search.spaces import Point

CLEAR = 0.95
"""Probability of being within 1 % of the best at which no more is measured."""


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


def measurement(plan: StudyPlan, setting: Setting, number: int) -> list[PlannedRun]:
    """Returns the runs of a setting's measurement: one on each network, with fresh seeds."""
    once = plan.study.model_copy(update={"runs_per_trial": 1, "race": None})
    seed = derive_seed(plan.seed, "again", number)
    runs = replace(plan, study=once, seed=seed).runs_of(setting.trial, setting.point)
    return [replace(run, run=number * len(runs) + run.run) for run in runs]


def measure(
    plan: StudyPlan, settings: Sequence[Setting], asked: Sequence[tuple[int, int]]
) -> Generator[Batch, Iterator[FinishedRun], tuple[list[float], list[FinishedRun]]]:
    """Makes measurements at once; returns their values, in the order asked, and the runs.

    Args:
        plan: says what runs.
        settings: of which some are measured.
        asked: the setting of each measurement, and its number among those of the setting.
    """
    planned = [measurement(plan, settings[at], number) for at, number in asked]
    results = yield Batch([run for runs in planned for run in runs], plan.engine)
    finished = [list(islice(results, len(runs))) for runs in planned]
    values = [
        log_value(plan, plan.score(runs, settings[at].point).value)
        for (at, _), runs in zip(asked, finished, strict=True)
    ]
    return values, [run for runs in finished for run in runs]


def settle(
    plan: StudyPlan,
    settings: Sequence[Setting],
    hypotheses: Sequence[Hypothesis],
    known: Measured,
    budget: int,
    ahead: int,
    clear: float = CLEAR,
) -> Generator[Batch, Iterator[FinishedRun], Settled]:
    """Measures leaders, some at once, until one is clearly as good as the best.

    Which ones depends on the study and the values of its measurements alone, not on when they end.

    Args:
        plan: says what runs.
        settings: the leaders.
        hypotheses: on their values.
        known: what is known of them before.
        budget: the most measurements.
        ahead: measurements at once.
        clear: the probability at which it ends.
    """
    measured, runs, used = known, list[FinishedRun](), 0
    numbers = [0] * len(settings)
    while True:
        posterior = Posterior.of(hypotheses, measured)
        verdict = posterior.verdict(derive_seed(plan.seed, "verdict", used), measured.counts)
        is_clear = used > 0 and verdict.within > clear
        if is_clear or used == budget:
            return Settled(measured, posterior, verdict, tuple(runs))
        count = min(ahead, budget - used)
        asked = []
        for at in posterior.choose(count, derive_seed(plan.seed, "ask", used)):
            asked.append((at, numbers[at]))
            numbers[at] += 1
        values, finished = yield from measure(plan, settings, asked)
        measured = measured.with_values(
            (at, value) for (at, _), value in zip(asked, values, strict=True)
        )
        runs += finished
        used += count
