"""Declaration of tables with columns in a compact text form."""

from collections.abc import Callable, Iterator
from itertools import chain
from typing import get_args

import pandas as pd

from kneepoint.analysis import labels
from kneepoint.analysis.metrics import METRICS, POWER
from kneepoint.common.tables import Column, ColumnType, Table

_RATIOS = ("relative_", "median_", "worst_", "log_")


def table(
    name: str,
    meaning: str,
    *columns: str | Column,
    exported: Callable[[pd.DataFrame], pd.DataFrame] | None = None,
) -> Table:
    """Returns a table whose columns are given in order, as objects or in texts.

    In a text, `name` has real numbers in the unit of its suffix, `name:text` text, `name:whole`
    whole numbers (see ColumnType), `name:Mbit/s/s` real numbers in this unit; `name?` may lack
    values, and `<metric>` stands for every metric.
    """
    named = [[each] if isinstance(each, Column) else _columns(each) for each in columns]
    return Table(name, meaning, tuple(chain.from_iterable(named)), exported)


def _columns(names: str) -> Iterator[Column]:
    for word in names.split():
        name, _, given = word.removesuffix("?").partition(":")
        kind: ColumnType = next((kind for kind in get_args(ColumnType) if kind == given), "real")
        unit = given if given != kind else ""
        for each in dict.fromkeys(name.replace("<metric>", metric) for metric in METRICS):
            yield Column(each, kind, unit or _unit(each), optional=word.endswith("?"))


def _unit(name: str) -> str:
    """Returns the unit by the suffix of a column's name; ratios have none."""
    if name.startswith(_RATIOS):
        return ""
    return METRICS[POWER].unit if name.endswith(POWER) else labels.unit(name).replace("µ", "u")
