"""Runs one study, or goes on with it.

    python -m search.study --config config/config.yaml --study NAME --out-dir results/NAME

writes trials.parquet, runs.parquet and study.json.
"""

import argparse
from collections.abc import Sequence
from typing import Any

import optuna
from optuna.distributions import IntDistribution

from common.errors import KneepointError, run_command_line
from experiments.job import Job, add_arguments, open_job
from experiments.results import (
    FinishedTrial,
    PlannedRun,
    runs_table,
    trials_table,
    write_summary,
    write_table,
)
from experiments.runner import Runner
from experiments.seeds import study_seed
from search import objective
from search.loop import direction_of, run_study
from search.optuna_journal import OptunaJournal
from search.plan import StudyPlan, plan_study, summarise
from search.samplers import make_asker

FILES = ("runs.parquet", "trials.parquet", "study.json")


def search(job: Job, name: str) -> None:
    """Runs a study of the configuration and writes its results.

    Raises:
        KneepointError: there is no such study, or a run of it could not be executed.
    """
    carry_out(job, _plan(job, name))


def carry_out(job: Job, plan: StudyPlan) -> FinishedTrial:
    """Runs a planned study, writes its results and returns its best trial.

    Raises:
        KneepointError: a run of it could not be executed.
    """
    name = plan.name
    asker = make_asker(plan.study.sampler, plan.space, plan.points, plan.seed)
    with job.runner(name, plan.engine, plan.study.count_runs(len(plan.rows))) as (runner, progress):
        copy = OptunaJournal(
            job.out_dir / "optuna.journal", name, direction_of(plan), summarise(plan)
        )
        trials = run_study(plan, asker, runner, copy)
        best = objective.find_best(trials, plan.study.objective.minimises)
        _write(job, plan, runner, trials, best)
        progress.end(f"{len(trials)} trials, best {best.value:.4g} in trial {best.number}")
    return best


def _plan(job: Job, name: str) -> StudyPlan:
    workflow = job.workflow
    if name not in workflow.studies:
        raise KneepointError(
            f"{workflow.path}: studies does not name {name!r}; known: {', '.join(workflow.studies)}"
        )
    study = workflow.studies[name]
    return plan_study(
        name,
        study,
        job.controller(study.controller),
        workflow.tables,
        [job.network(network) for network in study.networks],
        job.engine(study.engine),
        study_seed(workflow.settings.seed, name),
    )


def _write(
    job: Job,
    plan: StudyPlan,
    runner: Runner,
    trials: Sequence[FinishedTrial],
    best: FinishedTrial,
) -> None:
    columns = {
        name: int if isinstance(distribution, IntDistribution) else float
        for name, distribution in plan.space.items()
    }
    runs = (
        run for trial in trials for run in runner.recall(plan.runs_of(trial.number, trial.searched))
    )
    write_table(job.out_dir / "runs.parquet", runs_table(plan.name, runs))
    write_table(job.out_dir / "trials.parquet", trials_table(plan.name, columns, trials))
    outcome: dict[str, Any] = {
        "n_trials": len(trials),
        "best": {
            "trial": best.number,
            "value": best.value,
            "searched": dict(best.searched),
            "constants": _common_constants(plan.runs_of(best.number, best.searched)),
        },
    }
    write_summary(job.out_dir / "study.json", {**summarise(plan), **outcome})
    job.sign("search.study", plan.engine, *FILES)


def _common_constants(planned: Sequence[PlannedRun]) -> dict[str, float]:
    """Returns the constants that all runs of a trial share: those of a fit differ by row."""
    runs = [run.spec.constants for run in planned]
    return {k: v for k, v in runs[0].items() if all(constants[k] == v for constants in runs)}


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--study", required=True, help="name of the study")
    add_arguments(parser)
    arguments = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    search(open_job(arguments), arguments.study)


if __name__ == "__main__":
    run_command_line(main)
