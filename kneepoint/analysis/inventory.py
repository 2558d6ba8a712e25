"""All runs, those that failed, and experiments that did not run: nothing is dropped silently."""

from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd

from kneepoint.analysis.frames import Record
from kneepoint.analysis.results import (
    Repeats,
    Results,
    StudyRuns,
    shown,
)
from kneepoint.common.tables import Tables
from kneepoint.config.study import (
    EMULATOR,
    MAHIMAHI,
    Engine,
)
from kneepoint.config.workflow import ADDED_RUNS

NOT_RUN = "not run"
"""The kind of an experiment that is configured for real mahimahi and has not run."""

Found = tuple[Record, pd.DataFrame]
"""What runs are, and the runs."""


def compute(results: Results, _: Tables) -> dict[str, pd.DataFrame]:
    """The stage: see `kneepoint.analysis.schema`."""
    found = [*_of_engine(results, EMULATOR, results.studies, results.repeats)]
    found += [*_compared(results), *_emulated(results)]
    found += [*_of_engine(results, MAHIMAHI, results.real_studies, results.real_repeats)]
    found += [*_real(results)]
    found += [(_what(name, NOT_RUN, MAHIMAHI), pd.DataFrame()) for name in results.missing]
    return {
        "inventory": pd.DataFrame([{**what, **_counts(frame)} for what, frame in found]),
        "constants": pd.DataFrame(
            {"controller": controller, "constant": name, "unit": results.unit(controller, name)}
            for controller, name in results.units
        ),
        "names": pd.DataFrame(results.names.items(), columns=["name", "printed"], dtype=object),
        "exclusions": _exclusions([frame for _, frame in found if len(frame)]),
        "settings_run": _settings_run(results, [frame for _, frame in found]),
    }


def _exclusions(found: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The runs that gave no result, alike ones together; their status is failed or fault."""
    if not found:
        return pd.DataFrame()
    without = pd.concat([runs[runs["status"] != "ok"] for runs in found])
    keys = ["study", "controller", "network", "constants", "status", "reason"]
    return without.groupby(keys, sort=False).size().rename("runs").reset_index()


def _of_engine(
    results: Results, engine: Engine, studies: Sequence[StudyRuns], repeats: Sequence[Repeats]
) -> Iterator[Found]:
    """Its studies and repetitions."""
    for study in studies:
        about: Record = {"title": study.config.title, "settings": len(study.trials)}
        about["controllers"] = [study.config.controller]
        about["network_titles"] = [results.title(name) for name in study.config.networks]
        yield _what(study.name, "study", engine, **about), study.runs
    for each in repeats:
        about = {"title": each.config.title, "settings": len(each.config.settings)}
        about["controllers"] = list(dict.fromkeys(s.controller for s in each.config.settings))
        yield _what(each.name, "repeat", engine, **about), each.runs


def _compared(results: Results) -> Iterator[Found]:
    """Its comparisons, those on the kernel's TCP where they were made."""
    for each in results.comparisons:
        about = {
            "title": each.config.title,
            "controllers": list(dict.fromkeys(each.runs["controller"])),
            "network_titles": list(dict.fromkeys(each.runs["network_title"])),
            "traffic_titles": list(dict.fromkeys(each.runs["traffic_title"])),
            "settings": each.runs["trial"].nunique(),
            "source": each.config.source,
            "wanted_engines": list(map(shown, each.config.engines)),
        }
        yield _what(each.name, "comparison", each.engine, **about), each.runs


def _emulated(results: Results) -> Iterator[Found]:
    if results.hold_out is not None:
        yield _what("hold_out", "hold_out", EMULATOR), results.hold_out.runs
    for each in results.hardenings:
        titles = [results.title(name) for name in each.tune.networks]
        about: Record = {"title": each.config.title, "settings": len(each.rounds)}
        about |= {"controllers": [each.tune.controller], "network_titles": titles}
        yield _what(each.name, "hardening", EMULATOR, **about), each.runs
    added = results.added_runs
    if len(added):
        settings = added.groupby(["controller", "constants", "network", "host"]).ngroups
        yield _what(ADDED_RUNS, "added", EMULATOR, settings=settings), added


def _real(results: Results) -> Iterator[Found]:
    probe, confirmed = results.probe, results.confirmation
    if probe is not None:
        yield _what("probe", "probe", MAHIMAHI), probe
    if confirmed is not None:
        settings = len(confirmed.settings)
        yield _what("confirm", "confirm", MAHIMAHI, settings=settings), confirmed.runs


def _settings_run(results: Results, found: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """Returns each trial's setting on each network, and the first of its runs."""
    replayed = {study.name: study.config.table for study in results.studies}
    by = ["study", "trial", "row", "network", "traffic"]
    kept = ["engine", "controller", "constants", "seed", "run_id"]
    parts = []
    for runs in found:
        if len(runs):
            alike = runs.reindex(columns=[*by, *kept]).groupby(by, dropna=False, sort=False)
            parts.append(alike.first().assign(runs=alike.size()).reset_index())
    every = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=by)
    return every.assign(table=every["study"].map(replayed))


def _what(name: str, kind: str, engine: str, **about: Any) -> Record:
    return {"name": name, "kind": kind, "engine": engine, "title": name, "settings": 0, **about}


def _counts(runs: pd.DataFrame) -> Record:
    """How many runs there are, how many failed, how many a busy host had spoilt before.

    A run that ended well has a reason only if earlier tries of it were spoilt.
    """
    if runs.empty:
        return dict.fromkeys(("runs", "failed", "busy"), 0)
    ok = runs["status"] == "ok"
    return {
        "runs": len(runs),
        "failed": int((runs["status"] == "failed").sum()),
        "busy": int((ok & (runs["reason"] != "")).sum()),
    }
