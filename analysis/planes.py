"""The throughput-delay plane of each network: settings, their Pareto front, and its knee.

A setting lies on the front if no other has more throughput with less delay (equals aside). The knee
is the point of greatest power on it (Kleinrock 1979).
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from analysis.frames import Record, select
from analysis.held_out import distinct_settings
from analysis.metrics import POWER, SIGNAL_DELAY, THROUGHPUT
from analysis.results import HeldOutRuns
from analysis.statistics import succeeded

SPREAD = (THROUGHPUT, SIGNAL_DELAY)


def compute(found: HeldOutRuns) -> pd.DataFrame:
    """The table planes."""
    settings = distinct_settings(found.settings)
    best = settings.loc[settings["best"], ["trial", "controller", "origin"]]
    runs = succeeded(found.runs)
    runs = runs[runs["trial"].isin(best["trial"])]
    planes = []
    for network in found.networks["network"]:
        points = pd.DataFrame(
            [{"trial": t, **_point(of)} for t, of in select(runs, network=network).groupby("trial")]
        )
        if points.empty:
            continue
        plane = best.merge(points, on="trial")
        plane["on_front"] = on_front(plane[THROUGHPUT], plane[SIGNAL_DELAY])
        power = plane[POWER].where(plane["on_front"])
        planes.append(plane.assign(network=network, knee=power == power.max()))
    return pd.concat(planes, ignore_index=True) if planes else pd.DataFrame()


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


def _point(runs: pd.DataFrame) -> Record:
    """The mean and covariance of a setting's runs; one run has no covariance."""
    means = {name: float(runs[name].mean()) for name in (*SPREAD, POWER)}
    return {"n": len(runs), **means, **_covariance(runs, SPREAD)}


def _covariance(runs: pd.DataFrame, of: Sequence[str]) -> Record:
    nothing = np.full((len(of), len(of)), np.nan)
    spread = runs[list(of)].cov().to_numpy() if len(runs) > 1 else nothing
    names = ("throughput_variance", "covariance", "delay_variance")
    return dict(zip(names, (spread[0, 0], spread[0, 1], spread[1, 1]), strict=True))
