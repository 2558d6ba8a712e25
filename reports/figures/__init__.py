"""The figures, one module each, by the part of the report that they are in.

A module has the name of its kind, with underscores. It defines `subjects`, what there is to draw,
and `draw`, which draws one of them from the tables of the analysis. Figures compute nothing but
places on paper. This module imports no drawing library, because the workflow
reads it at every start; `kneepoint.reports.draw` draws.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeAlias

from kneepoint.reports import parts

if TYPE_CHECKING:
    import pandas as pd

    from kneepoint.analysis.frames import Record
    from kneepoint.common.tables import Tables

Subjects: TypeAlias = "Callable[[Tables], Mapping[str, Record]]"
"""The subjects of a kind's figures: rows of a table, by their suffix in the figure's name."""
Rows: TypeAlias = "str | Callable[[Tables], pd.DataFrame]"
"""A table by its name, or what computes rows of tables."""
Chosen: TypeAlias = "Callable[[pd.DataFrame], pd.DataFrame]"

PART_OF = {
    kind: part
    for part, kinds in {
        parts.AT_A_GLANCE: ("at-a-glance",),
        parts.PUBLISHED: ("published-against-ours",),
        parts.FOUND: (
            *("throughput-delay", "power-curve", "heat-map", "searches"),
            *("search-front", "search-pair", "search-slices"),
        ),
        parts.ELSEWHERE: ("plane", "held-out-gain", "held-out-map", "worst-case"),
        parts.BEHAVES: (
            *("run-over-time", "network-sweep", "comparison-figures"),
            *("comparison-flows", "comparison-shares", "comparison-windows"),
        ),
        parts.TRUSTED: ("repeatability", "agreement"),
    }.items()
    for kind in kinds
}
"""The part of the report in which each kind of figure is."""


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
    from kneepoint.analysis.frames import records  # imports pandas

    rows = tables[table] if isinstance(table, str) else table(tables)
    return records(chosen(rows)) if len(rows) else []


def kind_of(figure: str) -> str | None:
    """Returns the kind of a figure: power-curve for power-curve-fixed_window-window-contest."""
    kinds = (kind for kind in PART_OF if f"{figure}-".startswith(f"{kind}-"))
    return max(kinds, key=len, default=None)
