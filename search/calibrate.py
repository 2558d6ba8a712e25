"""Fits the emulated host to real runs of fixed windows, then emulates every confirmed setting.

    python -m search.calibrate --config config/config.yaml --out-dir results/calibration

writes trials.parquet, runs.parquet and study.json of the fit, and agreement.parquet: the emulator's
runs, on the host that the fit found, of the settings that were run in real mahimahi.
"""

import argparse
import json
import math
from collections.abc import Sequence
from typing import Any

import optuna

from search.config import Confirm, Objective, Study
from search.confirm import NAME as CONFIRM
from search.confirm import ConfirmedSetting, configured, plan_settings
from search.engines.base import PreparedNetwork
from search.errors import KneepointError, run_command_line
from search.job import Job, add_arguments, open_job
from search.objective import FIT_METRICS
from search.plan import StudyPlan, plan_study
from search.published import Column, PublishedRow, PublishedTable, TableDescription
from search.results import read_table, runs_table, write_table
from search.seeds import study_seed
from search.study import carry_out

NAME = "calibration"
CONTROLLER = "fixed_window"


def calibrate(job: Job) -> None:
    """Fits the host, emulates the confirmed settings on it, and writes the results.

    Raises:
        KneepointError: there are no real runs yet, or a run cannot be executed.
    """
    wanted = configured(job)
    settings, real = read_confirmed(job)
    plan = plan_calibration(job, wanted, measured_table(settings, real))
    network = carry_out(job, plan).runs[0].planned.spec.network
    _emulate(job, wanted, settings, network)


def read_confirmed(job: Job) -> tuple[list[ConfirmedSetting], list[dict[str, Any]]]:
    """Returns the settings that were run for real, and these runs."""
    folder = job.workflow.results / CONFIRM
    settings = [
        ConfirmedSetting(
            row["controller"],
            json.loads(row["constants"]),
            row["origins"].split(","),
            row["rows"].split(","),
        )
        for row in read_table(folder / "settings.parquet").to_pylist()
    ]
    return settings, read_table(folder / "runs.parquet").to_pylist()


def measured_table(
    settings: Sequence[ConfirmedSetting], real: Sequence[dict[str, Any]]
) -> PublishedTable:
    """Returns the means of the real runs of each calibrating setting, as a table to be fitted.

    Raises:
        KneepointError: none of these runs came to an end.
    """
    rows: list[PublishedRow] = []
    for trial, setting in enumerate(settings):
        runs = [run for run in real if run["trial"] == trial and run["status"] == "ok"]
        if "calibration" in setting.origins and runs:
            metrics = {
                name: math.fsum(run[name] for run in runs) / len(runs) for name in FIT_METRICS
            }
            rows.append(PublishedRow(len(rows), setting.constants, metrics, {}, True))
    if not rows:
        raise KneepointError("calibration: no real run of a fixed window came to an end; confirm")
    description = TableDescription(
        source="real runs of this host",
        controller=CONTROLLER,
        columns={"window": Column(constant="window", unit="packets")},
    )
    return PublishedTable(CONFIRM, description, rows)


def plan_calibration(job: Job, wanted: Confirm, table: PublishedTable) -> StudyPlan:
    """Returns the fit as a study like any other."""
    study = Study(
        title="The emulated host, fitted to real fixed windows",
        controller=CONTROLLER,
        networks=(wanted.network,),
        host=wanted.calibration.host,
        objective=Objective(fit=CONFIRM),
        runs_per_trial=wanted.calibration.runs_per_trial,
    )
    return plan_study(
        NAME,
        study,
        job.catalogue.controllers[CONTROLLER],
        {CONFIRM: table},
        [job.network(wanted.network)],
        job.engine(),
        study_seed(job.workflow.settings.seed, NAME),
    )


def _emulate(
    job: Job, wanted: Confirm, settings: list[ConfirmedSetting], network: PreparedNetwork
) -> None:
    engine = job.engine()
    planned = plan_settings(job, settings, engine, network, wanted.emulated, "agreement")
    with job.runner("agreement", engine, len(planned)) as (runner, progress):
        finished = runner.finish(planned)
        write_table(job.out_dir / "agreement.parquet", runs_table("agreement", finished))
        progress.end(f"{len(settings)} settings, {wanted.emulated} emulated runs each")


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    add_arguments(parser)
    arguments = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    calibrate(open_job(arguments))


if __name__ == "__main__":
    run_command_line(main)
