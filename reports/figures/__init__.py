"""Kinds of figures, by the part of the report that contains them.

The module `figures` of a question declares FIGURES: for each kind, its subjects and the function
that draws one of them from the tables of the analysis. Figures compute positions only. This module
imports no drawing library, because the workflow imports it at every start; `kneepoint.reports.draw`
draws.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, TypeAlias

from kneepoint.runs.question import PACKAGE, questions

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from kneepoint.analysis.frames import Record
    from kneepoint.common.tables import Tables

Subjects: TypeAlias = "Callable[[Tables], Mapping[str, Record]]"
"""Returns the subjects of a kind's figures: rows of a table, by the suffix of the figure's name."""
Rows: TypeAlias = "str | Callable[[Tables], pd.DataFrame]"
"""The name of a table, or a function that computes rows from tables."""
Chosen: TypeAlias = "Callable[[pd.DataFrame], pd.DataFrame]"

_QUESTION_OF = {kind: name for name, each in questions().items() for kind in each.figures}
PART_OF = {kind: questions()[name].sections[0].part for kind, name in _QUESTION_OF.items()}
"""The part of the report that contains each kind of figure."""


@dataclass(frozen=True)
class Drawn:
    """A kind of figure.

    Args:
        asks: the question that the figure answers.
        subjects: returns the subjects of its figures.
        draw: draws the figure of one subject.
    """

    asks: str
    subjects: "Subjects"
    draw: "Callable[[Record, Tables], Figure]"


def module_of(kind: str) -> str:
    """Returns the module that draws a kind of figure."""
    return f"{PACKAGE}.{_QUESTION_OF[kind]}.figures"


def drawn(kind: str) -> Drawn:
    """Returns a kind of figure; imports the module that draws it."""
    found: Drawn = import_module(module_of(kind)).FIGURES[kind]
    return found


def each(table: "Rows", *keys: str, chosen: "Chosen" = lambda rows: rows) -> "Subjects":
    """Returns subjects: every chosen row of a table, named by columns; duplicates are dropped."""

    def subjects(tables: "Tables") -> "dict[str, Record]":
        found: dict[str, Record] = {}
        for row in _rows(tables, table, chosen):
            found.setdefault("-".join(row[key] for key in keys), row)
        return found

    return subjects


def only(table: "Rows", name: str, chosen: "Chosen" = lambda rows: rows) -> "Subjects":
    """Returns a single subject called `name`: the first chosen row of a table, if any."""
    return lambda tables: dict(zip([name], _rows(tables, table, chosen), strict=False))


def rows_with(table: str, other: str) -> "Rows":
    """Returns a function that selects all rows of a table, or no rows without the table `other`."""

    def rows(tables: "Tables") -> "pd.DataFrame":
        return tables[table] if other in tables else tables[table][:0]

    return rows


def _rows(tables: "Tables", table: "Rows", chosen: "Chosen") -> "list[Record]":
    from kneepoint.analysis.frames import records  # imports pandas

    rows = tables[table] if isinstance(table, str) else table(tables)
    return records(chosen(rows)) if len(rows) else []


def kind_of(figure: str) -> str | None:
    """Returns the kind of a figure: power-curve for power-curve-fixed_window-window-contest."""
    kinds = (kind for kind in PART_OF if f"{figure}-".startswith(f"{kind}-"))
    return max(kinds, key=len, default=None)
