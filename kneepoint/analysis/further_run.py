"""Prediction intervals for one further run of a setting, or for a selected run.

Arrays have shape (draws, n): n runs as measured, or many resamples of them. Runs need not be
normally distributed: an interval covers both Student's t interval and the interval of order
statistics.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
from scipy.special import stdtrit

from kneepoint.analysis.metrics import METRICS, POWER
from kneepoint.config.published import TableDescription
from kneepoint.stats import Floats
from kneepoint.stats.intervals import t_quantile

LEVEL = 0.99
"""The probability with which a prediction interval covers a further run."""
MAX_SELECTED = 30
"""The assumed maximum number of runs from which a row was selected, if it is not stated."""


@dataclass(frozen=True)
class Selection:
    """Selection of a printed row: its power is the best or the worst of `least` to `most` runs."""

    extreme: Literal["best", "worst"]
    least: int = 2
    most: int = MAX_SELECTED

    @classmethod
    def of(cls, table: TableDescription) -> Self | None:
        """Returns the selection of a published table's rows, None without selection."""
        return cls(table.selected, *table.selected_of or ()) if table.selected else None


def figures(runs: Mapping[str, Floats], selection: Selection | None = None) -> dict[str, Floats]:
    """Returns the prediction of a further run for each metric.

    Args:
        runs: for each metric an array of shape (draws, n).
        selection: the selection of the compared run, if any.

    Returns:
        Arrays of shape (draws,): ours_<metric>, the mean or, with a selection, the expected value
        of the selected run; deviation_<metric>, the standard deviation; least_<metric> and
        greatest_<metric>; low_<metric> and high_<metric>, the prediction interval of a further (or
        selected) run with probability LEVEL, NaN for a single run.
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
    """Returns each run's probability of being selected, with a uniform prior on their number.

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
    """Returns the shares of runs below the two ends of a prediction interval.

    The greatest of k runs is below a value if all k runs are. Selection is by power; throughput and
    delay of the selected run may be at either extreme.
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
    """Returns the quantile of further runs: the more extreme of the two estimates.

    At the ends of the interval of one run, the estimate includes its own error (the factor of a
    prediction interval); at other quantiles, this error is added.
    """
    n = values.shape[1]
    t = math.copysign(stdtrit(n - 1, max(share, 1 - share)), share - 0.5)
    is_inner = (share > (1 - LEVEL) / 2) if is_low else (share < (1 + LEVEL) / 2)
    error = t_quantile(n - 1, LEVEL) / math.sqrt(n) if is_inner else 0.0
    far = t * math.sqrt(1 + 1 / n) + (-error if is_low else error)
    normal = values.mean(axis=1) + far * values.std(axis=1, ddof=1)
    seen = np.quantile(values, share, axis=1, method="lower" if is_low else "higher")
    outer: Floats = np.minimum(normal, seen) if is_low else np.maximum(normal, seen)
    return outer
