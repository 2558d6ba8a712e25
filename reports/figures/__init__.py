"""The figures, one module each, with the tables of the analysis that each kind reads.

Figures compute nothing but places on paper and smooth surfaces. This module imports no drawing
library, because the workflow reads it at every start; `reports.draw` draws.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import pandas as pd

    from analysis.frames import Record
    from common.tables import Tables

Subjects: TypeAlias = "Callable[[Tables], Mapping[str, Record]]"
"""The subjects of a kind's figures: rows of a table, by their suffix in the figure's name."""
Rows: TypeAlias = "str | Callable[[Tables], pd.DataFrame]"
"""A table by its name, or what computes rows of tables."""
Chosen: TypeAlias = "Callable[[pd.DataFrame], pd.DataFrame]"

READS = {
    "at-a-glance": (
        *("audit", "inventory", "held_out_settings"),
        *("held_out_gains", "settings_run"),
    ),
    "agreement": ("agreement", "agreement_settings"),
    "comparison-figures": ("traffic_figures", "comparison_published"),
    "comparison-flows": ("comparison_runs", "series"),
    "comparison-shares": ("comparison_shares",),
    "comparison-windows": ("comparison_runs", "series"),
    "delay-distribution": ("showcase", "series"),
    "hardening": ("hardening_rounds",),
    "heat-map": ("grid_cells",),
    "held-out-gain": ("held_out_settings", "held_out_gains", "inventory"),
    "held-out-map": ("held_out_networks", "held_out_settings", "held_out_power"),
    "held-out-profiles": ("held_out_profiles", "held_out_settings", "inventory"),
    "held-out-ranks": ("held_out_settings", "inventory"),
    "network-sweep": ("traffic_figures", "inventory"),
    "other-constant": ("grid_effects",),
    "plane": ("held_out_networks", "held_out_power", "held_out_settings", "inventory"),
    "power-curve": ("sweeps", "sweep_points", "audit"),
    "probe": ("probe",),
    "published-against-ours": ("audit", "settings_run"),
    "repeatability": ("repeatability_runs", "repeatability_published"),
    "run-over-time": ("showcase", "series"),
    "search-bracket": ("searches", "search_constants", "search_trials"),
    "search-contours": ("searches", "search_constants", "search_trials"),
    "search-curve": ("searches", "search_constants", "search_trials"),
    "search-front": ("searches", "search_trials"),
    "search-history": ("searches", "search_trials", "settings_run"),
    "search-slices": ("searches", "search_constants", "search_trials"),
    "searches": ("searches", "search_trials", "settings_run"),
    "throughput-delay": ("sweeps", "sweep_points", "audit"),
    "waits": ("scheduling_delays",),
    "worst-case": ("worst_cases", "series"),
}
"""Every kind of figure and the tables that it reads, its subjects' table first.

The module of a kind has its name, with underscores. It defines `subjects`, and `draw`, which draws
one of them from these tables.
"""


def each(table: "Rows", *keys: str, chosen: "Chosen" = lambda rows: rows) -> "Subjects":
    """A figure for every chosen row of a table, named by columns; of equal names for the first."""

    def subjects(tables: "Tables") -> "dict[str, Record]":
        found: dict[str, Record] = {}
        for row in _rows(tables, table, chosen):
            found.setdefault("-".join(row[key] for key in keys), row)
        return found

    return subjects


def only(table: "Rows", name: str, chosen: "Chosen" = lambda rows: rows) -> "Subjects":
    """A figure of that name if any row of a table is chosen; its subject is the first."""
    return lambda tables: dict(zip([name], _rows(tables, table, chosen), strict=False))


def _rows(tables: "Tables", table: "Rows", chosen: "Chosen") -> "list[Record]":
    from analysis.frames import records  # imports pandas

    rows = tables[table] if isinstance(table, str) else table(tables)
    return records(chosen(rows)) if len(rows) else []


def kind_of(figure: str) -> str | None:
    """Returns the kind of a figure: power-curve for power-curve-fixed_window-window-contest."""
    kinds = (kind for kind in READS if f"{figure}-".startswith(f"{kind}-"))
    return max(kinds, key=len, default=None)
