"""Runs or resumes one study: trials.parquet holds its trials, study.json its outcome."""

from collections.abc import Generator, Iterator, Mapping, Sequence
from typing import Any

import optuna
from optuna.distributions import IntDistribution

from experiments.job import Job
from experiments.pipeline import Outcome, Plan, Steps
from experiments.results import FinishedRun, FinishedTrial, PlannedRun, trials_table
from experiments.runner import Batch
from experiments.seeds import study_seed
from networks.scenario import ALONE
from search import objective
from search.loop import ask_and_tell, direction_of
from search.optuna_journal import OptunaJournal
from search.plan import StudyPlan, plan_study, summarise
from search.samplers import make_asker


def plan(job: Job, name: str) -> Plan:
    """Plans the study of studies/NAME.yaml.

    Raises:
        KneepointError: a network is not prepared, or the engine does not work.
    """
    workflow = job.workflow
    study = workflow.studies[name]
    planned = plan_study(
        name,
        study,
        job.controller(study.controller),
        workflow.tables,
        [job.network(network) for network in study.networks],
        job.engine(study.engine),
        study_seed(workflow.settings.seed, name),
        job.traffic(study.traffic) if study.traffic else ALONE,
    )

    def steps() -> Steps:
        outcome, _ = yield from search(job, planned)
        return outcome

    return Plan(planned.engine, study.count_runs(len(planned.rows)), steps())


def search(
    job: Job, plan: StudyPlan
) -> Generator[Batch, Iterator[FinishedRun], tuple[Outcome, FinishedTrial]]:
    """Asks and tells until the sampler ends; returns what is to be written, and the best trial."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    asker = make_asker(plan.study.sampler, plan.space, plan.points, plan.seed)
    path = job.out_dir / "optuna.journal"
    copy = OptunaJournal(path, plan.name, direction_of(plan), summarise(plan))
    trials = yield from ask_and_tell(plan, asker, copy)
    best = objective.find_best(trials, plan.study.objective.minimises)
    columns = {
        name: int if isinstance(distribution, IntDistribution) else float
        for name, distribution in plan.space.items()
    }
    outcome = Outcome(
        runs=(run for each in trials for run in plan.runs_of(each.number, each.searched)),
        message=f"{len(trials)} trials, best {best.value:.4g} in trial {best.number}",
        tables={"trials.parquet": trials_table(plan.name, columns, trials)},
        summaries={"study.json": _summary(plan, trials, best)},
    )
    return outcome, best


def _summary(
    plan: StudyPlan, trials: Sequence[FinishedTrial], best: FinishedTrial
) -> Mapping[str, Any]:
    return {
        **summarise(plan),
        "n_trials": len(trials),
        "best": {
            "trial": best.number,
            "value": best.value,
            "searched": dict(best.searched),
            "constants": _common_constants(plan.runs_of(best.number, best.searched)),
        },
    }


def _common_constants(planned: Sequence[PlannedRun]) -> dict[str, float]:
    """Returns the constants that all runs of a trial share: those of a fit differ by row."""
    runs = [run.spec.constants for run in planned]
    return {k: v for k, v in runs[0].items() if all(constants[k] == v for constants in runs)}
