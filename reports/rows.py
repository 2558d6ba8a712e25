"""Functions by which templates select and group rows of tables."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from kneepoint.analysis import labels
from kneepoint.analysis.frames import PARAMETER, Record, records
from kneepoint.analysis.labels import is_known
from kneepoint.analysis.metrics import METRICS
from kneepoint.common.units import unit_of
from kneepoint.reports.blocks import Column


def rows_of(frame: pd.DataFrame) -> list[Record]:
    """Returns the rows of a table; missing values are None, in columns of floats NaN."""
    return [
        {name: None if value is pd.NA else value for name, value in row.items()}
        for row in records(frame)
    ]


def where(rows: Iterable[Record], **wanted: Any) -> list[Record]:
    """Returns the rows with these values."""
    return [row for row in rows if all(row[name] == value for name, value in wanted.items())]


class _NoRow(Record):
    """An empty row, false as a condition, in which every value is missing."""

    def __missing__(self, name: str) -> float:
        return math.nan


def first_where(rows: Iterable[Record], **wanted: Any) -> Record:
    """Returns the first row with these values, or a row in which every value is missing."""
    return next(iter(where(rows, **wanted)), _NoRow())


def grouped_by(rows: Iterable[Record], *names: str) -> list[list[Record]]:
    """Groups rows by their values in these columns."""
    groups: dict[tuple[Any, ...], list[Record]] = {}
    for row in rows:
        groups.setdefault(tuple(row[name] for name in names), []).append(row)
    return list(groups.values())


def varied_parameters(rows: Sequence[Record], least: int = 2) -> list[str]:
    """Returns the parameters with at least `least` different values, in column order."""
    columns = [name for name in (rows[0] if rows else ()) if name.startswith(PARAMETER)]
    counts = {name: len({row[name] for row in rows if is_known(row[name])}) for name in columns}
    return [name.removeprefix(PARAMETER) for name, count in counts.items() if count >= least]


def where_or_missing(rows: Iterable[Record], **wanted: Any) -> list[Record]:
    """Returns the rows with these values or, if there are none, one row of missing values."""
    return where(rows, **wanted) or [_NoRow()]


def where_known(rows: Iterable[Record], name: str) -> list[Record]:
    """Returns the rows with a value in a column."""
    return [row for row in rows if is_known(row[name])]


def parameter_cells(row: Record, names: Iterable[str]) -> dict[Column, str]:
    """Returns the values of parameters in a row, by their columns."""
    return {
        Column(labels.sentence(name), unit_of(name)): labels.number(row[PARAMETER + name])
        for name in names
    }


def published_metrics(rows: Iterable[Record]) -> list[str]:
    """Returns the metrics with a published value in any row."""
    found = list(rows)
    return [name for name in METRICS if any(is_known(row[f"published_{name}"]) for row in found)]


FILTERS: Mapping[str, Any] = {
    each.__name__: each
    for each in (
        first_where,
        grouped_by,
        parameter_cells,
        published_metrics,
        varied_parameters,
        where,
        where_known,
        where_or_missing,
    )
}
