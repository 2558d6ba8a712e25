"""Repeats a run to record the logs of its uplink and its sender."""

from collections.abc import Generator, Iterator

from kneepoint.config.workflow import FLOW_LOG, UPLINK_LOG
from kneepoint.engines.base import EngineSettings
from kneepoint.runs.job import Job
from kneepoint.runs.results import FinishedRun, PlannedRun
from kneepoint.runs.runner import Batch


def run_logged(
    job: Job, engine: EngineSettings, run: PlannedRun
) -> Generator[Batch, Iterator[FinishedRun], FinishedRun]:
    """Executes a run again, and writes both logs into the results folder unless the run fails."""
    link_log, flow_log = (job.out_dir / f".{name}" for name in (UPLINK_LOG, FLOW_LOG))
    keeping = engine.keeping(link_log, flow_log)
    # The journal keeps no logs.
    (finished,) = yield Batch([run], engine=keeping, anew=True)
    if finished.record.status != "failed":
        link_log.replace(job.out_dir / UPLINK_LOG)
        if flow_log.exists():  # real runs have no log of the sender
            flow_log.replace(job.out_dir / FLOW_LOG)
    return finished
