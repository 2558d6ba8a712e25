"""Runs the settings that matter in real mahimahi.

Besides its runs, whose trial numbers count the settings, it writes settings.parquet.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from common.errors import unusable
from common.tables import read_rows
from engines.base import EngineSettings, RunSpec, canonical_json
from experiments.exchanged import AUDIT, CONTRADICTED, REPORTS
from experiments.job import Job
from experiments.models.settings import Confirm
from experiments.models.study import Setting
from experiments.pipeline import Plan, plan_list
from experiments.published import PublishedRow, PublishedTable
from experiments.results import PlannedRun, make_table, read_table
from experiments.seeds import derive_seed, study_seed
from experiments.workflow import calibrating
from networks.scenario import PreparedNetwork

NAME = "confirm"

SETTINGS_SCHEMA = pa.schema(
    [
        pa.field("trial", pa.int64(), nullable=False),
        pa.field("controller", pa.string(), nullable=False),
        pa.field("constants", pa.string(), nullable=False),
        # Origins, comma-separated: calibration, listed, published, tuned, contradicted.
        pa.field("origins", pa.string(), nullable=False),
        pa.field("rows", pa.string(), nullable=False),  # of published tables: "TABLE ROW", commas
    ]
)


@dataclass(frozen=True)
class Candidate:
    """A setting to confirm, with its origin and its row of a published table."""

    controller: str
    constants: Mapping[str, float]
    origin: str
    row: str = ""


@dataclass
class ConfirmedSetting:
    """A setting with all its parameters, its origins and its rows."""

    controller: str
    constants: Mapping[str, float]
    origins: list[str]
    rows: list[str]

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
    settings = list_settings(job, wanted)
    network = engine.place(job.network(wanted.network))
    return plan_list(
        engine,
        plan_settings(job, settings, engine, network, wanted.repeats, name),
        f"{len(settings)} settings, {wanted.repeats} real runs each",
        {"settings.parquet": settings_table(settings)},
    )


def configured(job: Job) -> Confirm:
    """Returns the configured confirmation, which these experiments require."""
    assert job.workflow.confirm is not None
    return job.workflow.confirm


def list_settings(job: Job, wanted: Confirm) -> list[ConfirmedSetting]:
    """Returns the settings, each once, in the order of their controllers' first studies.

    Raises:
        KneepointError: required results are missing.
    """
    found: dict[tuple[str, str], ConfirmedSetting] = {}
    for candidate in _candidates(job, wanted):
        controller = job.controller(candidate.controller)
        constants = controller.complete(candidate.constants, "confirm")
        key = controller.name, canonical_json(constants)
        setting = found.setdefault(key, ConfirmedSetting(controller.name, constants, [], []))
        if candidate.origin not in setting.origins:
            setting.origins.append(candidate.origin)
        if candidate.row and candidate.row not in setting.rows:
            setting.rows.append(candidate.row)
    order = list(dict.fromkeys(setting.controller for setting in found.values()))
    return sorted(found.values(), key=lambda setting: order.index(setting.controller))


def read_confirmed(job: Job) -> tuple[list[ConfirmedSetting], list[dict[str, Any]]]:
    """Returns the settings that ran in real mahimahi, and their runs."""
    folder = job.workflow.results / NAME
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
    root = study_seed(job.workflow.settings.seed, stream)
    return [
        PlannedRun(
            trial,
            repeat,
            None,
            RunSpec.on(
                engine=engine,
                controller=job.controller(setting.controller),
                constants=setting.constants,
                network=network,
                seed=derive_seed(root, network.name, repeat),
            ),
        )
        for repeat in range(repeats)
        for trial, setting in enumerate(settings)
    ]


def settings_table(settings: list[ConfirmedSetting]) -> pa.Table:
    """Returns one row per setting."""
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
    return make_table(rows, SETTINGS_SCHEMA)


def _candidates(job: Job, wanted: Confirm) -> Iterator[Candidate]:
    results = job.workflow.results
    for setting in calibrating(wanted):
        yield _candidate(setting, "calibration")
    for setting in wanted.settings:
        yield _candidate(setting, "listed")
    if wanted.best and job.workflow.hold_out:
        for found in read_table(results / "hold_out" / "settings.parquet").to_pylist():
            if found["best"]:
                place = "" if found["table"] is None else f"{found['table']} {found['row']}"
                constants = json.loads(found["constants"])
                yield Candidate(found["controller"], constants, found["origin"], place)
    if wanted.contradicted:
        for table, row in _contradicted(results / "audit.parquet", job.workflow.tables):
            if row.has_all_constants:
                of, place = table.description.controller, f"{table.name} {row.number}"
                yield Candidate(of, row.constants, "contradicted", place)


def _candidate(setting: Setting, origin: str) -> Candidate:
    return Candidate(setting.controller, setting.constants, origin)


def _contradicted(
    path: Path, tables: Mapping[str, PublishedTable]
) -> list[tuple[PublishedTable, PublishedRow]]:
    """Returns the published rows that the audit contradicts (see analysis.audit)."""
    try:
        return [
            (tables[row["table"]], dict(enumerate(tables[row["table"]].rows))[row["row"]])
            for row in read_rows(path, AUDIT)
            if (row["comparison"], row["verdict"]) == (REPORTS, CONTRADICTED)
        ]
    except KeyError as error:
        raise unusable(path, f"unknown published table or row {error}") from None
