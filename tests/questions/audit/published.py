"""The published tables without errors, with made-up chance and replay: nothing is emulated."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from kneepoint.analysis.frames import STEP
from kneepoint.analysis.further_run import figures
from kneepoint.analysis.metrics import METRICS, POWER, SIGNAL_DELAY, THROUGHPUT, resolution
from kneepoint.analysis.results import published_frame
from kneepoint.config.published import load_table
from kneepoint.questions.audit.beside import LIMITS

CONFIG = Path("config/config.yaml")

# The replay of the rows that cannot be right: throughput, signal delay.
RIGHT: Mapping[tuple[str, int], tuple[float, float]] = {
    ("001-aimd", 6): (2.71, 213),
    ("001-delay-threshold", 2): (4.32, 190),
    ("001-delay-threshold", 4): (4.46, 238),
    ("001-delay-threshold", 11): (4.85, 338),
}
REPEATS = "004-fixed-window-repeats"
RAN: dict[str, Any] = {
    "runs": 5,
    "settings": 1,
    "nearest": "",
    "failed": 0,
    "failure": "",
    "sure": 1.0,
    **dict.fromkeys(LIMITS, 0.0),
}
"""Columns of `beside` and of the audit for rows that all ran."""


@cache
def printed() -> pd.DataFrame:
    """Returns every row of the tables of reports, as printed."""
    paths = sorted((CONFIG.parent / "published").glob("0*.yaml"))
    return published_frame(load_table(CONFIG, path.stem) for path in paths)


@cache
def truth() -> pd.DataFrame:
    """Returns the rows that print a number, with the means of a long measurement."""
    rows = printed()
    rows = rows[rows["replayable"] & (rows["table"] != REPEATS)]
    rows = rows.reindex(columns=[*rows.columns, *(m for m in METRICS if m not in rows)])
    rows = rows.dropna(subset=list(METRICS), how="all").reset_index(drop=True)
    for (table, number), (throughput, delay) in RIGHT.items():
        there = (rows["table"] == table) & (rows["row"] == number)
        rows.loc[there, [THROUGHPUT, SIGNAL_DELAY]] = throughput, delay
    follows = 1e3 * rows[THROUGHPUT] / rows[SIGNAL_DELAY]
    rows[POWER] = follows.fillna(rows[POWER])
    for metric in METRICS:  # dropped zeros count as digits
        shown = rows.rename(columns={metric: f"published_{metric}"}).groupby("table", sort=False)
        rows[STEP + metric] = pd.concat([resolution(table, metric) for _, table in shown])
    return rows


@cache
def honest(seed: int, mismatch: float = 0.015) -> pd.DataFrame:
    """Returns rows of `beside` without errors; a test that changes rows copies them.

    A published number is from one run, rounded as printed; ours is a mean of five runs. In each
    row, the replay differs from the truth by a relative error with the standard deviation
    `mismatch`.
    """
    random = np.random.default_rng(seed)
    rows = truth().copy()
    true = {metric: rows[metric].to_numpy(dtype=float) for metric in METRICS}
    shape = (RAN["runs"] + 1, len(rows))
    drawn = {}
    for metric in METRICS:
        chance = 0.003 if metric == THROUGHPUT else 0.01
        drawn[metric] = true[metric] * (1 + chance * random.standard_normal(shape))
    for metric in METRICS:
        drawn[metric][1:] *= 1 + mismatch * random.standard_normal(len(rows))
    has_both = ~np.isnan(true[THROUGHPUT]) & ~np.isnan(true[SIGNAL_DELAY])
    follows = 1e3 * drawn[THROUGHPUT] / drawn[SIGNAL_DELAY]
    drawn[POWER] = np.where(has_both, follows, drawn[POWER])
    for metric in METRICS:
        step = rows[STEP + metric]
        published = (drawn[metric][0] / step).round() * step
        rows[f"published_{metric}"] = published
        rows[[f"host_low_{metric}", f"host_high_{metric}"]] = np.nan
    ours = figures({metric: drawn[metric][1:].T for metric in METRICS})
    rows = rows.drop(columns=list(METRICS)).join(pd.DataFrame(ours))
    return compared(rows.assign(**RAN))


def compared(rows: pd.DataFrame) -> pd.DataFrame:
    """Returns the rows with the differences between published and our numbers."""
    rows = rows.copy()
    for metric in METRICS:
        ours, published = rows[f"ours_{metric}"], rows[f"published_{metric}"]
        rows[f"difference_{metric}"] = ours - published
        rows[f"relative_{metric}"] = ours / published - 1
    return rows


def planted(rows: pd.DataFrame, label: int, **published: float) -> pd.DataFrame:
    """Returns the rows with other published numbers in one row."""
    rows = rows.copy()
    for metric, value in published.items():
        rows.loc[label, f"published_{metric}"] = value
    return compared(rows)
