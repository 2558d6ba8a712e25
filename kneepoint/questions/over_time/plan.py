"""Runs the configured example once and keeps the logs of its uplink and of its sender."""

from kneepoint.common.errors import KneepointError
from kneepoint.config.workflow import FLOW_LOG, UPLINK_LOG
from kneepoint.questions.over_time import REAL, Settings
from kneepoint.runs.job import Job
from kneepoint.runs.logged import run_logged
from kneepoint.runs.pipeline import Outcome, Plan, Steps
from kneepoint.runs.results import PlannedRun
from kneepoint.runs.seeds import derive_seed


def plan(job: Job, name: str) -> Plan:
    """Plans the example on mahimahi if `name` is REAL, otherwise on the emulator."""
    shown = job.workflow.settings.part(Settings).showcase
    assert shown is not None
    engine = job.engine("mahimahi" if name == REAL else "emulator")
    network = engine.place(job.network(shown.network))
    seed = derive_seed(derive_seed(job.workflow.settings.seed, "showcase"), 0, 0)
    spec = job.spec(engine, shown, network, seed, "showcase")

    def steps() -> Steps:
        run = PlannedRun(0, 0, None, spec)
        finished = yield from run_logged(job, engine, run)
        if finished.record.status == "failed":
            raise KneepointError(
                f"{job.workflow.path}: showcase failed: {finished.record.reason}; choose another "
                "run"
            )
        logs = (UPLINK_LOG,) if name == REAL else (UPLINK_LOG, FLOW_LOG)
        return Outcome([run], "one run, with its logs", logs=logs)

    return Plan(engine, 1, steps())
