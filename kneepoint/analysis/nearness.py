"""How close a published row is to our runs, given rounding and spread, and how certain that is.

Frames are those of `statistics.beside`.
"""

import math

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from kneepoint.analysis.checks import (
    CLOSE,
    logarithms,
    resolution,
)
from kneepoint.analysis.metrics import METRICS, POWER
from kneepoint.analysis.schema import WITHIN_SPREAD
from kneepoint.analysis.spread import Selection, figures
from kneepoint.analysis.statistics import on_own_host, succeeded
from kneepoint.runs.seeds import derive_seed

DRAWS = 200
"""The number of bootstrap draws of a row's runs that test whether its agreement is stable."""
OFF = "off"
_NORMAL = 1.959964
"""The 97.5th percentile of a normal distribution."""


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
        runs: those from which `statistics.beside` made them.
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
