"""The throughput-delay plane of each network: settings, their Pareto front, and its knee.

A setting lies on the front if no other has more throughput with less delay (equals aside). The knee
is the point of greatest power on it (Kleinrock 1979).
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from kneepoint.analysis.metrics import (
    POWER,
    SIGNAL_DELAY,
    THROUGHPUT,
)
from kneepoint.analysis.statistics import succeeded

SPREAD = (THROUGHPUT, SIGNAL_DELAY)


def compute(runs: pd.DataFrame, trials: Sequence[int]) -> pd.DataFrame:
    """Where the runs of these settings that succeeded lie on each network, and the front there."""
    good = succeeded(runs[runs["trial"].isin(trials)])
    groups = good.groupby(["network", "trial"])
    points = groups[list(SPREAD)].mean()
    spreads = groups[list(SPREAD)].cov().unstack()
    points["throughput_variance"] = spreads[THROUGHPUT, THROUGHPUT]
    points["covariance"] = spreads[THROUGHPUT, SIGNAL_DELAY]
    points["delay_variance"] = spreads[SIGNAL_DELAY, SIGNAL_DELAY]
    points.insert(0, "succeeded", groups.size())
    points["succeeded_power"] = groups[POWER].mean()
    parts = []
    for _, plane in points.reset_index().groupby("network"):
        is_on_front = on_front(plane[THROUGHPUT], plane[SIGNAL_DELAY])
        power = plane["succeeded_power"].where(is_on_front)
        parts.append(plane.assign(on_front=is_on_front, knee=power == power.max()))
    return pd.concat(parts, ignore_index=True)


def on_front(throughput: "pd.Series[float]", delay: "pd.Series[float]") -> NDArray[np.bool_]:
    """Which points no other dominates: none is as good in both and better in one.

    Args:
        throughput: more is better, shape (n,).
        delay: less is better, shape (n,).
    """
    high, low = throughput.to_numpy(dtype=float), delay.to_numpy(dtype=float)
    as_good = (high[:, None] >= high) & (low[:, None] <= low)
    better = (high[:, None] > high) | (low[:, None] < low)
    return ~np.asarray((as_good & better).any(axis=0), dtype=bool)
