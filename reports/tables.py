"""Tables of the analysis as CSV files, one for each study, sweep, grid or similar subject."""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from analysis import over_time
from analysis.agreement import PUBLISHED
from analysis.frames import CONSTANT, records, select
from analysis.metrics import METRICS
from analysis.schema import VERDICTS
from common.files import write_whole
from common.tables import Tables

_SPLIT = {
    "sweep_points": ("sweep", "sweep-{}", ["value", "runs", *METRICS]),
    "search_trials": (
        *("search", "history-{}"),
        ["trial", "value", "failed", "best_so_far", "improved"],
    ),
    "audit": ("comparison", "{}-beside-ours", None),
    "comparison_figures": ("comparison", "comparison-{}", None),
    "comparison_published": ("comparison", "comparison-{}-published", None),
    "comparison_engines": ("comparison", "comparison-{}-engines", None),
    "comparison_shares": ("comparison", "comparison-{}-shares", None),
    "comparison_cycles": ("comparison", "comparison-{}-cycles", None),
    "network_sweep_points": ("study", "network-sweep-{}", None),
    "audit_errors": ("comparison", "audit-errors-{}", None),
    "audit_evidence": ("comparison", "audit-evidence-{}", None),
}
"""Tables split by a column: the column, the names of the files, and the columns in them."""
_AGREEMENT = [
    *("table", "rows", "compared", "within"),
    *(f"{what}_{metric}" for metric in METRICS for what in ("median", "worst")),
]
_WHOLE = {
    "recovery": "recovery",
    "held_out_standings": "held-out-standings",
    "held_out_settings": "held-out-settings",
    "held_out_gains": "held-out-gains",
    "tuning": "tuning",
    "worst_cases": "worst-cases",
    "hardening_rounds": "hardening-rounds",
    "probe_levels": "probe-levels",
    "probe_runs": "probe-runs",
    "scheduling_delays": "scheduling-delays",
    "again": "outside",
    "confirmed_best": "confirmed-best",
    "confirmed_rows": "confirmed-rows",
}
"""Tables written to files as they are, but for columns of _ELSEWHERE."""
_ELSEWHERE = {
    "confirmed_best": ["printed_table", "printed_row"],
    "confirmed_rows": ["printed_table", "printed_row"],
    "held_out_settings": [
        *("training_rank", "held_out_rank", "gap", "label", "repeats"),
        *("held_out_low", "held_out_high", "middle", "middle_low", "middle_high"),
    ],
    "held_out_gains": ["printed_table", "printed_row", "printed_power", "trials", "searched"],
    "hardening_rounds": [
        *("title", "controller", "opponent", "network_titles"),
        *("tuning_trials", "worst_case_trials"),
    ],
}
"""Columns of tables that another file has."""
_WHOSE = {"emulator": "", "mahimahi": "-real", "calibrated": "-calibrated"}


def tables(analysis: Tables) -> Iterator[tuple[str, pd.DataFrame]]:
    """Each table, or what is derived of them, with the name of its file."""
    for name, (by, file, columns) in _SPLIT.items():
        for key in analysis[name][by].drop_duplicates() if len(analysis[name]) else ():
            part = select(analysis[name], **{by: key}).drop(columns=by)
            yield file.format(key), part if columns is None else part[columns]
    for comparison, own in select(analysis["audit_tables"], own=True).groupby("comparison"):
        yield f"agreement-{comparison}", own[_AGREEMENT]
        yield f"audit-counts-{comparison}", own[["table", "rows", *VERDICTS]]
    for name, file in _WHOLE.items():
        if len(analysis[name]):
            yield file, analysis[name].drop(columns=_ELSEWHERE.get(name, []))
    yield from _grids(analysis)
    yield from _repeatability(analysis)
    networks = analysis["held_out_networks"]
    if len(networks):
        yield "held-out-networks", networks.drop(columns=["nearest", "nearest_label"])
        labels = analysis["held_out_standings"][["trial", "label"]]
        power = ["trial", "network", "relative", "runs", "power", "standard_deviation"]
        yield "held-out-power", labels.merge(analysis["held_out_power"][power], on="trial")
    for run in records(analysis["showcase"]):
        series = select(analysis["series"], run=run["run"])
        rates = series[series["quantity"].isin(over_time.RATES)]
        wide = rates.pivot(index="time_s", columns="quantity", values="value")[[*over_time.RATES]]
        rates = wide.rename_axis(index="start_s").reset_index()
        yield f"{'real-' if run['engine'] != 'emulator' else ''}rates-over-time", rates
    if len(analysis["agreement"]):
        settings = analysis["agreement_settings"][["trial", "controller", "constants", "label"]]
        yield "emulated-and-real", settings.merge(analysis["agreement"], on="trial")


def _grids(analysis: Tables) -> Iterator[tuple[str, pd.DataFrame]]:
    for grid in records(analysis["grids"]):
        cells = select(analysis["grid_cells"], grid=grid["grid"])
        wide = cells.pivot(index="y", columns="x", values="ours")
        yield f"grid-{grid['grid']}", wide.rename_axis(index=CONSTANT + grid["y"]).reset_index()


def _repeatability(analysis: Tables) -> Iterator[tuple[str, pd.DataFrame]]:
    spread, published = analysis["repeatability"], analysis["repeatability_beside_published"]
    real = len(select(spread, whose="mahimahi")) > 0
    for whose, ending in _WHOSE.items():
        found = select(spread, whose=whose).drop(columns=["whose", "label"])
        if len(found) or (real and whose == "calibrated"):
            yield f"repeatability{ending}", found
    beside = select(published, whose="emulator").drop(columns=["whose", "label"])
    if len(select(spread, whose="emulator")):
        yield f"repeatability-{PUBLISHED}", beside


def write_tables(analysis: Tables, folder: Path) -> None:
    """Writes every table into `folder` as `<name>.csv`."""
    for name, table in tables(analysis):
        write_whole(folder / f"{name}.csv", table.to_csv(index=False, lineterminator="\n"))
