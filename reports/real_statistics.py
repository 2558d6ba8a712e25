"""Statistics of real runs: beside the emulator's, beside published rows, side by side on one host.

As in `reports.statistics` frames come in and go out; a run is one of RUNS_SCHEMA.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from reports.frames import Record, records
from reports.metrics import METRICS, POWER, SIGNAL_DELAY, THROUGHPUT
from reports.real_results import Probe
from reports.statistics import spread, student_t_quantile, succeeded

CALIBRATION = "calibration"
"""The origin of the settings that the emulated host was fitted to."""

GOAL = {THROUGHPUT: 0.01, SIGNAL_DELAY: 0.02}
"""The mean relative error that the emulator is to stay within."""
GOAL_MS = 3.0
"""The mean error of signal delay that suffices as well."""
CERTAINTY = 0.99
"""Of the prediction interval."""

_TICK_MS = 1.0
"""Delays are whole milliseconds."""


# The emulator beside real mahimahi ------------------------------------------------------------


def prediction_interval(values: "pd.Series[float]", runs: int) -> tuple[float, float]:
    """Where the mean of so many further runs lies in 99 % of cases, by a sample of runs like it.

    Both ends are NaN where the sample has no spread to state, for it is one value or none.
    """
    n, mean = len(values), float(values.mean())
    if n < 2 or runs < 1:
        return math.nan, math.nan
    quantile = student_t_quantile((1 + CERTAINTY) / 2, n - 1)
    half = quantile * float(values.std(ddof=1)) * math.sqrt(1 / n + 1 / runs)
    return mean - half, mean + half


def beside_real(
    settings: pd.DataFrame, real: pd.DataFrame | None, emulated: pd.DataFrame | None
) -> pd.DataFrame:
    """The emulator beside real mahimahi.

    Args:
        settings: columns trial, controller, constants.
        real: the real runs of these settings; those of others are left out; None if there are none.
        emulated: the emulator's, likewise, whatever their trial; None if there are none.

    Returns:
        One row for each setting and metric: trial, metric; real_ and emulated_ n, mean,
        standard_deviation; real_low, real_high (95 % t interval of the mean); expected_low,
        expected_high (the emulator's prediction interval for a mean of as many runs as the real
        one, to which half a millisecond is added, for delays are whole ones); difference (the
        emulator's mean less the real one), relative (that over the real one), inside (whether
        the real mean lies in the prediction interval; NA where one of the two is not known).
    """
    rows = []
    for setting in records(settings):
        ours, theirs = (_runs_of(setting, runs) for runs in (emulated, real))
        for metric in METRICS:
            rows.append(
                {"trial": setting["trial"], "metric": metric, **_compared(ours, theirs, metric)}
            )
    return pd.DataFrame(rows).astype({"inside": "boolean"})


def _runs_of(setting: Record, runs: pd.DataFrame | None) -> pd.DataFrame:
    if runs is None:
        return pd.DataFrame(columns=list(METRICS), dtype=float)
    of_setting = runs["controller"] == setting["controller"]
    of_setting &= runs["constants"] == setting["constants"]
    return succeeded(runs[of_setting])


def _compared(emulated: pd.DataFrame, real: pd.DataFrame, metric: str) -> Record:
    theirs, ours = (spread(runs[metric].astype(float)) for runs in (real, emulated))
    low, high = prediction_interval(emulated[metric].astype(float), len(real))
    slack = _half_tick(metric, emulated)
    difference = ours["mean"] - theirs["mean"]
    known = not math.isnan(theirs["mean"]) and not math.isnan(low)
    return {
        **{f"real_{name}": theirs[name] for name in ("n", "mean", "standard_deviation")},
        "real_low": theirs["low"],
        "real_high": theirs["high"],
        **{f"emulated_{name}": ours[name] for name in ("n", "mean", "standard_deviation")},
        "expected_low": low - slack,
        "expected_high": high + slack,
        "difference": difference,
        "relative": difference / theirs["mean"],
        "inside": low - slack <= theirs["mean"] <= high + slack if known else pd.NA,
    }


def _half_tick(metric: str, runs: pd.DataFrame) -> float:
    """What rounding to whole milliseconds hides of a metric; power follows from signal delay."""
    if metric == THROUGHPUT:
        return 0.0
    if metric == POWER:
        return float(runs[POWER].mean() / runs[SIGNAL_DELAY].mean()) * _TICK_MS / 2
    return _TICK_MS / 2


BUSIER, QUIETER, SMALL = "busier", "quieter", "small"
NOT_AGAIN, UNEXPLAINED = "not again", "unexplained"
"""Why a real mean may lie outside its prediction interval."""
_OTHER_HOST = 0.15
"""Relative difference of scheduling delay from the usual one that makes another host of it."""


def explained(rows: pd.DataFrame, runs: pd.DataFrame, again: pd.DataFrame) -> pd.DataFrame:
    """Why real means lie outside their prediction intervals.

    Args:
        rows: those of `beside_real` that are outside.
        runs: all real runs.
        again: from `beside_real`, too, for further real runs of settings, as far as there are any.

    Returns:
        The rows with columns scheduling_ms and usual_ms (mean scheduling delay of the setting's
        runs, and the median of that over all settings; NaN where it was not measured), again_n and
        again_mean (of the further runs), and why: BUSIER or QUIETER (its runs met
        such a host, and have less or more than was predicted, as that host explains), SMALL (the
        difference is within the goal; the interval is narrower), NOT_AGAIN (the mean of the further
        runs lies inside) or UNEXPLAINED.
    """
    measured = succeeded(runs)
    delays_ms = measured.groupby("trial")["scheduling_delay_p99_us"].mean().astype(float) / 1000
    usual_ms = float(delays_ms.median())
    found = rows.assign(
        scheduling_ms=[delays_ms.get(trial, math.nan) for trial in rows["trial"]],
        usual_ms=usual_ms,
    )
    told = {"real_n": "again_n", "real_mean": "again_mean", "inside": "again_inside"}
    further = again[["trial", "metric", *told]].rename(columns=told)
    found = found.merge(further, on=["trial", "metric"], how="left")
    found["why"] = [_why(row) for row in records(found)]
    return found.drop(columns="again_inside")


def _why(row: Record) -> str:
    # A late host costs throughput and power; queues are as long as ever, or shorter.
    if abs(row["relative"]) <= GOAL.get(row["metric"], GOAL[THROUGHPUT]):
        return SMALL
    lateness = row["scheduling_ms"] / row["usual_ms"] - 1
    if lateness > _OTHER_HOST and row["difference"] > 0:
        return BUSIER
    if lateness < -_OTHER_HOST and row["difference"] < 0:
        return QUIETER
    return NOT_AGAIN if row["again_inside"] is True else UNEXPLAINED


@dataclass(frozen=True)
class Accuracy:
    """How near the emulator comes to real mahimahi, over settings that it was not fitted to.

    `relative` has the mean absolute relative error of each metric, `delay_ms` that of signal delay
    in ms; all are NaN where there are no such settings.
    """

    settings: int
    controllers: int
    relative: Mapping[str, float]
    delay_ms: float

    @property
    def meets(self) -> Mapping[str, bool]:
        """Whether the goals of throughput and of signal delay are reached."""
        late = self.relative[SIGNAL_DELAY] <= GOAL[SIGNAL_DELAY] or self.delay_ms <= GOAL_MS
        return {
            THROUGHPUT: self.relative[THROUGHPUT] <= GOAL[THROUGHPUT],
            SIGNAL_DELAY: late,
        }


def accuracy(settings: pd.DataFrame, rows: pd.DataFrame) -> Accuracy:
    """Sums `beside_real` up; settings whose origins have CALIBRATION do not count.

    Args:
        settings: columns trial, controller, origins (a tuple each).
        rows: from `beside_real`.
    """
    judged = settings[[CALIBRATION not in origins for origins in settings["origins"]]]
    compared = rows.dropna(subset=["relative"])
    compared = compared[compared["trial"].isin(judged["trial"])]
    sizes = {name: compared[compared["metric"] == name] for name in METRICS}
    used = judged[judged["trial"].isin(compared["trial"])]
    return Accuracy(
        settings=len(used),
        controllers=used["controller"].nunique(),
        relative={name: float(size["relative"].abs().mean()) for name, size in sizes.items()},
        delay_ms=float(sizes[SIGNAL_DELAY]["difference"].abs().mean()),
    )


# Published rows -------------------------------------------------------------------------------

NEAR = 0.05
"""Relative difference of a real mean from a published number that another host may explain."""
CONFIRMED, REFUTED, TOO_NEAR, NEITHER = "yes", "no", "too near to tell", "neither"
BY_ARITHMETIC = "needs no run"
"""Whether a real run says of a published number what the audit does."""


def verdict(published: float, emulated: float, real: float, checks: str) -> str:
    """What a real mean says of a published number that the audit contradicts by these checks.

    Returns:
        CONFIRMED (it is not near the published number, and nearer to the emulator's), NEITHER (not
        nearer), REFUTED (it is near the published number only), TOO_NEAR (near both),
        BY_ARITHMETIC (the row contradicts itself, and nothing else does), or nothing where a number
        is missing.
    """
    if checks == "arithmetic":
        return BY_ARITHMETIC
    if any(math.isnan(value) for value in (published, emulated, real)):
        return ""
    as_published, as_emulated = (abs(math.log(value / real)) for value in (published, emulated))
    near = math.log1p(NEAR)
    if as_published <= near:
        return TOO_NEAR if as_emulated <= near else REFUTED
    return CONFIRMED if as_emulated < as_published else NEITHER


# Runs side by side ----------------------------------------------------------------------------


def probe_runs(probe: Probe) -> pd.DataFrame:
    """Each run of a probe beside the runs that had the host alone: those of its first level.

    Returns:
        One row a run that ended well: columns level, concurrency, relative_<metric> (to the mean
        of the lone runs, less one; throughput and signal delay), scheduling_delay_p99_us.
    """
    runs = succeeded(probe.runs)
    alone = runs[runs["trial"] == 0]
    at_once = dict(zip(probe.levels["level"], probe.levels["concurrency"], strict=True))
    found = pd.DataFrame(
        {"level": runs["trial"], "concurrency": [at_once[level] for level in runs["trial"]]}
    )
    for metric in (THROUGHPUT, SIGNAL_DELAY):
        found[f"relative_{metric}"] = runs[metric] / alone[metric].mean() - 1
    found["scheduling_delay_p99_us"] = runs["scheduling_delay_p99_us"].astype(float)
    return found.reset_index(drop=True)


def probe_levels(probe: Probe) -> pd.DataFrame:
    """A probe's levels: columns of `levels`, runs, failed, then for each metric mean and worst.

    These are relative_<metric> (of the mean), furthest_<metric> (the greatest absolute difference
    of a single run) and scheduling_delay_p99_us (the greatest).
    """
    groups = probe_runs(probe).groupby("level")
    failed = probe.runs[probe.runs["status"] != "ok"].groupby("trial").size()
    table = probe.levels.set_index("level")
    table["runs"] = groups.size()
    table["failed"] = failed
    table = table.fillna({"runs": 0, "failed": 0}).astype({"runs": int, "failed": int})
    for metric in (THROUGHPUT, SIGNAL_DELAY):
        relative = groups[f"relative_{metric}"]
        table[f"relative_{metric}"] = relative.mean()
        table[f"furthest_{metric}"] = relative.agg(lambda values: np.abs(values).max())
    table["scheduling_delay_p99_us"] = groups["scheduling_delay_p99_us"].max()
    return table.reset_index()
