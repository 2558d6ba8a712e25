"""Statistics of runs: DataFrame in, DataFrame out; nothing here reads a file or draws.

A frame of runs has the columns of the results schema and, for each constant, one column
`constant_<name>`. Runs whose controller failed have status "failed", those that the machine kept
from ending "fault" (only a probe has such); neither counts in anything but the table exclusions.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from kneepoint.analysis import labels
from kneepoint.analysis.frames import CONSTANT, Record
from kneepoint.analysis.metrics import METRICS, POWER
from kneepoint.analysis.results import StudyRuns
from kneepoint.analysis.spread import (
    Floats,
    Selection,
    figures,
)
from kneepoint.common.json_text import parse_json
from kneepoint.engines.base import SHARES
from kneepoint.stats.intervals import Chance


def succeeded(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs that measured something."""
    return runs[runs["status"] == "ok"]


def counted(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs with power 0 where the controller failed."""
    return runs.assign(**{POWER: runs[POWER].mask(runs["status"] == "failed", 0.0)})


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


# Published tables -----------------------------------------------------------------------------


def beside(
    published: pd.DataFrame,
    runs: pd.DataFrame,
    selection: Selection | None = None,
) -> pd.DataFrame:
    """Each published row with our runs of its controller, network and constants.

    Where runs of several settings match a row, which leaves a constant open, it is compared with
    the nearest of them.

    Args:
        published: rows of `Results.published`; one that is not replayable is like no run.
        runs: see `runs_of`. A column host, if there is one, is not "" for runs on another host than
            the network's.
        selection: how the rows were selected from many runs.

    Returns:
        For each row columns of the table audit: its own, with the metrics as published_<metric>,
        those of `spread.figures`, an interval that holds those of all hosts (NaN without another
        host), the differences, and what ran; `failed` counts further runs, which measured nothing.
    """
    return pd.DataFrame(
        [_compared(line, _matching(line, runs), selection) for _, line in published.iterrows()]
    )


def runs_of(
    table: str, network: str, studies: Iterable[StudyRuns], added: pd.DataFrame
) -> pd.DataFrame:
    """The runs that a published table, which some study compares, is compared with on a network.

    What the table leaves open has the values of the study that replays it, without one those of
    the studies that compare themselves with it. Other studies' runs and added ones count only if
    they have the same constants: they may be of another table, which varies what this leaves open.
    """
    compared = [study for study in studies if table in study.compare and not study.config.fit]
    here = [study for study in compared if network in study.config.networks]
    replays = [study for study in here if study.config.table == table] or here
    constants = {each for study in replays for each in study.runs["constants"]}
    runs = pd.concat([*(study.runs for study in compared), added], ignore_index=True)
    return runs[(runs["network"] == network) & runs["constants"].isin(constants)]


def _matching(line: "pd.Series[Any]", runs: pd.DataFrame) -> pd.DataFrame:
    """The runs that have what a published row states, on any host."""
    match = np.full(len(runs), bool(line["replayable"]))
    for name, value in line.items():
        if name in ("controller", "network"):
            match &= (runs[name] == value).to_numpy()
        elif str(name).startswith(CONSTANT) and pd.notna(value):
            constant = runs[name] if name in runs else pd.Series(math.nan, runs.index)
            match &= np.isclose(constant.to_numpy(dtype=float), float(value), rtol=1e-9)
    found: pd.DataFrame = runs[match]
    return found


def _nearest(line: "pd.Series[Any]", runs: pd.DataFrame) -> str:
    """The constants of the setting whose means are nearest to the numbers of a row; "" for none."""
    if runs["constants"].nunique() < 2:
        return "" if runs.empty else str(runs["constants"].iloc[0])
    means = runs.groupby("constants", sort=False)[list(METRICS)].mean()
    printed = pd.Series({metric: line.get(metric, math.nan) for metric in METRICS}, dtype=float)
    if printed.drop(POWER).notna().any():  # power follows from the others
        printed[POWER] = math.nan
    off = pd.DataFrame(np.log(means / printed)).abs().max(axis="columns")
    return str(off.idxmin() if off.notna().any() else means.index[0])


def on_own_host(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs on the host that their network has."""
    return runs[runs["host"].isna() | (runs["host"] == "")] if "host" in runs else runs


def _compared(line: "pd.Series[Any]", runs: pd.DataFrame, selection: Selection | None) -> Record:
    own = on_own_host(runs)
    failed = own.loc[own["status"] != "ok", "reason"]
    measured = succeeded(own)
    settings = measured["constants"].drop_duplicates()
    constants = _nearest(line, measured)
    ours = measured[measured["constants"] == constants]
    elsewhere = runs.drop(own.index)
    row: Record = {str(k): v for k, v in line.items() if k not in METRICS}
    row |= {name: float(value[0]) for name, value in figures(_one_draw(ours), selection).items()}
    row |= _over_hosts(row, elsewhere[elsewhere["constants"] == constants], selection)
    for metric in METRICS:
        published = float(line.get(metric, math.nan))
        row[f"published_{metric}"] = published
        row[f"difference_{metric}"] = row[f"ours_{metric}"] - published
        row[f"relative_{metric}"] = row[f"ours_{metric}"] / published - 1
    row |= {"runs": len(ours), "constants": constants, "settings": len(settings)}
    row |= shares(ours)
    row["nearest"] = ""
    if len(settings) > 1:
        differing = labels.differing(parse_json(constants), map(parse_json, settings))
        row["nearest"] = labels.constants(differing)
    row["failed"] = len(failed)
    row["failure"] = str(failed.iloc[0]) if len(failed) else ""
    return row


def shares(runs: pd.DataFrame) -> dict[str, float]:
    """The loss of runs, in queues, among all their packets, and the means of SHARES; NaN: unknown.

    What links lose at random, as their description says, is no loss here.
    """
    sent, dropped = runs[["packets_sent", "packets_dropped"]].dropna().sum()
    loss = float(dropped / sent) if sent else math.nan
    return {"loss": loss, **{name: float(runs[name].mean()) for name in SHARES}}


def _one_draw(runs: pd.DataFrame) -> dict[str, Floats]:
    return {metric: runs[metric].to_numpy(dtype=float)[None, :] for metric in METRICS}


def _over_hosts(
    row: Mapping[str, Any], elsewhere: pd.DataFrame, selection: Selection | None
) -> dict[str, float]:
    """The interval of each metric that holds those of the network's host and of all others."""
    good, found = succeeded(elsewhere), {}
    hosts = [each for _, each in good.groupby("host")] if len(good) else []
    for_each = [figures(_one_draw(each), selection) for each in hosts]
    for end, outermost in (("low", min), ("high", max)):
        for name in (f"{end}_{metric}" for metric in METRICS):
            ends = [row[name], *(float(each[name][0]) for each in for_each)]
            found[f"host_{name}"] = outermost(ends) if for_each else math.nan
    return found
