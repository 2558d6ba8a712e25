"""Runs the settings that matter in real mahimahi, and again where the emulator disagrees.

The trial numbers of all runs count the settings, which settings.parquet lists.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from pydantic import Field

from kneepoint.common.errors import unusable
from kneepoint.common.json_text import parse_json
from kneepoint.common.made_by import require_as_written
from kneepoint.common.tables import Column, read_rows
from kneepoint.config.published import PublishedRow, PublishedTable
from kneepoint.config.study import Setting
from kneepoint.config.workflow import CALIBRATED
from kneepoint.engines.base import EngineSettings, canonical_json
from kneepoint.networks.scenario import PreparedNetwork
from kneepoint.questions.real.settings import Confirm, Settings, calibrating
from kneepoint.runs.exchanged import AUDIT, CONTRADICTED, REPORTS
from kneepoint.runs.job import Job
from kneepoint.runs.pipeline import Plan, plan_list
from kneepoint.runs.question import makes
from kneepoint.runs.results import (
    PlannedRun,
    make_table,
    read_table,
    required,
)
from kneepoint.runs.seeds import derive_seed

NAME = "confirm"
AGREEMENT = (Column("trial", "whole"), Column("why", "text"))
"""Of agreement.parquet: a setting, and why a real mean lies outside its interval."""
UNEXPLAINED = "unexplained"
"""The setting runs again."""

# Origins, comma-separated: calibration, listed, published, tuned, contradicted. Rows of published
# tables likewise: "TABLE ROW".
SETTINGS_SCHEMA = pa.schema(
    [*required("int64", "trial"), *required("string", "controller", "constants", "origins", "rows")]
)


class ConfirmedSetting(Setting):
    """A setting with all its parameters, its origins and its rows of published tables."""

    constants: Mapping[str, int | float]  # whole ones are written as such
    origins: list[str] = Field(default=[])
    rows: list[str] = Field(default=[])

    @property
    def calibrates(self) -> bool:
        """Whether the emulated host is fitted to it."""
        return "calibration" in self.origins


def plan(job: Job, name: str) -> Plan:
    """Plans the real runs of the configured settings.

    Raises:
        KneepointError: required results are missing, or mahimahi is.
    """
    wanted = configured(job)
    engine = job.engine("mahimahi")
    settings = list_settings(job)
    network = engine.place(job.network(wanted.network))
    rows = [
        {
            "trial": trial,
            "controller": setting.controller,
            "constants": canonical_json(dict(setting.constants)),
            "origins": ",".join(setting.origins),
            "rows": ",".join(setting.rows),
        }
        for trial, setting in enumerate(settings)
    ]
    return plan_list(
        engine,
        plan_settings(job, settings, engine, network, wanted.repeats, name),
        f"{len(settings)} settings, {wanted.repeats} real runs each",
        {"settings.parquet": make_table(rows, SETTINGS_SCHEMA)},
    )


def plan_agreement(job: Job, name: str) -> Plan:
    """Plans runs of every confirmed setting in the emulator, on the host of `calibration`.

    Raises:
        KneepointError: nothing was confirmed, or no host was fitted.
    """
    repeats = configured(job).emulated
    settings, _ = read_confirmed(job)
    network = calibrated(job)
    engine = job.engine()
    planned = plan_settings(job, settings, engine, network, repeats, name)
    return plan_list(engine, planned, f"{len(settings)} settings, {repeats} emulated runs each")


def calibrated(job: Job, _: Any = None) -> PreparedNetwork:
    """Returns the network whose host is fitted to this one, on which all these runs are made."""
    path = job.workflow.results / CALIBRATED / "network.json"
    require_as_written(path)
    return PreparedNetwork.load(path)


def plan_further_runs(job: Job, _name: str) -> Plan:
    """Plans further real runs of the settings that results/agreement.parquet cannot explain.

    Such a mean may be due to chance or a transient of the host; only fresh runs can tell. They
    continue the run numbers of the setting in results/confirm.

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
        for run in plan_settings(job, settings, engine, network, repeats, NAME)
        if run.trial in outside and run.run >= wanted.repeats
    ]
    message = f"{len(outside)} settings, {wanted.again} further real runs each"
    return plan_list(engine, planned, message)


def configured(job: Job) -> Confirm:
    """Returns the configured confirmation, which these experiments require."""
    wanted = job.workflow.settings.part(Settings).confirm
    assert wanted is not None
    return wanted


def list_settings(job: Job) -> list[ConfirmedSetting]:
    """Returns the settings, each once, in the order of their controllers' first studies.

    Raises:
        KneepointError: required results are missing.
    """
    found: dict[tuple[str, str], ConfirmedSetting] = {}
    for given, origin, row in _candidates(job, configured(job)):
        constants = job.controller(given.controller).complete(given.constants, "confirm")
        new = ConfirmedSetting(controller=given.controller, constants=constants)
        setting = found.setdefault((given.controller, canonical_json(constants)), new)
        if origin not in setting.origins:
            setting.origins.append(origin)
        if row and row not in setting.rows:
            setting.rows.append(row)
    order = list(dict.fromkeys(setting.controller for setting in found.values()))
    return sorted(found.values(), key=lambda setting: order.index(setting.controller))


def read_confirmed(job: Job) -> tuple[list[ConfirmedSetting], list[dict[str, Any]]]:
    """Returns the settings that ran in real mahimahi, and their runs."""
    folder = job.workflow.results / NAME
    settings = [
        ConfirmedSetting(
            controller=row["controller"],
            constants=parse_json(row["constants"]),
            origins=row["origins"].split(","),
            rows=row["rows"].split(","),
        )
        for row in read_table(folder / "settings.parquet").to_pylist()
    ]
    return settings, read_table(folder / "runs.parquet").to_pylist()


def plan_settings(
    job: Job,
    settings: list[ConfirmedSetting],
    engine: EngineSettings,
    network: PreparedNetwork,
    repeats: int,
    stream: str,
) -> list[PlannedRun]:
    """Returns the runs of settings on a network: the first replicate of all, then the second.

    So an early interruption leaves some runs of every setting. In real time the seed only numbers
    the replicates.
    """
    root = derive_seed(job.workflow.settings.seed, stream)
    seeds = [derive_seed(root, network.name, repeat) for repeat in range(repeats)]
    return [
        PlannedRun(trial, repeat, None, job.spec(engine, setting, network, seed, stream))
        for repeat, seed in enumerate(seeds)
        for trial, setting in enumerate(settings)
    ]


def _candidates(job: Job, wanted: Confirm) -> Iterator[tuple[Setting, str, str]]:
    """Yields the settings to confirm, each with its origin and its row of a published table."""
    results = job.workflow.results
    for setting in calibrating(wanted):
        yield setting, "calibration", ""
    for setting in wanted.settings:
        yield setting, "listed", ""
    if wanted.best and job.workflow.settings.hold_out and makes("held_out_settings"):
        for found in read_table(results / "hold_out" / "settings.parquet").to_pylist():
            if found["best"]:
                place = "" if found["table"] is None else f"{found['table']} {found['row']}"
                constants = parse_json(found["constants"])
                setting = Setting(controller=found["controller"], constants=constants)
                yield setting, found["origin"], place
    if wanted.contradicted and makes("audit"):
        for table, row in _contradicted(results / "audit.parquet", job.workflow.tables):
            if row.has_all_constants:
                setting = Setting(controller=table.description.controller, constants=row.constants)
                yield setting, "contradicted", f"{table.name} {row.number}"


def _contradicted(
    path: Path, tables: Mapping[str, PublishedTable]
) -> list[tuple[PublishedTable, PublishedRow]]:
    """Returns the published rows that the audit contradicts (see kneepoint.questions.audit)."""
    try:
        return [
            (tables[row["table"]], dict(enumerate(tables[row["table"]].rows))[row["row"]])
            for row in read_rows(path, AUDIT)
            if (row["comparison"], row["verdict"]) == (REPORTS, CONTRADICTED)
        ]
    except KeyError as error:
        raise unusable(path, f"unknown published table or row {error}") from None


def _outside(path: Path, settings: int) -> set[int]:
    """Returns the settings that the agreement leaves unexplained (see `tables`)."""
    rows = read_rows(path, AGREEMENT)
    outside = {row["trial"] for row in rows if row["why"] == UNEXPLAINED}
    if not outside <= set(range(settings)):
        raise unusable(path, f"it lists settings beyond the {settings} of confirm")
    return outside
