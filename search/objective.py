"""Objectives: pure functions from the runs of a trial to its score."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from experiments.results import FinishedRun, FinishedTrial

LEAST_POWER = 1e-3
"""Floor of power (Mbit/s/s) in logarithms; also the power of a failed run."""

MISFIT_SCALE = 0.02
"""Relative error up to which the robust misfit is quadratic: published figures have two or three
digits."""

WORST_MISFIT = 10.0
"""Misfit of a metric that a failed run lacks; the upper bound of every misfit."""

PublishedMetrics = Mapping[int, Mapping[str, float]]
"""The metrics of each row of a table, by the row's number."""

FIT_METRICS = ("throughput_mbps", "signal_delay_p95_ms", "queueing_delay_p95_ms")


@dataclass(frozen=True)
class Score:
    """The value of a trial, and why a run of it failed."""

    value: float
    reason: str = ""


def score_power(runs: Sequence[FinishedRun], over: Literal["mean", "worst", "mean_log"]) -> Score:
    """Scores by power, the greater the better.

    Power is averaged over the runs on each network, then over the networks: by its mean, by the
    worst network, or by the mean of natural logarithms. A failed run counts as power 0.
    """
    by_network: dict[str, list[float]] = {}
    for run in runs:
        power = run.record.power if run.record.status == "ok" else 0.0
        assert power is not None
        by_network.setdefault(run.planned.spec.network.name, []).append(power)
    means = [math.fsum(powers) / len(powers) for powers in by_network.values()]
    if over == "worst":
        value = min(means)
    elif over == "mean":
        value = math.fsum(means) / len(means)
    else:
        value = math.fsum(math.log(max(mean, LEAST_POWER)) for mean in means) / len(means)
    return Score(value, _failure(runs))


def score_fit(
    runs: Sequence[FinishedRun], tables: Sequence[PublishedMetrics], robust: bool
) -> Score:
    """Scores by the misfit to published rows, the smaller the better.

    The runs of a row are averaged; each figure that the row prints adds a loss of its relative
    error e = |ln(ours / published)|, and the misfit is the mean loss of a table, averaged over
    tables: each counts alike, a mean of thirty runs as much as thirty single ones. Power is counted
    only where a row prints neither throughput nor delay, for it follows from them. The robust loss
    is Huber's: e^2 / 2s up to s = MISFIT_SCALE, then e - s/2, so that a wrong row pulls no harder
    than one that is off by s. Otherwise the loss is e^2.

    Args:
        runs: the runs of the trial, each with its row.
        tables: the published rows, those of each table apart.
        robust: which loss.
    """
    misfits = [_misfit(runs, published, robust) for published in tables]
    return Score(math.fsum(misfits) / len(misfits), _failure(runs))


def _misfit(runs: Sequence[FinishedRun], published: PublishedMetrics, robust: bool) -> float:
    losses = []
    for number, metrics in published.items():
        of_row = [run for run in runs if run.planned.row == number]
        for metric in [name for name in FIT_METRICS if name in metrics] or ["power"]:
            if metric in metrics:
                losses.append(loss_of(_relative_error(of_row, metric, metrics[metric]), robust))
    return math.fsum(losses) / len(losses)


def find_best(trials: Sequence[FinishedTrial], minimise: bool) -> FinishedTrial:
    """Returns the best of at least one trial, the first of equals."""
    return (min if minimise else max)(trials, key=lambda trial: trial.value)


def _relative_error(runs: Sequence[FinishedRun], metric: str, published: float) -> float | None:
    """Returns |ln(ours / published)|, or None if a run has no such metric."""
    values = [getattr(run.record, metric) for run in runs if run.record.status == "ok"]
    if len(values) < len(runs) or not values:
        return None
    ours = math.fsum(values) / len(values)
    return abs(math.log(ours / published)) if ours > 0 and published > 0 else None


def loss_of(error: float | None, robust: bool) -> float:
    """Returns the loss of a relative error; None stands for a metric that a failed run lacks."""
    if error is None:
        return WORST_MISFIT
    if not robust:
        loss = error**2
    elif error <= MISFIT_SCALE:
        loss = error**2 / (2 * MISFIT_SCALE)
    else:
        loss = error - MISFIT_SCALE / 2
    return min(loss, WORST_MISFIT)


def _failure(runs: Sequence[FinishedRun]) -> str:
    return next((run.record.reason for run in runs if run.record.status == "failed"), "")
