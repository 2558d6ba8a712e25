"""Statistics of runs: DataFrame in, DataFrame out; nothing here reads a file or draws.

A frame of runs has the columns of the results schema and, for each constant, one column
`constant_<name>`. Runs whose controller failed have status "failed", those that the machine kept
from ending "fault" (only a probe has such); neither counts in anything but the table exclusions.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kneepoint.analysis.metrics import POWER
from kneepoint.stats import intervals
from kneepoint.stats.intervals import Chance


def succeeded(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs that measured something."""
    return runs[runs["status"] == "ok"]


def counted(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs with power 0 where the controller failed."""
    return runs.assign(**{POWER: runs[POWER].mask(runs["status"] == "failed", 0.0)})


def spreads(values: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """The spread of the column value for each group: columns `by` and intervals.SPREAD.

    Groups come in order of appearance; `by` names columns that have no missing value.
    """
    rows = [
        {**dict(zip(by, key, strict=True)), **intervals.spread(group)}
        for key, group in values.groupby(list(by), sort=False)["value"]
    ]
    return pd.DataFrame(rows, columns=[*by, *intervals.SPREAD]).astype({"n": int})


def chance(runs: pd.DataFrame, by: Sequence[str]) -> Chance:
    """The variation of power within groups of runs that differ in their seed only, pooled."""
    groups = succeeded(runs).groupby(list(by))[POWER]
    free, cv = groups.size() - 1, groups.std() / groups.mean()
    degrees = int(free.sum())
    if degrees == 0:
        return Chance()
    return Chance(math.sqrt(float((free * cv**2).sum()) / degrees), degrees)


# Searches -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Best:
    """The best row of a table, the mean of `runs` runs, and what cannot be told from it.

    `half_width` is that of its 95 % interval, relative; `margin` the relative difference that
    chance explains between it and another row of as many runs; `ties` are the labels of the rows
    that chance may have kept below it. With nothing known of chance the first two are NaN and
    there are no ties, and a reader has to be told that.
    """

    label: int
    value: float
    runs: int
    half_width: float
    margin: float
    ties: tuple[int, ...]


def best(
    values: "pd.Series[float]", runs: "pd.Series[int]", luck: Chance, label: int | None = None
) -> Best | None:
    """The greatest of `values` (the first of equals) and its ties; None where all are NaN.

    With a label that row is the best, whatever the others have.
    """
    known = values.dropna()
    if known.empty:
        return None
    if label is None or label not in known.index:
        label = int(known.index[int(np.argmax(known.to_numpy()))])
    greatest, n = float(known[label]), int(runs[label])
    allowed = runs[known.index].map(lambda other: luck.margin(n, other) * abs(greatest))
    near = known[known >= greatest - allowed]  # none where the margin is NaN
    ties = tuple(int(i) for i in near.index if i != label)
    return Best(label, greatest, n, luck.margin(n, math.inf), luck.margin(n, n), ties)


def history(trials: pd.DataFrame, minimised: bool = False) -> pd.DataFrame:
    """The search as it went: columns trial, value, failed, best_so_far, improved (on that before).

    A trial failed if a run of it did; if the machine was at fault, it has no value either.
    """
    table = trials[["trial", "value", "reason"]].sort_values("trial", ignore_index=True)
    table["failed"] = table["value"].isna() | (table.pop("reason") != "")
    values = table["value"]
    table["best_so_far"] = (values.cummin() if minimised else values.cummax()).ffill()
    table["improved"] = (values == table["best_so_far"]) & ~table["best_so_far"].duplicated()
    return table


def grid(table: pd.DataFrame, x: str, y: str, value: str) -> pd.DataFrame:
    """The mean of `value` with y down and x across, both ascending."""
    return table.pivot_table(index=y, columns=x, values=value, aggfunc="mean").sort_index()


def effect(runs: pd.DataFrame, column: str, by: Sequence[str]) -> pd.DataFrame:
    """The effect of one constant: power at each value, relative to the mean of those alike."""
    power = runs.groupby([*by, column])[POWER].mean()
    relative = power / power.groupby(list(by)).transform("mean") - 1
    return relative.groupby(column).mean().rename_axis("value").rename("relative").reset_index()
