"""A run that keeps the logs of its uplink and of its sender."""

from collections.abc import Generator, Iterator

from kneepoint.config.workflow import FLOW_LOG, LOG
from kneepoint.engines.base import EngineSettings
from kneepoint.runs.job import Job
from kneepoint.runs.results import FinishedRun, PlannedRun
from kneepoint.runs.runner import Batch


def run_logged(
    job: Job, engine: EngineSettings, run: PlannedRun
) -> Generator[Batch, Iterator[FinishedRun], FinishedRun]:
    """Repeats one run, and writes the logs into the results folder, unless the run fails."""
    temporary, told = (job.out_dir / f".{name}" for name in (LOG, FLOW_LOG))
    keeping = engine.keeping(temporary, told)
    # A log exists only if the run was just made.
    (finished,) = yield Batch([run], engine=keeping, anew=True)
    if finished.record.status != "failed":
        temporary.replace(job.out_dir / LOG)
        if told.exists():  # real runs have none
            told.replace(job.out_dir / FLOW_LOG)
    return finished
