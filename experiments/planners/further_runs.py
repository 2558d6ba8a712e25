"""Repeats, in real mahimahi, settings whose real means the emulator does not predict.

Such a mean may be due to chance or a transient of the host; only fresh runs can tell. They keep the
setting's trial number in results/confirm and continue its run numbers.
"""

from pathlib import Path

from common.errors import unusable
from common.tables import read_rows
from experiments.exchanged import AGREEMENT, UNEXPLAINED
from experiments.job import Job
from experiments.pipeline import Plan, plan_list
from experiments.planners.confirmation import NAME as CONFIRM
from experiments.planners.confirmation import configured, plan_settings, read_confirmed


def plan(job: Job, _name: str) -> Plan:
    """Plans further runs of the settings that results/agreement.parquet cannot explain.

    Raises:
        KneepointError: nothing was confirmed, the table is damaged, or mahimahi is missing.
    """
    wanted = configured(job)
    engine = job.engine("mahimahi")
    settings, _ = read_confirmed(job)
    outside = _outside(job.workflow.results / "agreement.parquet", len(settings))
    network = engine.place(job.network(wanted.network))
    repeats = wanted.repeats + wanted.again
    planned = [
        run
        for run in plan_settings(job, settings, engine, network, repeats, CONFIRM)
        if run.trial in outside and run.run >= wanted.repeats
    ]
    message = f"{len(outside)} settings, {wanted.again} further real runs each"
    return plan_list(engine, planned, message)


def _outside(path: Path, settings: int) -> set[int]:
    """Returns the settings that the agreement leaves unexplained (see analysis.agreement)."""
    rows = read_rows(path, AGREEMENT)
    outside = {row["trial"] for row in rows if row["why"] == UNEXPLAINED}
    if not outside <= set(range(settings)):
        raise unusable(path, f"it lists settings beyond the {settings} of confirm")
    return outside
