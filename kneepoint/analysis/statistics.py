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
from numpy.typing import NDArray

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


def on_front(throughput: "pd.Series[float]", delay: "pd.Series[float]") -> NDArray[np.bool_]:
    """Which points lie on the Pareto front: none is as good in both and better in one.

    Args:
        throughput: more is better, shape (n,).
        delay: less is better, shape (n,).
    """
    high, low = throughput.to_numpy(dtype=float), delay.to_numpy(dtype=float)
    as_good = (high[:, None] >= high) & (low[:, None] <= low)
    better = (high[:, None] > high) | (low[:, None] < low)
    return ~np.asarray((as_good & better).any(axis=0), dtype=bool)
