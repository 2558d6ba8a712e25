"""Runs the configured example once and keeps the log of its uplink, in mm-link's format."""

from common.errors import KneepointError
from engines.base import RunSpec
from experiments.job import Job
from experiments.pipeline import Outcome, Plan, Steps
from experiments.results import PlannedRun
from experiments.runner import Batch
from experiments.seeds import run_seed, study_seed

LOG = "uplink.log"
REAL = "real_showcase"
"""The example on the engine mahimahi."""


def plan(job: Job, name: str) -> Plan:
    """Plans the example: on the emulator, or, under its other name, on mahimahi."""
    shown = job.workflow.showcase
    assert shown is not None
    controller = job.controller(shown.controller)
    engine = job.engine("mahimahi" if name == REAL else "emulator")
    spec = RunSpec.on(
        engine=engine,
        controller=controller,
        constants=controller.complete(shown.constants, "showcase"),
        network=engine.place(job.network(shown.network)),
        seed=run_seed(study_seed(job.workflow.settings.seed, "showcase"), 0, 0),
    )

    def steps() -> Steps:
        runs = [PlannedRun(0, 0, None, spec)]
        temporary = job.out_dir / f".{LOG}"
        # A log is only there where the run has just been made.
        (finished,) = yield Batch(runs, engine=engine.keeping(temporary), anew=True)
        if finished.record.status == "failed":
            raise KneepointError(
                f"{job.workflow.path}: showcase failed: {finished.record.reason}; choose another "
                "run"
            )
        temporary.replace(job.out_dir / LOG)
        return Outcome(runs, "one run, with its log")

    return Plan(engine, 1, steps())
