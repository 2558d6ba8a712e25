"""Runs the configured example once and keeps the logs of its uplink and of its sender."""

from dataclasses import replace

from common.errors import KneepointError
from engines.base import RunSpec
from engines.emulator import EmulatorSettings
from experiments.job import Job
from experiments.pipeline import Outcome, Plan, Steps
from experiments.results import PlannedRun
from experiments.runner import Batch
from experiments.seeds import run_seed, study_seed

LOG = "uplink.log"
FLOW_LOG = "flow.log"
"""Of the sender, in virtual time."""
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
        temporary, told = (job.out_dir / f".{name}" for name in (LOG, FLOW_LOG))
        keeping = engine.keeping(temporary)
        if isinstance(keeping, EmulatorSettings):
            keeping = replace(keeping, keep_flow_log=told)
        # A log is only there where the run has just been made.
        (finished,) = yield Batch(runs, engine=keeping, anew=True)
        if finished.record.status == "failed":
            raise KneepointError(
                f"{job.workflow.path}: showcase failed: {finished.record.reason}; choose another "
                "run"
            )
        temporary.replace(job.out_dir / LOG)
        if isinstance(keeping, EmulatorSettings):
            told.replace(job.out_dir / FLOW_LOG)
        return Outcome(runs, "one run, with its logs")

    return Plan(engine, 1, steps())
