"""Repeats the best trial of a search with fresh seeds: its own value is biased by selection."""

import math
import statistics
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from scipy.special import stdtrit

from common.study_record import BestTrial
from engines.limits import LIMITS
from experiments.models.study import Study
from experiments.results import FinishedRun, PlannedRun
from experiments.runner import Batch
from experiments.seeds import derive_seed
from search.objective import power_of
from search.plan import StudyPlan

RUNS, LEAST_TRIALS = 30, 5
"""Runs on each network, and least number of repetitions of the trial."""


def count_trials(study: Study) -> int:
    """Returns how often to repeat a study's best trial.

    It is 0 in real time, for replays, and for objectives to minimise, because a misfit or a worst
    case is not a property of a setting alone.
    """
    if LIMITS[study.engine].is_real_time or study.table or study.objective.minimises:
        return 0
    return max(LEAST_TRIALS, math.ceil(RUNS / study.runs_per_trial))


def plan_fresh(plan: StudyPlan, best: BestTrial) -> list[Sequence[PlannedRun]]:
    """Returns the runs of each repetition of the best trial."""
    seeds = [derive_seed(plan.seed, "fresh", k) for k in range(count_trials(plan.study))]
    return [replace(plan, seed=seed).runs_of(best.trial, best.searched) for seed in seeds]


def repeat(
    plan: StudyPlan, best: BestTrial, planned: Sequence[Sequence[PlannedRun]]
) -> Generator[Batch, Iterator[FinishedRun], dict[str, Any]]:
    """Runs the repetitions; returns the value of the objective, and the power on each network.

    Returns:
        For study.json, each with its 95 % interval.
    """
    results = yield Batch([run for runs in planned for run in runs])
    repeated = [list(islice(results, len(runs))) for runs in planned]
    powers: dict[str, list[float]] = {}
    for runs in repeated:
        on: dict[str, list[float]] = {}
        for run in runs:
            on.setdefault(run.planned.spec.network.name, []).append(power_of(run))
        for name, values in on.items():
            powers.setdefault(name, []).append(statistics.fmean(values))
    return {
        "trials": len(repeated),
        "runs": sum(map(len, repeated)),
        **interval("value", [plan.score(runs, best.searched).value for runs in repeated]),
        "networks": {name: interval("power", values) for name, values in powers.items()},
    }


def interval(name: str, values: Sequence[float]) -> dict[str, float | None]:
    """The mean, and the ends of its 95 % t interval; a single value has none."""
    mean, n = statistics.fmean(values), len(values)
    if n == 1:
        return {name: mean, "low": None, "high": None}
    half = stdtrit(n - 1, 0.975) * statistics.stdev(values) / math.sqrt(n)
    return {name: mean, "low": mean - half, "high": mean + half}
