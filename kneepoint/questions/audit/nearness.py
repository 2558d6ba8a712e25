"""How close a published row is to our runs, given rounding and spread, and how certain that is.

Frames are those of `beside`. Arrays have the shape (draws, n): n runs as they were, or many draws
of them. Runs need not be normally distributed: an interval holds both that of Student's t and that
of the order statistics.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from kneepoint.analysis.metrics import METRICS, POWER, resolution
from kneepoint.analysis.statistics import succeeded
from kneepoint.config.published import TableDescription
from kneepoint.questions.audit.checks import CLOSE, logarithms
from kneepoint.runs.seeds import derive_seed
from kneepoint.stats import Floats

LEVEL = 0.99
"""The probability with which a prediction interval holds a further run."""
MOST_SELECTED = 30
"""Of how many runs a row was selected at most, where its report does not say."""
DRAWS = 200
"""The number of bootstrap draws of a row's runs that test whether its agreement is stable."""
OFF = "off"
_NORMAL = 1.959964
"""The 97.5th percentile of a normal distribution."""
WITHIN_SPREAD = "within our spread"
"""The verdict on a row that is off, but as near as one more run of ours may be."""


# What one more run may be ----------------------------------------------------------------------


@dataclass(frozen=True)
class Selection:
    """A row was printed because its power was the best or the worst of `least` to `most` runs."""

    extreme: Literal["best", "worst"]
    least: int = 2
    most: int = MOST_SELECTED

    @classmethod
    def of(cls, table: TableDescription) -> Self | None:
        """How a published table's rows were selected, if they were."""
        return cls(table.selected, *table.selected_of or ()) if table.selected else None


def figures(runs: Mapping[str, Floats], selection: Selection | None = None) -> dict[str, Floats]:
    """What the runs of a setting predict for each metric.

    Args:
        runs: for each metric an array of the shape (draws, n).
        selection: how the run to compare with was selected, if it was.

    Returns:
        Arrays of the shape (draws,): ours_<metric>, the mean or, with a selection, the expected
        value of the run selected; deviation_<metric>, the standard deviation; least_<metric> and
        greatest_<metric>; low_<metric> and high_<metric>, which hold one more run (or one selected)
        with probability LEVEL, NaN for a single run.
    """
    names = ("ours", "deviation", "least", "greatest", "low", "high")
    draws, n = runs[POWER].shape
    nothing = np.full(draws, math.nan)
    found = {f"{name}_{metric}": nothing for metric in runs for name in names}
    if n == 0:
        return found
    weights = _weights(runs[POWER], selection) if selection else np.full((draws, n), 1 / n)
    for metric, values in runs.items():
        found[f"ours_{metric}"] = (weights * values).sum(axis=1)
        found[f"least_{metric}"] = values.min(axis=1)
        found[f"greatest_{metric}"] = values.max(axis=1)
        if n > 1:
            (low, high), half = _shares(metric, selection), METRICS[metric].step / 2
            found[f"deviation_{metric}"] = values.std(axis=1, ddof=1)
            found[f"low_{metric}"] = (_outward(values, low, is_low=True) - half).clip(min=0)
            found[f"high_{metric}"] = _outward(values, high, is_low=False) + half
    return found


def _weights(power: Floats, selection: Selection) -> Floats:
    """The probability of each run to be the one selected, all numbers of runs being as likely.

    The best of k runs drawn from n is the i-th by power with probability (i/n)^k - ((i-1)/n)^k.
    """
    n = power.shape[1]
    places = np.arange(n + 1)[:, None] / n
    numbers = np.arange(selection.least, selection.most + 1)
    of_rank = np.diff(places**numbers, axis=0).mean(axis=1)
    ranks = power.argsort(axis=1, kind="stable").argsort(axis=1, kind="stable")
    chosen: Floats = of_rank[ranks if selection.extreme == "best" else n - 1 - ranks]
    return chosen


def _shares(metric: str, selection: Selection | None) -> tuple[float, float]:
    """The shares of all runs that are below the two ends of an interval.

    The greatest of k runs is below a value if all k are. Selection is by power; throughput and
    delay of the run selected may be either extreme.
    """
    tail = (1 - LEVEL) / 2
    if selection is None:
        return tail, 1 - tail
    low, high = 1 - (1 - tail) ** (1 / selection.most), (1 - tail) ** (1 / selection.most)
    if metric == POWER and selection.extreme == "best":
        low = tail ** (1 / selection.least)
    elif metric == POWER:
        high = 1 - tail ** (1 / selection.least)
    return low, high


def _outward(values: Floats, share: float, is_low: bool) -> Floats:
    """Where that share of further runs lies below, as far outward as either estimate puts it.

    At the ends of the interval of one run the estimate has its own error in it already (the factor
    of a prediction interval); further in, that is added.
    """
    n = values.shape[1]
    t = math.copysign(stdtrit(n - 1, max(share, 1 - share)), share - 0.5)
    is_inner = (share > (1 - LEVEL) / 2) if is_low else (share < (1 + LEVEL) / 2)
    error = stdtrit(n - 1, (1 + LEVEL) / 2) / math.sqrt(n) if is_inner else 0.0
    far = t * math.sqrt(1 + 1 / n) + (-error if is_low else error)
    normal = values.mean(axis=1) + far * values.std(axis=1, ddof=1)
    seen = np.quantile(values, share, axis=1, method="lower" if is_low else "higher")
    outer: Floats = np.minimum(normal, seen) if is_low else np.maximum(normal, seen)
    return outer


# How near a row is --------------------------------------------------------------------------------


def nearness(rows: pd.DataFrame) -> "pd.Series[str]":
    """`agreements`, with WITHIN_SPREAD for what is off and explained by our spread."""
    rows = _with_ranges(rows)
    found = agreements(rows)
    is_off = found == OFF
    is_explained = is_within(rows[is_off], "low", "high").reindex(rows.index, fill_value=False)
    return found.mask(is_explained, WITHIN_SPREAD)


def agreements(rows: pd.DataFrame) -> "pd.Series[str]":
    """How close each row is to ours: reproduced, close, off; empty where nothing can be compared.

    The distance is that of the nearest number that could have been printed as this one.
    """
    rows, judged = _with_ranges(rows), _judged(rows)
    texts = pd.Series("", index=rows.index, dtype=object)
    texts[judged.any(axis="columns")] = OFF
    exact = {metric: METRICS[metric].relative for metric in METRICS}
    for text, tolerances in (("close", CLOSE), ("reproduced", exact)):
        within = pd.DataFrame({m: _is_near(rows, m, tolerances[m]) for m in METRICS})
        texts[judged.any(axis="columns") & (within | ~judged).all(axis="columns")] = text
    return texts


def is_within(rows: pd.DataFrame, low: str, high: str) -> "pd.Series[bool]":
    """Whether each number that is not close lies in the interval of one more run (two columns)."""
    rows, judged = _with_ranges(rows), _judged(rows)
    held = {}
    for metric in METRICS:
        is_inside = rows[f"{low}_{metric}"] <= rows[f"printed_high_{metric}"]
        is_inside &= rows[f"printed_low_{metric}"] <= rows[f"{high}_{metric}"]
        held[metric] = is_inside | _is_near(rows, metric, CLOSE[metric])
    return judged.any(axis="columns") & (pd.DataFrame(held) | ~judged).all(axis="columns")


def not_close(rows: pd.DataFrame) -> list[str]:
    """The metrics that count and are not close in any of the rows."""
    rows, judged = _with_ranges(rows), _judged(rows)
    return [m for m in METRICS if (judged[m] & ~_is_near(rows, m, CLOSE[m])).all()]


def _with_ranges(rows: pd.DataFrame) -> pd.DataFrame:
    """The rows with columns printed_low_<metric> and printed_high_<metric>.

    Between these lies the number behind the printed one, which was rounded or truncated.
    """
    if f"printed_low_{POWER}" in rows:
        return rows
    tables = [table for _, table in rows.groupby("table", sort=False)]
    found = {}
    for metric in METRICS:
        published = rows[f"published_{metric}"]
        steps = [resolution(table, metric) for table in tables]
        step = pd.concat(steps).reindex(rows.index).fillna(0.0) if steps else published
        found[f"printed_low_{metric}"] = published - step / 2
        found[f"printed_high_{metric}"] = published + step
    return rows.assign(**found)


def sureness(
    rows: pd.DataFrame, runs: pd.DataFrame, selection: Selection | None = None
) -> "pd.Series[float]":
    """The share of draws of our runs that leave each row's agreement the same.

    Of n runs n - 1 are drawn with replacement (Rao and Wu 1988), and means spread as wide as those
    of a t distribution (Hesterberg 2015). NaN for less than two runs.

    Args:
        rows: of one table, numbered from 0.
        runs: those from which `beside.beside` made them.
        selection: how the table's rows were selected from many runs.
    """
    rows = _with_ranges(rows)
    own = succeeded(on_own_host(runs))
    parts = []
    for label, constants in enumerate(rows["constants"]):
        of_row = own[(own["constants"] == constants) & (own["network"] == rows["network"][label])]
        if len(of_row) < 2:
            continue
        places = _places(len(of_row))
        drawn = {metric: of_row[metric].to_numpy(dtype=float)[places] for metric in METRICS}
        found = figures(drawn, selection)
        wider = stdtrit(len(of_row) - 1, 0.975) / _NORMAL
        for metric in METRICS:
            ours = float(rows[f"ours_{metric}"][label])
            found[f"ours_{metric}"] = ours + wider * (found[f"ours_{metric}"] - ours)
        parts.append(pd.DataFrame(found).assign(label=label))
    if not parts:
        return pd.Series(math.nan, index=rows.index)
    draws = pd.concat(parts, ignore_index=True)
    printed = [name for name in rows if str(name).startswith(("published_", "printed_"))]
    kept = rows.loc[draws["label"], printed]
    draws = pd.concat([kept.reset_index(drop=True), draws], axis="columns")
    for metric in METRICS:
        draws[f"difference_{metric}"] = draws[f"ours_{metric}"] - draws[f"published_{metric}"]
    is_same = nearness(draws) == nearness(rows).loc[draws["label"]].to_numpy()
    return is_same.astype(float).groupby(draws["label"]).mean().reindex(rows.index)


def _places(n: int) -> "np.ndarray[tuple[int, int], np.dtype[np.int64]]":
    random = np.random.Generator(np.random.PCG64(derive_seed("sureness", n)))
    return random.integers(0, n, (DRAWS, n - 1))


def _judged(rows: pd.DataFrame) -> pd.DataFrame:
    """Which numbers count: those printed that our runs have, power if it is alone."""
    published, ours = logarithms(rows, "published"), logarithms(rows, "ours")
    return pd.DataFrame({m: published[m].notna() & ours[m].notna() for m in METRICS})


def _is_near(rows: pd.DataFrame, metric: str, tolerance: float) -> "pd.Series[bool]":
    ours = rows[f"ours_{metric}"]
    away = (ours - ours.clip(rows[f"printed_low_{metric}"], rows[f"printed_high_{metric}"])).abs()
    is_near = away <= tolerance * rows[f"published_{metric}"]
    return is_near | (rows[f"difference_{metric}"].abs() <= METRICS[metric].absolute)


def on_own_host(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs on the host that their network has."""
    return runs[runs["host"].isna() | (runs["host"] == "")] if "host" in runs else runs
