"""How well a published table pins down constants that were fitted to it: DataFrame in and out.

The uncertainty is a bootstrap over the table's rows (Efron, Annals of Statistics 7, 1979): had the
report printed another draw of such rows, which trial would have explained it best? A constant that
every draw puts in the same place is pinned down by the table; one that goes anywhere is left free.
"""

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd

from reports.collect import Searched
from reports.frames import Record, records
from reports.metrics import METRICS, POWER
from reports.statistics import CONSTANT, succeeded
from search.objective import FIT_METRICS, loss_of

DRAWS = 1000
PINNED = 0.15
"""An interval below this share of the searched range is pinned down."""
FREE = 0.5
"""One above this share is left free; one between the two is narrowed."""


def row_losses(runs: pd.DataFrame, published: pd.DataFrame, robust: bool) -> pd.DataFrame:
    """What each published row adds to each trial's misfit.

    Args:
        runs: the runs of a fit, with columns trial, row and the metrics.
        published: the fitted rows, with columns row and the metrics (NaN: not printed).
        robust: which loss; see `search.objective.score_fit`.

    Returns:
        One row a trial, one column a published row: the mean loss of the figures that it prints.
    """
    means = succeeded(runs).groupby(["trial", "row"])[list(METRICS)].mean()
    columns = {}
    for row in records(published):
        ours = means.xs(row["row"], level="row").reindex(runs["trial"].unique())
        parts = [
            _losses(ours[metric], float(row[metric]), robust) for metric in _fitted_metrics(row)
        ]
        columns[row["row"]] = pd.concat(parts, axis=1).mean(axis=1)
    return pd.DataFrame(columns).rename_axis("trial")


def _fitted_metrics(row: Record) -> list[str]:
    """The figures of a row that count: power only where it prints no other."""
    direct = [metric for metric in FIT_METRICS if not math.isnan(row.get(metric, math.nan))]
    return direct or [POWER]


def _losses(ours: "pd.Series[float]", published: float, robust: bool) -> "pd.Series[float]":
    errors = np.abs(np.log(ours.astype(float) / published))
    values = [loss_of(None if math.isnan(error) else float(error), robust) for error in errors]
    return pd.Series(values, index=ours.index)


def best_of_draws(losses: pd.DataFrame, seed: int) -> "pd.Series[int]":
    """The best trial for each of DRAWS draws, with replacement, of the rows."""
    table = losses.to_numpy(dtype=float)
    random = np.random.Generator(np.random.PCG64(seed))
    draws = random.integers(table.shape[1], size=(DRAWS, table.shape[1]))
    counts = np.apply_along_axis(np.bincount, 1, draws, minlength=table.shape[1])
    return pd.Series(losses.index.to_numpy()[np.argmin(table @ counts.T, axis=0)])


def recovered(
    trials: pd.DataFrame, losses: pd.DataFrame, searched: Sequence[Searched], seed: int
) -> pd.DataFrame:
    """Each searched constant's best value and how far the table pins it down.

    Returns:
        Columns constant, best, low, high (95 % of the draws; NaN for a table of one row, from
        which nothing can be drawn), share (of the searched range, on its scale), verdict.
    """
    place = int(np.argmin(losses.mean(axis=1).to_numpy(dtype=float)))
    drawn = best_of_draws(losses, seed) if losses.shape[1] > 1 else pd.Series(dtype=int)
    lines = []
    for constant in searched:
        by_trial = trials.set_index("trial")[CONSTANT + constant.name].astype(float)
        values = by_trial.reindex(drawn).to_numpy()
        low, high = np.quantile(values, [0.025, 0.975]) if len(values) else (math.nan, math.nan)
        share = _share(constant, float(low), float(high))
        lines.append(
            {
                "constant": constant.name,
                "best": float(by_trial[losses.index[place]]),
                "low": float(low),
                "high": float(high),
                "share": share,
                "verdict": _verdict(share),
            }
        )
    return pd.DataFrame(lines)


def _share(constant: Searched, low: float, high: float) -> float:
    scale = math.log if constant.logarithmic else float
    if math.isnan(low):
        return math.nan
    return (scale(high) - scale(low)) / (scale(constant.high) - scale(constant.low))


def _verdict(share: float) -> str:
    if math.isnan(share):
        return "one row cannot tell"
    if share <= PINNED:
        return "pinned down"
    return "left free" if share > FREE else "narrowed"


def disagreement(runs: pd.DataFrame, published: pd.DataFrame, trial: int) -> pd.DataFrame:
    """Each fitted row beside the means of one trial.

    Returns:
        The columns of `published`, and for each metric ours_<metric> and relative_<metric> (ours
        over published, less one; NaN where it is not printed).
    """
    of_trial = succeeded(runs[runs["trial"] == trial])
    ours = of_trial.groupby("row")[list(METRICS)].mean().reindex(published["row"])
    table = published.reset_index(drop=True)
    for metric in METRICS:
        table[f"ours_{metric}"] = ours[metric].to_numpy(dtype=float)
        printed = table.get(metric, math.nan)
        table[f"relative_{metric}"] = table[f"ours_{metric}"] / printed - 1
    return table
