"""Runs published and tuned settings on held-out networks.

The trial number of a run is the index of its setting. The tables are settings.parquet and
networks.parquet.

Published settings are the rows of the tables that studies replayed on the training network and, if
configured, the declared defaults. A controller's best published setting has the greatest power in
our runs. A controller's tuned settings are the best trials of the studies that tune it on the
training network. All settings run again, on the training network as well: the best of many trials
is biased by selection, whereas a fresh run is not.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from kneepoint.common.errors import unusable
from kneepoint.common.json_text import parse_json
from kneepoint.common.study_record import StudyRecord
from kneepoint.common.tables import flag, from_rows, read, real, table, text
from kneepoint.config.study import Setting
from kneepoint.engines.base import canonical_json
from kneepoint.networks.scenario import PreparedNetwork
from kneepoint.questions.held_out import HoldOut, Settings
from kneepoint.runs.hold_out import SETTINGS
from kneepoint.runs.job import Job
from kneepoint.runs.pipeline import Plan, plan_list
from kneepoint.runs.results import RESULTS, RUNS, PlannedRun
from kneepoint.runs.seeds import derive_seed

NETWORKS = table(
    "hold_out/networks",
    "a network with its omniscient bound",
    text("network"),
    flag("is_training"),
    real("capacity_mbps", "signal_delay_p95_ms"),
    real("power", unit="Mbit/s/s"),
    version=RESULTS,
)
TABLES = (SETTINGS, NETWORKS)


class FoundSetting(Setting):
    """A controller with all its parameters, their origin, and their power on the training network.

    Every tuned setting counts as `best`, and one published setting of each controller.
    """

    parameters: Mapping[str, int | float]  # int stays int in JSON
    origin: Literal["published", "tuned"]
    best: bool
    study: str
    table: str | None
    row: int | None
    published_power: float | None
    study_power: float
    study_runs: int


def plan(job: Job, name: str) -> Plan:
    """Plans the runs of the studies' settings on all networks.

    Raises:
        KneepointError: a study or a network has no results.
    """
    held = configured(job)
    prepared = [job.network(name) for name in (held.training, *held.networks)]
    settings = find_settings(job)
    networks = [
        {"network": each.name, "is_training": place == 0, **vars(each.omniscient)}
        for place, each in enumerate(prepared)
    ]
    rows = [
        {**vars(found), "trial": trial, "parameters": canonical_json(dict(found.parameters))}
        for trial, found in enumerate(settings)
    ]
    return plan_list(
        job.engine(),
        list_runs(job, settings, prepared, derive_seed(job.workflow.settings.seed, name)),
        f"{len(settings)} settings on {len(prepared)} networks",
        {
            "networks.parquet": from_rows(NETWORKS, networks),
            "settings.parquet": from_rows(SETTINGS, rows),
        },
    )


def configured(job: Job) -> HoldOut:
    """Returns the configured networks, which this experiment requires."""
    held = job.workflow.settings.part(Settings).hold_out
    assert held is not None
    return held


def find_settings(job: Job) -> list[FoundSetting]:
    """Returns the settings that studies replayed or found on the training network.

    Controllers come in the order of the studies, published settings before tuned settings.

    Raises:
        KneepointError: a study has no results.
    """
    workflow, held = job.workflow, configured(job)
    rows = [row for name in workflow.replays for row in _replayed_rows(job, name, held.training)]
    if held.defaults:
        first = {workflow.studies[name].controller: name for name in reversed(workflow.tunings)}
        # Replayed rows come before defaults.
        rows += [_found(job, first[controller], "published", ()) for controller in reversed(first)]
    every = (_tuned(job, name, held.training) for name in workflow.tunings)
    tuned = [found for found in every if found]
    best: dict[str, FoundSetting] = {}
    for row in rows:
        if row.controller not in best or row.study_power > best[row.controller].study_power:
            best[row.controller] = row
    published = [row.model_copy(update={"best": row is best[row.controller]}) for row in rows]
    if held.published == "best":
        published = [row for row in published if row.best]
    order = list(dict.fromkeys(study.controller for study in workflow.studies.values()))
    return sorted([*published, *tuned], key=lambda found: order.index(found.controller))


def list_runs(
    job: Job,
    settings: Iterable[FoundSetting],
    networks: Sequence[PreparedNetwork],
    seed: int,
) -> list[PlannedRun]:
    """Returns all runs: every setting on every network, in their order.

    A seed depends only on the network and the number of the replicate. Therefore all settings meet
    the same random events, and an additional setting does not change the runs of the others. Rows
    of several tables with equal parameters share one run.
    """
    held, engine = configured(job), job.engine()
    planned = []
    for trial, found in enumerate(settings):
        repeats = held.repeats if found.best else 1
        places = [(network, repeat) for network in networks for repeat in range(repeats)]
        for run, (network, repeat) in enumerate(places):
            own_seed = derive_seed(seed, network.name, repeat)
            spec = job.spec(engine, found, network, own_seed, "hold_out")
            planned.append(PlannedRun(trial, run, None, spec))
    return planned


def _replayed_rows(job: Job, study: str, training: str) -> Iterable[FoundSetting]:
    """Yields the rows of a published table that a study replayed, with their runs' mean power."""
    table = job.workflow.tables[str(job.workflow.studies[study].table)]
    printed = {row.number: row.metrics.get("power") for row in table.rows}
    rows: dict[int, list[dict[str, Any]]] = {}
    for run in _runs(job, study, training):
        rows.setdefault(run["row"], []).append(run)
    for number, runs in rows.items():
        yield _found(job, study, "published", runs, table.name, number, printed.get(number))


def _tuned(job: Job, study: str, training: str) -> FoundSetting | None:
    """Returns the best setting of a search; None if all trials failed."""
    path = job.workflow.results / study / "study.json"
    best = StudyRecord.load(path).best
    if best is None:
        return None
    runs = [run for run in _runs(job, study, training) if run["trial"] == best.trial]
    if not runs:
        raise unusable(path, f"runs.parquet has no runs of trial {best.trial} on {training}")
    return _found(job, study, "tuned", runs)


def _found(
    job: Job,
    study: str,
    origin: Literal["published", "tuned"],
    runs: Sequence[Mapping[str, Any]],
    table: str | None = None,
    row: int | None = None,
    published_power: float | None = None,
) -> FoundSetting:
    """Returns the setting of a study's runs; without runs, the controller's declared defaults."""
    controller = job.controller(job.workflow.studies[study].controller)
    given = parse_json(runs[0]["parameters"]) if runs else {}
    powers = [0.0 if run["status"] == "failed" else run["power"] for run in runs]
    return FoundSetting(
        controller=controller.name,
        origin=origin,
        best=origin == "tuned",
        study=study,
        table=table,
        row=row,
        parameters=controller.complete(given, f"study {study}"),
        published_power=published_power,
        study_power=math.fsum(powers) / max(1, len(powers)),
        study_runs=len(runs),
    )


def _runs(job: Job, study: str, network: str) -> list[dict[str, Any]]:
    """Returns a study's runs on one network."""
    path = job.workflow.results / study / "runs.parquet"
    columns = ["network", "trial", "row", "parameters", "status", "power"]
    runs: list[dict[str, Any]] = read(path, RUNS).select(columns).to_pylist()
    return [run for run in runs if run["network"] == network]
