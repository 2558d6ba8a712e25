"""Statistics of runs, from frames to frames, without reading files or drawing.

A frame of runs has the columns of the results schema and a column `parameter_<name>` for each
parameter. A run has status "failed" if its controller failed, and "fault" if the machine prevented
it from finishing (only in a probe); both count only in the table exclusions.
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
    """Returns the successful runs."""
    return runs[runs["status"] == "ok"]


def counted(runs: pd.DataFrame) -> pd.DataFrame:
    """Returns the runs, with power 0 for failed runs."""
    return runs.assign(**{POWER: runs[POWER].mask(runs["status"] == "failed", 0.0)})


def spreads(values: pd.DataFrame, by: Sequence[str]) -> pd.DataFrame:
    """Returns the spread of the column value in each group: columns `by` and intervals.SPREAD.

    Groups come in order of appearance; `by` names columns that have no missing value.
    """
    rows = [
        {**dict(zip(by, key, strict=True)), **intervals.spread(group)}
        for key, group in values.groupby(list(by), sort=False)["value"]
    ]
    return pd.DataFrame(rows, columns=[*by, *intervals.SPREAD]).astype({"n": int})


def chance(runs: pd.DataFrame, by: Sequence[str]) -> Chance:
    """Returns the pooled variation of power in groups of runs that differ only in their seeds."""
    groups = succeeded(runs).groupby(list(by))[POWER]
    free, cv = groups.size() - 1, groups.std() / groups.mean()
    degrees = int(free.sum())
    if degrees == 0:
        return Chance()
    return Chance(math.sqrt(float((free * cv**2).sum()) / degrees), degrees)


# Searches -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Best:
    """The best row of a table, a mean over `runs` runs, and the rows indistinguishable from it.

    `half_width` is half the width of its 95 % interval, relative; `margin` is the relative
    difference that chance explains between two rows of as many runs; `ties` are the labels of rows
    within the margin. If the variation is unknown, both are NaN and `ties` is empty; a report must
    state this.
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
    """Returns the greatest of `values` (of equal values, the first) and its ties; None if all NaN.

    If `label` is given, its row is taken as the best.
    """
    known = values.dropna()
    if known.empty:
        return None
    if label is None or label not in known.index:
        label = int(known.index[int(np.argmax(known.to_numpy()))])
    greatest, n = float(known[label]), int(runs[label])
    allowed = runs[known.index].map(lambda other: luck.margin(n, other) * abs(greatest))
    near = known[known >= greatest - allowed]  # empty if the margin is NaN
    ties = tuple(int(i) for i in near.index if i != label)
    return Best(label, greatest, n, luck.margin(n, math.inf), luck.margin(n, n), ties)


def on_front(throughput: "pd.Series[float]", delay: "pd.Series[float]") -> NDArray[np.bool_]:
    """Returns which points lie on the Pareto front: no other point dominates them.

    Args:
        throughput: more is better, shape (n,).
        delay: less is better, shape (n,).
    """
    high, low = throughput.to_numpy(dtype=float), delay.to_numpy(dtype=float)
    as_good = (high[:, None] >= high) & (low[:, None] <= low)
    better = (high[:, None] > high) | (low[:, None] < low)
    return ~np.asarray((as_good & better).any(axis=0), dtype=bool)
