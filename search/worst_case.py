"""Searches for the network on which a controller does worst, and logs its run there."""

from dataclasses import replace

from common.files import write_whole
from experiments.job import Job
from experiments.pipeline import Plan, Steps
from experiments.planners.example import run_logged
from experiments.workflow import FLOW_LOG, LOG
from search.study import plan_of, search


def plan(job: Job, name: str) -> Plan:
    """Plans the study of studies/NAME.yaml (see search.study.plan)."""
    planned = plan_of(job, name)

    def steps() -> Steps:
        outcome, best = yield from search(job.out_dir, planned)
        run = planned.runs_of(best.trial, best.searched)[0]
        finished = yield from run_logged(job, planned.engine, run)
        if finished.record.status == "failed":  # the worst that a controller can do
            for log in (LOG, FLOW_LOG):
                write_whole(job.out_dir / log, b"")
        runs = list(outcome.runs)
        if planned.searched:
            planned.searched.forget_all_but([run.spec.network])
        return replace(outcome, runs=runs)

    return Plan(planned.engine, planned.total, steps())
