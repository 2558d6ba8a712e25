"""Repeats one run, to log its uplink and its sender."""

from collections.abc import Generator, Iterator

from engines.base import EngineSettings
from experiments.job import Job
from experiments.results import FinishedRun, PlannedRun
from experiments.runner import Batch
from experiments.workflow import FLOW_LOG, LOG


def run_logged(
    job: Job, engine: EngineSettings, run: PlannedRun
) -> Generator[Batch, Iterator[FinishedRun], FinishedRun]:
    """Runs, and writes the logs into the results folder, unless the run fails."""
    temporary, told = (job.out_dir / f".{name}" for name in (LOG, FLOW_LOG))
    keeping = engine.keeping(temporary, told)
    # A log exists only if the run was just made.
    (finished,) = yield Batch([run], engine=keeping, anew=True)
    if finished.record.status != "failed":
        temporary.replace(job.out_dir / LOG)
        if told.exists():  # real runs have none
            told.replace(job.out_dir / FLOW_LOG)
    return finished
