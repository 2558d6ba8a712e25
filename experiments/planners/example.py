"""Runs the configured example once and keeps the logs of its uplink and of its sender."""

from common.errors import KneepointError
from experiments.job import Job
from experiments.pipeline import Outcome, Plan, Steps
from experiments.planners.logged import run_logged
from experiments.results import PlannedRun
from experiments.seeds import run_seed, study_seed
from experiments.workflow import REAL_SHOWCASE


def plan(job: Job, name: str) -> Plan:
    """Plans the example: on the emulator, or, under its other name, on mahimahi."""
    shown = job.workflow.settings.showcase
    assert shown is not None
    engine = job.engine("mahimahi" if name == REAL_SHOWCASE else "emulator")
    network = engine.place(job.network(shown.network))
    seed = run_seed(study_seed(job.workflow.settings.seed, "showcase"), 0, 0)
    spec = job.spec(engine, shown, network, seed, "showcase")

    def steps() -> Steps:
        run = PlannedRun(0, 0, None, spec)
        finished = yield from run_logged(job, engine, run)
        if finished.record.status == "failed":
            raise KneepointError(
                f"{job.workflow.path}: showcase failed: {finished.record.reason}; choose another "
                "run"
            )
        return Outcome([run], "one run, with its logs")

    return Plan(engine, 1, steps())
