"""The statistics behind the figures as CSV files, for whoever wants to compute with them."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from networks.files import write_whole
from reports import audit
from reports.collect import Results
from reports.discover import comparisons, grids, held_out, one_run, repetition, searches, sweeps


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


def write_tables(results: Results, folder: Path) -> None:
    """Writes every table into `folder` as `<name>.csv`."""
    for name, table in tables(results):
        write_whole(folder / f"{name}.csv", table.to_csv(index=False, lineterminator="\n"))
