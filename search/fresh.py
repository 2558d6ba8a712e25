"""Repeats a study's best trial with fresh seeds: its value in the search is biased by selection."""

import math
import statistics
from collections.abc import Generator, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from kneepoint.common.study_record import BestTrial
from kneepoint.config.study import Study
from kneepoint.engines.limits import LIMITS
from kneepoint.runs.results import TRIAL_METRICS, FinishedRun, PlannedRun
from kneepoint.runs.runner import Batch
from kneepoint.runs.seeds import derive_seed
from kneepoint.search.objective import power_of
from kneepoint.search.plan import StudyPlan
from kneepoint.stats.intervals import t_interval

RUNS, MIN_TRIALS = 30, 5
"""Runs on each network, and minimum number of repeats of the trial."""


def count_trials(study: Study) -> int:
    """Returns the number of repeats of a study's best trial.

    It is 0 in real time, for replays of a table, and for objectives that are minimised: a misfit or
    a worst case is not a property of the setting alone.
    """
    if LIMITS[study.engine].is_real_time or study.table or study.objective.minimises:
        return 0
    return max(MIN_TRIALS, math.ceil(RUNS / study.runs_per_trial))


def plan_fresh(plan: StudyPlan, best: BestTrial) -> list[Sequence[PlannedRun]]:
    """Returns the runs of each repeat of the best trial."""
    seeds = [derive_seed(plan.seed, "fresh", k) for k in range(count_trials(plan.study))]
    return [replace(plan, seed=seed).runs_of(best.trial, best.searched) for seed in seeds]


def repeat(plan: StudyPlan, best: BestTrial) -> Generator[Batch, Iterator[FinishedRun], BestTrial]:
    """Repeats the best trial of a study; returns it with the value over fresh seeds.

    Without repeats, the trial keeps its value in the search.
    """
    planned = plan_fresh(plan, best)
    if not planned:
        return best
    results = yield Batch([run for runs in planned for run in runs])
    repeated = [list(islice(results, len(runs))) for runs in planned]
    found: dict[str, Any] = dict(
        t_interval("value", [plan.score(runs, best.searched).value for runs in repeated])
    )
    return replace(
        best,
        **found,
        in_search=best.value,
        runs=sum(map(len, repeated)),
        networks=_on_networks(repeated),
    )


def _on_networks(repeated: Sequence[Sequence[FinishedRun]]) -> dict[str, dict[str, float]]:
    """Returns, by network, the power with its 95 % interval, and the means of the metrics."""
    of_each: dict[str, list[list[FinishedRun]]] = {}
    for runs in repeated:
        on: dict[str, list[FinishedRun]] = {}
        for run in runs:
            on.setdefault(run.planned.spec.network.name, []).append(run)
        for name, there in on.items():
            of_each.setdefault(name, []).append(there)
    found = {}
    for name, trials in of_each.items():
        powers = [statistics.fmean(map(power_of, runs)) for runs in trials]
        measured = [r.record for runs in trials for r in runs if r.record.status == "ok"]
        means = {
            metric: statistics.fmean(getattr(record, metric) for record in measured)
            for metric in TRIAL_METRICS
            if measured
        }
        ends = {k: end for k, end in t_interval("power", powers).items() if end is not None}
        found[name] = {**means, **ends, "runs": sum(map(len, trials))}
    return found
