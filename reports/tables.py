"""The statistics behind the figures as CSV files, for whoever wants to compute with them."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from common.files import write_whole
from reports import audit
from reports.collect import Results
from reports.discover import comparisons, grids, held_out, one_run, repetition, searches, sweeps
from reports.discover_real import (
    agreement,
    best_settings,
    contradicted_rows,
    emulated_spread,
    probing,
    real_repetition,
    waiting,
)


def tables(results: Results) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each table with the name of its file."""
    for sweep in sweeps(results):
        yield f"sweep-{sweep.key}", sweep.curve
    for grid in grids(results):
        yield f"grid-{grid.key}", grid.ours.reset_index()
    for search in searches(results):
        yield f"history-{search.key}", search.history
    repeated = repetition(results)
    if repeated is not None:
        yield "repeatability", repeated.spread
        yield "repeatability-published", repeated.published
    for compared in comparisons(results):
        yield f"{compared.key}-beside-ours", compared.rows
        yield f"agreement-{compared.key}", compared.agreement
        yield f"audit-counts-{compared.key}", audit.counts(compared.rows)
        yield f"audit-errors-{compared.key}", audit.errors(compared.rows)
    held = held_out(results)
    if held is not None:
        yield "held-out-standings", held.standings
        yield "held-out-settings", held.settings
        yield "held-out-gains", held.gains
        yield "held-out-networks", held.networks
    run = one_run(results)
    if run is not None:
        yield "rates-over-time", run.rates
    yield from _real_tables(results)


def _real_tables(results: Results) -> Iterator[tuple[str, pd.DataFrame]]:
    probe = probing(results)
    if probe is not None:
        yield "probe-levels", probe.levels
        yield "probe-runs", probe.runs
    waits = waiting(results)
    if waits is not None:
        yield "scheduling-delays", waits.delays
    found = agreement(results)
    if found is not None:
        settings = found.settings[["trial", "controller", "constants", "label"]]
        yield "emulated-and-real", settings.merge(found.rows, on="trial")
        for name, table in (
            ("confirmed-best", best_settings(results)),
            ("confirmed-rows", contradicted_rows(results)),
        ):
            if len(table):
                yield name, table
    repeated = real_repetition(results)
    if repeated is not None:
        yield "repeatability-real", repeated.spread
        yield "repeatability-calibrated", emulated_spread(results, repeated)


def write_tables(results: Results, folder: Path) -> None:
    """Writes every table into `folder` as `<name>.csv`."""
    for name, table in tables(results):
        write_whole(folder / f"{name}.csv", table.to_csv(index=False, lineterminator="\n"))
