"""Runs settings in real mahimahi, and repeats them if the emulator disagrees.

settings.parquet lists the settings (see kneepoint.runs.confirmed).
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kneepoint.common.errors import unusable
from kneepoint.common.json_text import parse_json
from kneepoint.common.made_by import require_as_written
from kneepoint.common.tables import from_rows, read, table, text, whole
from kneepoint.config.confirm import Confirm, calibrating
from kneepoint.config.published import PublishedRow, PublishedTable
from kneepoint.config.study import Setting
from kneepoint.config.workflow import CALIBRATED
from kneepoint.engines.base import canonical_json
from kneepoint.networks.scenario import PreparedNetwork
from kneepoint.runs.audit_table import AUDIT, CONTRADICTED, REPORTS
from kneepoint.runs.confirmed import (
    CALIBRATION,
    NAME,
    SETTINGS,
    ConfirmedSetting,
    configured,
    plan_settings,
    read_confirmed,
)
from kneepoint.runs.hold_out import SETTINGS as HOLD_OUT_SETTINGS
from kneepoint.runs.job import Job
from kneepoint.runs.pipeline import Plan, plan_list
from kneepoint.runs.question import makes

AGREEMENT = table(
    "agreement",
    "a setting, and the reason for a mean outside its interval",
    whole("trial"),
    text("why"),
    is_open=True,
)
TABLES = (SETTINGS,)
UNEXPLAINED = "unexplained"
"""The reason for which a setting runs again."""


def plan(job: Job, name: str) -> Plan:
    """Plans the real runs of the configured settings.

    Raises:
        KneepointError: required results or mahimahi are missing.
    """
    wanted = configured(job)
    engine = job.engine("mahimahi")
    settings = list_settings(job)
    network = engine.place(job.network(wanted.network))
    rows = [
        {
            "trial": trial,
            "controller": setting.controller,
            "parameters": canonical_json(dict(setting.parameters)),
            "origins": ",".join(setting.origins),
            "rows": ",".join(setting.rows),
        }
        for trial, setting in enumerate(settings)
    ]
    return plan_list(
        engine,
        plan_settings(job, settings, engine, network, wanted.repeats, name),
        f"{len(settings)} settings, {wanted.repeats} real runs each",
        {"settings.parquet": from_rows(SETTINGS, rows)},
    )


def plan_agreement(job: Job, name: str) -> Plan:
    """Plans runs of every confirmed setting in the emulator, on the host of `calibration`.

    Raises:
        KneepointError: nothing was confirmed, or no host was fitted.
    """
    repeats = configured(job).emulated
    settings, _ = read_confirmed(job)
    network = _calibrated(job)
    engine = job.engine()
    planned = plan_settings(job, settings, engine, network, repeats, name)
    return plan_list(engine, planned, f"{len(settings)} settings, {repeats} emulated runs each")


def network_of(job: Job, _run: Mapping[str, Any]) -> PreparedNetwork:
    """Returns the network of a recorded run of `plan_agreement`."""
    return _calibrated(job)


def _calibrated(job: Job) -> PreparedNetwork:
    """Returns the network whose host is fitted to this machine."""
    path = job.workflow.results / CALIBRATED / "network.json"
    require_as_written(path)
    return PreparedNetwork.load(path)


def plan_further_runs(job: Job, _name: str) -> Plan:
    """Plans further real runs of the settings that results/agreement.parquet cannot explain.

    An unexplained mean may be due to chance or a transient of the host, which only fresh runs can
    show. Run numbers continue the numbers of the setting's runs in results/confirm.

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


def list_settings(job: Job) -> list[ConfirmedSetting]:
    """Returns the distinct settings, grouped by controller in the order of first appearance.

    Raises:
        KneepointError: required results are missing.
    """
    found: dict[tuple[str, str], ConfirmedSetting] = {}
    for given, origin, row in _candidates(job, configured(job)):
        parameters = job.controller(given.controller).complete(given.parameters, "confirm")
        new = ConfirmedSetting(controller=given.controller, parameters=parameters)
        setting = found.setdefault((given.controller, canonical_json(parameters)), new)
        if origin not in setting.origins:
            setting.origins.append(origin)
        if row and row not in setting.rows:
            setting.rows.append(row)
    order = list(dict.fromkeys(setting.controller for setting in found.values()))
    return sorted(found.values(), key=lambda setting: order.index(setting.controller))


def _candidates(job: Job, wanted: Confirm) -> Iterator[tuple[Setting, str, str]]:
    """Yields the settings to confirm, each with its origin and its row of a published table."""
    results = job.workflow.results
    for setting in calibrating(wanted):
        yield setting, CALIBRATION, ""
    for setting in wanted.settings:
        yield setting, "listed", ""
    if wanted.best and job.workflow.settings.hold_out and makes("held_out_settings"):
        for found in read(results / "hold_out" / "settings.parquet", HOLD_OUT_SETTINGS).to_pylist():
            if found["best"]:
                place = "" if found["table"] is None else f"{found['table']} {found['row']}"
                parameters = parse_json(found["parameters"])
                setting = Setting(controller=found["controller"], parameters=parameters)
                yield setting, found["origin"], place
    if wanted.contradicted and makes("audit"):
        for table, row in _contradicted(results / "audit.parquet", job.workflow.tables):
            if row.has_all_parameters:
                setting = Setting(
                    controller=table.description.controller, parameters=row.parameters
                )
                yield setting, "contradicted", f"{table.name} {row.number}"


def _contradicted(
    path: Path, tables: Mapping[str, PublishedTable]
) -> list[tuple[PublishedTable, PublishedRow]]:
    """Returns the published rows that the audit contradicts (see kneepoint.questions.audit)."""
    try:
        return [
            (tables[row["table"]], dict(enumerate(tables[row["table"]].rows))[row["row"]])
            for row in read(path, AUDIT).select(AUDIT.names).to_pylist()
            if (row["comparison"], row["verdict"]) == (REPORTS, CONTRADICTED)
        ]
    except KeyError as error:
        raise unusable(path, f"unknown published table or row {error}") from None


def _outside(path: Path, settings: int) -> set[int]:
    """Returns the settings that the agreement leaves unexplained (see `tables`)."""
    rows = read(path, AGREEMENT).select(AGREEMENT.names).to_pylist()
    outside = {row["trial"] for row in rows if row["why"] == UNEXPLAINED}
    if not outside <= set(range(settings)):
        raise unusable(path, f"it lists settings beyond the {settings} of confirm")
    return outside
