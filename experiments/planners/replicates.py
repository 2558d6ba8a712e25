"""Runs settings many times with fresh seeds: trials count the settings, runs the replicates."""

from experiments.job import Job
from experiments.pipeline import Plan, plan_list
from experiments.results import PlannedRun
from experiments.seeds import run_seed, study_seed


def plan(job: Job, name: str) -> Plan:
    """Plans the replicates of repeats/NAME.yaml, in the folder of the same name."""
    wanted = job.workflow.repeats[name.removeprefix("repeats/")]
    engine = job.engine(wanted.engine)
    seed = study_seed(job.workflow.settings.seed, name)
    network = engine.place(job.network(wanted.network))
    planned = []
    for trial, setting in enumerate(wanted.settings):
        for run in range(wanted.repeats):
            spec = job.spec(engine, setting, network, run_seed(seed, trial, run), name)
            planned.append(PlannedRun(trial, run, None, spec))
    return plan_list(engine, planned, f"{len(planned)} runs")
