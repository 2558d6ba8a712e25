"""Runs listed settings many times with fresh seeds; the trial of a run is its setting."""

from kneepoint.runs.job import Job
from kneepoint.runs.pipeline import Plan, plan_list
from kneepoint.runs.results import PlannedRun
from kneepoint.runs.seeds import derive_seed


def plan(job: Job, name: str) -> Plan:
    """Plans the replicates of repeats/NAME.yaml."""
    wanted = job.workflow.repeats[name.removeprefix("repeats/")]
    engine = job.engine(wanted.engine)
    seed = derive_seed(job.workflow.settings.seed, name)
    network = engine.place(job.network(wanted.network))
    planned = []
    for trial, setting in enumerate(wanted.settings):
        for run in range(wanted.repeats):
            spec = job.spec(engine, setting, network, derive_seed(seed, trial, run), name)
            planned.append(PlannedRun(trial, run, None, spec))
    return plan_list(engine, planned, f"{len(planned)} runs")
