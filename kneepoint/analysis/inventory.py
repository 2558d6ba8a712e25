"""All runs, failed runs, and experiments that have not run, so that none is dropped silently."""

from collections.abc import Iterator, Sequence
from pkgutil import resolve_name
from typing import Any

import pandas as pd

from kneepoint.analysis.frames import Record
from kneepoint.analysis.results import Results
from kneepoint.common.tables import Tables, table, text, texts, whole
from kneepoint.config.study import EMULATOR, MAHIMAHI
from kneepoint.runs.question import counts

NOT_RUN = "not run"
"""Kind of an experiment that is configured for real mahimahi and has not run."""

InventoryEntry = tuple[Record, pd.DataFrame]
"""The description of an experiment, and its runs."""


def experiment_entry(name: str, kind: str, engine: str, **about: Any) -> Record:
    """Returns the description of an experiment: columns of the table inventory."""
    return {"name": name, "kind": kind, "engine": engine, "title": name, "settings": 0, **about}


def not_run(name: str) -> InventoryEntry:
    """Returns the entry of an experiment that has not run."""
    return experiment_entry(name, NOT_RUN, MAHIMAHI), pd.DataFrame()


TABLES = (
    table(
        "inventory",
        "the runs of an experiment: a study, a comparison and so on; busy: runs repeated because "
        "the host was busy; kind `not run`: an experiment in real mahimahi that has not run; "
        "only a comparison has source, wanted_engines and traffic_titles",
        text("name", "kind", "engine", "title"),
        texts("controllers", "network_titles"),
        whole("settings", "runs", "failed", "busy"),
        text("source", optional=True),
        texts("wanted_engines", "traffic_titles"),
    ),
    table(
        "parameters",
        "the unit of a controller's parameter, as declared",
        text("controller", "parameter", "unit"),
    ),
    table(
        "names",
        "a parameter or controller as the report prints it",
        text("name", "printed"),
    ),
    table(
        "exclusions",
        "runs that gave no result, grouped by reason",
        text("study", "controller", "network", "parameters", "status", "reason"),
        whole("runs"),
    ),
    table(
        "settings_run",
        "a trial's setting on a network, and the first of its runs; table, row: the replayed row; "
        "parameters are JSON",
        text("study"),
        whole("trial"),
        text("table", optional=True),
        whole("row", optional=True),
        text("engine", "controller", "parameters", "network"),
        text("traffic", optional=True),
        whole("runs", "seed"),
        text("run_id"),
        exported=lambda rows: rows[:0],  # only for links to `kneepoint again`
    ),
)


def compute(results: Results, _: Tables) -> dict[str, pd.DataFrame]:
    """Computes the tables of all runs: studies first, then questions; real runs come last."""
    found = list(_studies(results))
    for counted in counts():
        found += resolve_name(counted.function)(results)
    found.sort(key=lambda each: (each[0]["engine"] == MAHIMAHI, each[0]["kind"] == NOT_RUN))
    return {
        "inventory": pd.DataFrame([{**of, **_counts(frame)} for of, frame in found]),
        "parameters": pd.DataFrame(
            {"controller": controller, "parameter": name, "unit": results.unit(controller, name)}
            for controller, name in results.units
        ),
        "names": pd.DataFrame(results.names.items(), columns=["name", "printed"], dtype=object),
        "exclusions": _exclusions([frame for _, frame in found if len(frame)]),
        "settings_run": _settings_run(results, [frame for _, frame in found]),
    }


def _exclusions(found: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Returns the runs without a result (failed or fault), counted by setting and reason."""
    if not found:
        return pd.DataFrame()
    without = pd.concat([runs[runs["status"] != "ok"] for runs in found])
    keys = ["study", "controller", "network", "parameters", "status", "reason"]
    return without.groupby(keys, sort=False).size().rename("runs").reset_index()


def _studies(results: Results) -> Iterator[InventoryEntry]:
    for engine, studies in ((EMULATOR, results.studies), (MAHIMAHI, results.real_studies)):
        for study in studies:
            about: Record = {"title": study.config.title, "settings": len(study.trials)}
            about["controllers"] = [study.config.controller]
            about["network_titles"] = [results.title(name) for name in study.config.networks]
            yield experiment_entry(study.name, "study", engine, **about), study.runs
    made = {study.name for study in results.real_studies}
    for name, wanted in results.workflow.studies.items():
        if wanted.engine == MAHIMAHI and name not in made:
            yield not_run(name)


def _settings_run(results: Results, found: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Returns each trial's setting on each network, and the first of its runs."""
    replayed = {study.name: study.config.table for study in results.studies}
    by = ["study", "trial", "row", "network", "traffic"]
    kept = ["engine", "controller", "parameters", "seed", "run_id"]
    parts = []
    for runs in found:
        if len(runs):
            alike = runs.reindex(columns=[*by, *kept]).groupby(by, dropna=False, sort=False)
            parts.append(alike.first().assign(runs=alike.size()).reset_index())
    every = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=by)
    return every.assign(table=every["study"].map(replayed))


def _counts(runs: pd.DataFrame) -> Record:
    """Returns the numbers of runs, of failed runs, and of runs repeated because of a busy host.

    A successful run has a reason if earlier attempts were discarded.
    """
    if runs.empty:
        return dict.fromkeys(("runs", "failed", "busy"), 0)
    ok = runs["status"] == "ok"
    return {
        "runs": len(runs),
        "failed": int((runs["status"] == "failed").sum()),
        "busy": int((ok & (runs["reason"] != "")).sum()),
    }
