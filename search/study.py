"""Runs or resumes one study: trials.parquet holds its trials, study.json its outcome."""

from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import optuna
from optuna.distributions import IntDistribution

from kneepoint.common.errors import KneepointError
from kneepoint.common.files import write_whole
from kneepoint.common.made_by import require_as_written
from kneepoint.common.study_record import BestTrial, FailedTrials, StudyRecord
from kneepoint.common.tables import read
from kneepoint.config.study import Front, Study, WorstCase
from kneepoint.config.workflow import FLOW_LOG, UPLINK_LOG
from kneepoint.engines.catalogue import Controller
from kneepoint.networks.scenario import ALONE, PreparedNetwork
from kneepoint.runs.job import Job
from kneepoint.runs.logged import run_logged
from kneepoint.runs.pipeline import Outcome, Plan, Steps
from kneepoint.runs.results import TRIALS, FinishedRun, FinishedTrial, PlannedRun, trials_table
from kneepoint.runs.runner import Batch
from kneepoint.runs.seeds import derive_seed
from kneepoint.search import objective
from kneepoint.search.fresh import count_trials, repeat
from kneepoint.search.leaders import repeat_leaders
from kneepoint.search.loop import ask_and_tell
from kneepoint.search.plan import (
    Opponent,
    StudyPlan,
    network_of_trial,
    plan_study,
    summarise,
    units_of,
)
from kneepoint.search.samplers import make_asker
from kneepoint.search.spaces import Point, point_of
from kneepoint.search.trial_log import open_log


def plan(job: Job, name: str) -> Plan:
    """Plans the study of studies/NAME.yaml.

    Raises:
        KneepointError: a network is not prepared, or the engine does not work.
    """
    planned = plan_of(job, name)
    study = planned.study

    def steps() -> Steps:
        outcome, best = yield from search_and_repeat(job.out_dir, planned)
        if best and isinstance(study.objective, WorstCase):
            return (yield from _log_worst_case(job, planned, outcome, best))
        return outcome

    return Plan(planned.engine, total_of(planned), steps())


def network_of(job: Job, run: Mapping[str, Any]) -> PreparedNetwork:
    """Returns the network of a recorded run of a study, which may have searched network or host.

    Args:
        job: a job on the same results.
        run: the row of runs.parquet.

    Raises:
        KneepointError: the trials or the network are damaged.
    """
    name = run["study"]
    path = job.workflow.results / name / "trials.parquet"
    require_as_written(path)
    trial = read(path, TRIALS).to_pylist()[run["trial"]]
    study, network = job.workflow.studies[name], job.network(run["network"])
    return network_of_trial(study, network, trial, job.searched_networks(name))


def total_of(plan: StudyPlan) -> int | None:
    """Returns the number of runs of all trials and repeats; None if the sampler decides."""
    total, study = plan.total, plan.study
    if total is None:
        return None
    repeats = count_trials(study) + (study.repeat_best or 0)
    return total + repeats * len(study.networks) * study.runs_per_trial


def _log_worst_case(
    job: Job, planned: StudyPlan, outcome: Outcome, best: BestTrial
) -> Generator[Batch, Iterator[FinishedRun], Outcome]:
    """Logs a run on the best trial's network, and removes the networks of the other trials."""
    run = planned.runs_of(best.trial, best.searched)[0]
    finished = yield from run_logged(job, planned.engine, run)
    if finished.record.status == "failed":  # the worst that a controller can do
        for log in (UPLINK_LOG, FLOW_LOG):
            write_whole(job.out_dir / log, b"")
    runs = list(outcome.runs)  # before their networks are removed
    if planned.searched:
        planned.searched.forget_all_but([run.spec.network])
    return replace(outcome, runs=runs, logs=(UPLINK_LOG, FLOW_LOG))


def plan_of(job: Job, name: str) -> StudyPlan:
    """Returns the plan of a configured study.

    Raises:
        KneepointError: as for `plan`.
    """
    workflow = job.workflow
    study = workflow.studies[name]
    controller = job.controller(study.controller)
    opponent = None
    if rival := study.opponent:
        other = job.controller(rival.controller)
        opponent = Opponent(other, other.complete(rival.parameters, f"study {name}"))
    planned = plan_study(
        name,
        study,
        controller,
        workflow.tables,
        [job.network(network) for network in study.networks],
        job.engine(study.engine),
        derive_seed(workflow.settings.seed, name),
    )
    return replace(
        planned,
        traffic=job.traffic(study.traffic) if study.traffic else ALONE,
        given=starting_points(job, study, controller),
        opponent=opponent,
        searched=job.searched_networks(name),
    )


Found = Generator[Batch, Iterator[FinishedRun], tuple[Outcome, BestTrial | None]]
"""Returns the outcome of a search and its best trial, None if all runs failed."""


def search_and_repeat(folder: Path, plan: StudyPlan) -> Found:
    """Searches, and repeats the best trial with fresh seeds."""
    outcome, best = yield from search(folder, plan)
    if best is None:
        return outcome, best
    best = yield from repeat(plan, best)
    summary = {**outcome.summaries["study.json"], "best": asdict(best)}
    message = f"{outcome.message}, best {best.value:.4g}"
    return replace(outcome, summaries={"study.json": summary}, message=message), best


def search(folder: Path, plan: StudyPlan) -> Found:
    """Searches until the sampler ends; logs the trials in `folder`."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    asker = make_asker(plan.study.sampler, plan.space, plan.points, plan.seed)
    known = {**summarise(plan), "units": units_of(plan)}
    with open_log(folder, plan.name, known) as record:
        trials = yield from ask_and_tell(plan, asker, record)
    told: dict[str, Any] = {"failed": asdict(failed := failures(trials))}
    best = None
    if any(trial.means for trial in trials) or isinstance(plan.study.objective, WorstCase):
        found = objective.find_best(trials, plan.study.objective.minimises)
        if plan.study.repeat_best:
            number, told["posterior"] = yield from repeat_leaders(
                plan, trials, plan.study.repeat_best
            )
            found = trials[number]
        best = best_trial(plan, found)
    further = plan.study.objective.columns
    outcome = Outcome(
        runs=(run for each in trials for run in runs_of(plan, each)),
        message=f"{len(trials)} trials"
        + (f", {failed.trials} failed: {failed}" if failed.trials else ""),
        tables={"trials.parquet": trials_table(plan.name, columns_of(plan), trials, further)},
        summaries={"study.json": {**_summary(plan, trials, best), **told}},
    )
    return outcome, best


def failures(trials: Sequence[FinishedTrial]) -> FailedTrials:
    """Returns the entry `failed` of study.json: the trials with a failed run, by reason."""
    reasons = Counter(trial.reason for trial in trials if trial.reason)
    return FailedTrials(reasons.total(), dict(reasons))


def best_trial(plan: StudyPlan, trial: FinishedTrial) -> BestTrial:
    """Returns the entry `best` of study.json for a trial."""
    parameters = _common_parameters(plan.own(plan.runs_of(trial.number, trial.searched)))
    return BestTrial(trial.number, trial.value, dict(trial.searched), parameters)


def columns_of(plan: StudyPlan) -> dict[str, type]:
    """Returns the searched columns of trials.parquet, with their types."""
    return {
        name: int if isinstance(distribution, IntDistribution) else float
        for name, distribution in plan.space.items()
    }


def runs_of(plan: StudyPlan, trial: FinishedTrial) -> Sequence[PlannedRun]:
    """Returns the executed runs of a trial: fewer than planned if it was stopped."""
    return plan.runs_of(trial.number, trial.searched)[: trial.n_runs]


def starting_points(job: Job, study: Study, controller: Controller) -> tuple[Point, ...]:
    """Returns the points of the study's first trials, without duplicates.

    Raises:
        KneepointError: a study named in `start` has no results, or no setting of a named table or
            study lies in the space.
    """
    found: list[Point] = []
    given = {
        name: [row.parameters for row in job.workflow.tables[name].rows]
        for name in study.start.tables
    }
    given |= {
        name: [StudyRecord.load_best(job.workflow.results / name / "study.json").parameters]
        for name in study.start.studies
    }
    for name, settings in given.items():
        points = [point_of(study, controller, each) for each in settings]
        found += [point for point in points if point is not None]
        if not any(points):
            raise KneepointError(
                f"{job.workflow.path}: no setting of {name}, the start of study {study.title!r}, "
                "lies in its space; widen the space or remove the name from start"
            )
    return tuple({tuple(point.items()): point for point in found}.values())


def _summary(
    plan: StudyPlan, trials: Sequence[FinishedTrial], best: BestTrial | None
) -> Mapping[str, Any]:
    found = {**summarise(plan), "n_trials": len(trials)}
    if plan.study.race:
        found["stopped"] = sum(trial.is_stopped for trial in trials)
    found["best"] = asdict(best) if best else None
    if isinstance(plan.study.objective, Front):  # compared with the omniscient bound
        bounds = {each.name: each.omniscient for each in plan.networks}
        found["bounds"] = {name: asdict(bound) for name, bound in bounds.items() if bound}
    return found


def _common_parameters(planned: Sequence[PlannedRun]) -> dict[str, float]:
    """Returns the parameters that all runs of a trial share: in a fit, some differ by row."""
    runs = [run.spec.parameters for run in planned]
    return {k: v for k, v in runs[0].items() if all(parameters[k] == v for parameters in runs)}
