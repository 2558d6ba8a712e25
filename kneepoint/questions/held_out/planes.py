"""The throughput-delay plane of each network: settings, their Pareto front, and its knee.

The knee is the point of greatest power on the front (Kleinrock 1979).
"""

from collections.abc import Sequence

import pandas as pd

from kneepoint.analysis.metrics import (
    POWER,
    SIGNAL_DELAY,
    THROUGHPUT,
)
from kneepoint.analysis.statistics import on_front, succeeded

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
