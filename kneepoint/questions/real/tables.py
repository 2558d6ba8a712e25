"""The emulator against real mahimahi: do real means lie where it predicts, what do they confirm?"""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kneepoint.analysis import labels
from kneepoint.analysis.columns import table
from kneepoint.analysis.frames import (
    Record,
    parameters_in,
    records,
    select,
)
from kneepoint.analysis.inventory import Found, not_run, what
from kneepoint.analysis.metrics import (
    METRICS,
    POWER,
    SIGNAL_DELAY,
    THROUGHPUT,
)
from kneepoint.analysis.results import Results
from kneepoint.analysis.statistics import succeeded
from kneepoint.common.tables import Tables
from kneepoint.config.confirm import Confirming
from kneepoint.config.study import MAHIMAHI
from kneepoint.questions.real.plan import AGREEMENT, UNEXPLAINED
from kneepoint.runs.audit_table import CONTRADICTED, REPORTS
from kneepoint.runs.confirmed import CALIBRATION, PUBLISHED, TUNED
from kneepoint.stats.intervals import prediction_interval, spread

GOAL = {THROUGHPUT: 0.01, SIGNAL_DELAY: 0.02}
"""The goal for the emulator's mean relative error."""
GOAL_MS = 3.0
"""The mean error of signal delay that is sufficient, too."""
CERTAINTY = 0.99
"""Of the prediction interval."""

BUSIER, QUIETER, SMALL = "busier", "quieter", "small"
"""Beside UNEXPLAINED, why a real mean may lie outside its prediction interval."""
_OTHER_HOST = 0.15
"""Relative difference from the usual scheduling delay beyond which the host counts as different."""

NEAR = 0.05
"""Relative difference of a real mean from a published number that another host may explain."""
CONFIRMED, REFUTED, TOO_NEAR, NEITHER = "yes", "no", "too near to tell", "neither"
BY_ARITHMETIC = "needs no run"
"""Whether a real run agrees with the audit on a published number."""

_TICK_MS = 1.0
"""Delays are whole milliseconds."""
_SETTING = ["trial", "controller", "network", "parameters", "origins", "rows", "name", "label"]


COLUMNS = (
    *AGREEMENT,
    "controller:text network:text parameters:text origins:texts rows:texts name:text label:text "
    "metric:text real_n:whole emulated_n:whole real_mean real_low real_high real_half_width "
    "emulated_mean expected_low expected_high expected_half_width difference relative "
    "inside:flag? scheduling_ms usual_ms",
)
TABLES = (
    table(
        "agreement",
        "the emulator against real mahimahi in a metric of a setting (parameters are JSON), and "
        "why a real mean lies outside",
        *COLUMNS,
    ),
)


@dataclass(frozen=True)
class Confirmation:
    """Settings that were run in real mahimahi.

    `settings` has columns trial, controller, parameters, origins, rows (of published tables,
    as "TABLE ROW") and parameter_<name>; `runs` has the setting as its trial.
    """

    settings: pd.DataFrame
    runs: pd.DataFrame


def made(results: Results) -> Iterator[Found]:
    """The runs of confirmed settings."""
    found = results.part(confirmation)
    if found is not None:
        settings = len(found.settings)
        yield what("confirm", "confirm", MAHIMAHI, settings=settings), found.runs
    elif results.workflow.settings.part(Confirming).confirm:
        yield not_run("confirm")


def confirmation(results: Results) -> Confirmation | None:
    """The settings that ran in real mahimahi."""
    settings, runs = results.table("confirm", "settings"), results.table("confirm")
    if settings is None or runs is None:
        return None
    settings = settings.copy()
    for column in ("origins", "rows"):
        settings[column] = [tuple(filter(None, text.split(","))) for text in settings[column]]
    return Confirmation(settings, runs)


def compute(results: Results, _: Tables) -> dict[str, pd.DataFrame]:
    """The table; none without real runs."""
    found = results.part(confirmation)
    if found is None or found.runs.empty:
        return {}
    settings = _named(found)
    rows = explained(beside_real(settings, found.runs, results.table("agreement")), found.runs)
    return {"agreement": rows.merge(settings[_SETTING], on="trial")}


def settings(tables: Tables) -> pd.DataFrame:
    """The settings that ran in real mahimahi: those columns of the table agreement."""
    return tables["agreement"].drop_duplicates("trial")[_SETTING].reset_index(drop=True)


def _named(found: Confirmation) -> pd.DataFrame:
    """The settings with their runs' network, and names.

    `name` tells a setting from the others of its controller: it has the values of the parameters
    that differ among those that were not merely tuned, or of all where several were tuned; or else
    it is why the setting ran.
    """
    settings = found.settings.copy()
    settings["network"] = str(found.runs["network"].iloc[0])
    names: dict[int, str] = {}
    for _, group in settings.groupby("controller", sort=False):
        is_tuned = pd.Series([origins == (TUNED,) for origins in group["origins"]], group.index)
        differing = parameters_in(group[~is_tuned], varied=True)
        of_tuned = parameters_in(group) if is_tuned.sum() > 1 else []
        for setting in records(group):
            columns = of_tuned if setting["origins"] == (TUNED,) else differing
            values = [labels.number(setting[c]) for c in columns if setting[c] == setting[c]]
            names[setting["trial"]] = "/".join(values) or ", ".join(setting["origins"])
    settings["name"] = settings["trial"].map(names)
    settings["label"] = settings["controller"].map(labels.words) + " " + settings["name"]
    return settings


def beside_real(
    settings: pd.DataFrame, real: pd.DataFrame | None, emulated: pd.DataFrame | None
) -> pd.DataFrame:
    """The emulator against real mahimahi.

    Args:
        settings: columns trial, controller, parameters.
        real: the real runs of these settings; others are ignored; None if there are none.
        emulated: the emulator's, likewise, whatever their trial; None if there are none.

    Returns:
        For each setting and metric columns of the table agreement: real_low and real_high are the
        95 % t interval of the mean; expected_low and expected_high the emulator's prediction
        interval for a mean of as many runs as the real one, plus half a millisecond, because
        delays are whole ones; `inside` says whether it holds the real mean (NA if either is
        unknown).
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
    of_setting &= runs["parameters"] == setting["parameters"]
    return succeeded(runs[of_setting])


def _compared(emulated: pd.DataFrame, real: pd.DataFrame, metric: str) -> Record:
    theirs, ours = (spread(runs[metric].astype(float)) for runs in (real, emulated))
    low, high = prediction_interval(emulated[metric].astype(float), len(real), CERTAINTY)
    slack = _half_tick(metric, emulated)
    difference = ours["mean"] - theirs["mean"]
    known = not math.isnan(theirs["mean"]) and not math.isnan(low)
    return {
        **{f"real_{name}": theirs[name] for name in ("n", "mean")},
        "real_low": theirs["low"],
        "real_high": theirs["high"],
        "real_half_width": theirs["high"] - theirs["mean"],
        **{f"emulated_{name}": ours[name] for name in ("n", "mean")},
        "expected_low": low - slack,
        "expected_high": high + slack,
        "expected_half_width": high + slack - ours["mean"],
        "difference": difference,
        "relative": difference / theirs["mean"],
        "inside": low - slack <= theirs["mean"] <= high + slack if known else pd.NA,
    }


def _half_tick(metric: str, runs: pd.DataFrame) -> float:
    """Rounding error of a metric from whole milliseconds; power's follows from signal delay."""
    if metric == THROUGHPUT:
        return 0.0
    if metric == POWER:
        return float(runs[POWER].mean() / runs[SIGNAL_DELAY].mean()) * _TICK_MS / 2
    return _TICK_MS / 2


def explained(rows: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Why real means lie outside their prediction intervals.

    Args:
        rows: those of `beside_real`.
        runs: all real runs.

    Returns:
        The rows with columns scheduling_ms and usual_ms (mean scheduling delay of the setting's
        runs, and the median of that over all settings; NaN where it was not measured), and why:
        BUSIER or QUIETER (its runs met such a host, and have less or more than was predicted, as
        that host explains), SMALL (the difference is within the goal; the interval is narrower) or
        UNEXPLAINED. Where a mean is inside, all three are missing, and why is empty.
    """
    by_setting = succeeded(runs).groupby("trial")["scheduling_delay_p99_us"]
    delays_ms = by_setting.mean().astype(float) / 1000
    late_ms, usual_ms = rows["trial"].map(delays_ms), float(delays_ms.median())
    lateness, size = late_ms / usual_ms - 1, rows["relative"].abs()
    # A late host costs throughput and power; queues are as long as ever, or shorter.
    reasons = {
        SMALL: size <= rows["metric"].map(GOAL).fillna(GOAL[THROUGHPUT]),
        BUSIER: (lateness > _OTHER_HOST) & (rows["difference"] > 0),
        QUIETER: (lateness < -_OTHER_HOST) & (rows["difference"] < 0),
    }
    is_outside = rows["inside"].eq(False).fillna(False).astype(bool)
    why = np.select([*reasons.values()], [*reasons], UNEXPLAINED)
    return rows.assign(
        scheduling_ms=late_ms.where(is_outside),
        usual_ms=pd.Series(usual_ms, rows.index).where(is_outside),
        why=np.where(is_outside, why, ""),
    )


def accuracy(tables: Tables) -> pd.DataFrame:
    """How near the emulator comes to real mahimahi, over settings that it was not fitted to.

    Returns:
        One row, or none without real runs: settings and controllers (their numbers), error_<metric>
        (the mean absolute relative error), delay_ms (the mean absolute error of signal delay), all
        NaN where there are no such settings; over all settings judged (the means) and
        expected_outside (how many of these chance alone puts outside).
    """
    rows = tables["agreement"]
    if rows.empty:
        return pd.DataFrame()
    judged = rows[[CALIBRATION not in origins for origins in rows["origins"]]]
    compared = judged.dropna(subset=["relative"])
    size = compared[["relative", "difference"]].abs().groupby(compared["metric"]).mean()
    size = size.reindex(list(METRICS))
    means = int(rows["inside"].notna().sum())
    found = {
        "settings": compared["trial"].nunique(),
        "controllers": compared["controller"].nunique(),
        **{f"error_{metric}": size["relative"][metric] for metric in METRICS},
        "delay_ms": size["difference"][SIGNAL_DELAY],
        "judged": means,
        "expected_outside": means * (1 - CERTAINTY),
    }
    return pd.DataFrame([found])


def confirmed(tables: Tables) -> pd.DataFrame:
    """Best settings and contradicted rows in real mahimahi: what was published, and a verdict.

    A row's `origin` is PUBLISHED or TUNED, of a best setting by its power, or CONTRADICTED, of the
    number that the audit finds wrong.
    """
    audited = tables.get("audit")  # of a question that may be missing
    rows = [] if audited is None else records(select(audited, comparison=REPORTS))
    printed = {f"{row['table']} {row['row']}": row for row in rows}
    beside = tables["agreement"].drop(columns=["scheduling_ms", "usual_ms", "why"])
    lines = []
    for _, of_setting in beside.groupby("trial"):
        measured = {row["metric"]: row for row in records(of_setting)}
        power = measured[POWER]
        replayed = [printed[name] for name in power["rows"] if name in printed]
        for origin in (PUBLISHED, TUNED):
            if origin in power["origins"]:
                row = replayed[0] if replayed and origin == PUBLISHED else {}
                lines.append(_line(power, row, origin))
        for row in replayed:
            if row["verdict"] == CONTRADICTED:
                lines.append(_line(measured[row["wrong"]], row, CONTRADICTED))
    return pd.DataFrame(lines)


def _line(measured: Record, row: Record, origin: str) -> Record:
    """A setting's metric beside the published row, if there is one, that it replays."""
    published = float(row.get(f"published_{measured['metric']}", math.nan))
    emulated, real = measured["emulated_mean"], measured["real_mean"]
    is_wrong = origin == CONTRADICTED
    return {
        **measured,
        "origin": origin,
        "row": row.get("name", ""),
        "printed_table": row.get("table", ""),
        "printed_row": row.get("row", math.nan),
        "published": published,
        "from_published": real / published - 1,
        "from_emulator": real / emulated - 1,
        "verdict": verdict(published, emulated, real, row["checks"]) if is_wrong else "",
    }


def verdict(published: float, emulated: float, real: float, checks: str) -> str:
    """The verdict of a real mean on a published number that the audit contradicts by these checks.

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


DERIVED = {
    "agreement_accuracy": accuracy,
    "agreement_settings": settings,
    "confirmed": confirmed,
}
