"""Identifiability: how well a published table determines the parameters fitted to it.

Uncertainty is estimated by a bootstrap over the table (Efron, Annals of Statistics 7, 1979): trials
are equally good if they explain resampled rows as well as the best trial in enough of the draws. A
parameter is pinned down if it has nearly the same value in all equally good trials, and left free
if it has any value.

Errors of rows in a grid are not independent: a misfit at one value of a parameter occurs in all
rows with that value, and twenty cells may be as informative as their five columns. For grids, the
values of each parameter are resampled, not the rows (pigeonhole bootstrap: Owen, Annals of Applied
Statistics 1, 2007). Every row of a trial has its own seed, so that resampling rows also resamples
the chance in our runs; for single cells, the pigeonhole bootstrap is conservative.
"""

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from kneepoint.analysis.frames import PARAMETER, Record, parameters_in, records
from kneepoint.analysis.metrics import METRICS, POWER
from kneepoint.analysis.results import Searched, StudyRuns
from kneepoint.analysis.statistics import succeeded
from kneepoint.config.study import Fit
from kneepoint.search.objective import FIT_METRICS, loss_of

DRAWS = 1000
CHANCE = 0.02
"""The minimum share of draws in which a trial must fit as well as the best trial to be equally
good. Chance also selects the best of many trials, which makes other trials look worse than they
are: 5 % is too strict (docs/decisions/0012).
"""
PINNED = 0.15
"""The maximum width of a pinned parameter's interval, as a share of the searched range."""
FREE = 0.5
"""The share of the range above which a parameter is left free; between the two limits, it is
narrowed."""
EDGE = 0.005
"""The maximum distance of a value at an edge of its range, as a share of the range."""

Whole = npt.NDArray[np.int64]
Weights = npt.NDArray[np.float64]


def recovery(study: StudyRuns, published: pd.DataFrame) -> pd.DataFrame:
    """Returns how well the tables of a fit, among the published rows, determine its parameters.

    Returns:
        Like `recovered`, with a column fitted_rows.
    """
    rows = fitted_rows(published, study.config.fit)
    assert isinstance(study.config.objective, Fit)
    losses = row_losses(study.runs, rows, study.config.objective.robust)
    found = recovered(study.trials, losses, rows, study.searched, study.record.seed)
    return found.assign(fitted_rows=len(rows))


def fitted_rows(published: pd.DataFrame, fit: Sequence[str]) -> pd.DataFrame:
    """Returns the replayable rows of the tables of a fit.

    Args:
        published: all published rows, with columns table, row, replayable.
        fit: the tables.

    Returns:
        The rows. `line` is a row's number in its table, from 1. `row` is its number in the runs of
        the fit, where rows are numbered across tables (see kneepoint.config.published.number_on).
    """
    rows = pd.concat([published[published["table"] == table] for table in fit], ignore_index=True)
    numbered = rows.assign(line=rows["row"] + 1, row=rows.index)
    return numbered[rows["replayable"].astype(bool)].reset_index(drop=True)


def row_losses(runs: pd.DataFrame, published: pd.DataFrame, robust: bool) -> pd.DataFrame:
    """Returns the contribution of each published row to each trial's misfit.

    Args:
        runs: the runs of a fit, with columns trial, row and the metrics.
        published: the fitted rows, with columns row and the metrics (NaN: not printed).
        robust: whether the loss is Huber's; see `kneepoint.search.objective.score_fit`.

    Returns:
        One row per trial, one column per published row: the mean loss of its printed metrics.
    """
    means = succeeded(runs).groupby(["trial", "row"])[list(METRICS)].mean()
    columns = {}
    for row in records(published):
        own = means[means.index.get_level_values("row") == row["row"]].droplevel("row")
        ours = own.reindex(runs["trial"].unique())
        metrics = _fitted_metrics(row)
        errors = np.abs(np.log(ours[metrics].astype(float) / [float(row[m]) for m in metrics]))
        losses = errors.map(
            lambda error: loss_of(None if math.isnan(error) else float(error), robust)
        )
        columns[row["row"]] = losses.mean(axis=1)
    return pd.DataFrame(columns).rename_axis("trial")


def _fitted_metrics(row: Record) -> list[str]:
    """Returns the metrics of a row that count: power only if it is the only printed metric."""
    direct = [metric for metric in FIT_METRICS if not math.isnan(row.get(metric, math.nan))]
    return direct or [POWER]


def row_weights(published: pd.DataFrame) -> Weights:
    """Returns the weights of rows in the misfit: equal over tables, and over a table's rows."""
    sizes = published.groupby("table")["table"].transform("size")
    return 1 / sizes.to_numpy(dtype=float)


def draw_rows(published: pd.DataFrame, seed: int) -> Weights:
    """Returns the weights of rows in DRAWS draws with replacement, shape (DRAWS, rows).

    Rows are drawn within each table. In a complete grid of at least two parameters, a row's weight
    is the product of the draws of its parameters' values.
    """
    random = np.random.Generator(np.random.PCG64(seed))
    tables = [_draw(rows, random) for _, rows in published.groupby("table", sort=False)]
    return np.hstack(tables) * row_weights(published)


def _draw(table: pd.DataFrame, random: np.random.Generator) -> Whole:
    held = np.ones((DRAWS, len(table)), dtype=np.int64)
    for places in _grid(table) or [np.arange(len(table))]:
        values = int(places.max()) + 1
        held *= random.multinomial(values, np.full(values, 1 / values), size=DRAWS)[:, places]
    return held


def _grid(published: pd.DataFrame) -> list[Whole]:
    """Returns the index of each row's value, for each parameter of a complete grid; else []."""
    varied = parameters_in(published, varied=True)
    cells = math.prod(published[name].nunique() for name in varied)
    whole = len(published) == cells == len(published[varied].drop_duplicates())
    if len(varied) < 2 or not whole:
        return []
    return [pd.factorize(published[name], sort=True)[0] for name in varied]


def alike(losses: pd.DataFrame, best: int, drawn: Weights) -> list[int]:
    """Returns the trials that fit at least as well as the best trial in a share CHANCE of draws."""
    behind = (losses - losses.loc[best]).to_numpy(dtype=float)
    no_worse = (behind @ drawn.T <= 0).mean(axis=1)
    return [int(trial) for trial in losses.index[no_worse >= CHANCE]]


def recovered(
    trials: pd.DataFrame,
    losses: pd.DataFrame,
    published: pd.DataFrame,
    searched: Sequence[Searched],
    seed: int,
) -> pd.DataFrame:
    """Returns each searched parameter's best value, and how well the table determines it.

    Args:
        trials: the trials of a fit, with columns trial and parameter_<name>.
        losses: see `row_losses`.
        published: the fitted rows, with columns table and parameter_<name>.
        searched: the parameters.
        seed: of the draws.

    Returns:
        Columns parameter, best, pinned_low, pinned_high (over the trials that are `alike`; NaN for
        a single row, which allows no draws), pinned_share (of the searched range, on its scale),
        verdict. The verdict is at an edge if the best value is at an end of its range, values
        beyond are possible, and the table does not leave the parameter free.
    """
    misfits = losses.to_numpy(dtype=float) @ row_weights(published)
    best = int(losses.index[int(np.argmin(misfits))])
    tied = alike(losses, best, draw_rows(published, seed)) if len(published) > 1 else []
    lines = []
    for parameter in searched:
        by_trial = trials.set_index("trial")[PARAMETER + parameter.name].astype(float)
        values = by_trial.reindex(tied)
        share = _share(parameter, float(values.min()), float(values.max()))
        lines.append(
            {
                "parameter": parameter.name,
                "best": float(by_trial[best]),
                "pinned_low": float(values.min()),
                "pinned_high": float(values.max()),
                "pinned_share": share,
                "verdict": _verdict(share, is_at_edge(parameter, float(by_trial[best]))),
            }
        )
    return pd.DataFrame(lines)


def _share(parameter: Searched, low: float, high: float) -> float:
    scale = math.log if parameter.logarithmic else float
    if math.isnan(low):
        return math.nan
    return (scale(high) - scale(low)) / (scale(parameter.high) - scale(parameter.low))


def is_at_edge(parameter: Searched, best: float) -> bool:
    """Returns whether a value is at an end of the searched range and may lie beyond."""
    scale = math.log if parameter.logarithmic else float
    near = EDGE * (scale(parameter.high) - scale(parameter.low))
    is_low = scale(best) - scale(parameter.low) <= near and parameter.low > parameter.min
    is_high = scale(parameter.high) - scale(best) <= near and parameter.high < parameter.max
    return is_low or is_high


def _verdict(share: float, at_edge: bool) -> str:
    if share > FREE:
        return "left free"
    if at_edge:
        return "at the edge of its range"
    if math.isnan(share):
        return "one row cannot tell"
    return "pinned down" if share <= PINNED else "narrowed"


def disagreements(study: StudyRuns, published: pd.DataFrame) -> pd.DataFrame:
    """Returns each row of the tables of a fit, with the means of the best trial.

    Returns:
        Columns table, line, parameter_<name>, and for each metric published_<metric>, ours_<metric>
        and relative_<metric> (ours over published, minus 1; NaN where it is not printed).
    """
    rows = fitted_rows(published, study.config.fit)
    best = study.trials.sort_values("value", kind="stable")["trial"].iloc[0]
    of_best = succeeded(study.runs[study.runs["trial"] == best])
    ours = of_best.groupby("row")[list(METRICS)].mean().reindex(rows["row"])
    table = rows[["table", "line", *parameters_in(rows)]]
    for metric, printed in rows.reindex(columns=list(METRICS)).items():
        table[f"published_{metric}"] = printed.to_numpy(dtype=float)
        table[f"ours_{metric}"] = ours[metric].to_numpy(dtype=float)
        table[f"relative_{metric}"] = table[f"ours_{metric}"] / table[f"published_{metric}"] - 1
    return table
