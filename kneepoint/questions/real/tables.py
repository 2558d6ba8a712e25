"""The emulator against real mahimahi: agreement with predictions, and confirmed verdicts."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd

from kneepoint.analysis import labels
from kneepoint.analysis.frames import Record, parameters_in, records, select
from kneepoint.analysis.inventory import InventoryEntry, experiment_entry, not_run
from kneepoint.analysis.metrics import METRICS, POWER, SIGNAL_DELAY, THROUGHPUT
from kneepoint.analysis.results import Results
from kneepoint.analysis.statistics import succeeded
from kneepoint.common.tables import Tables, flag, real, table, text, texts, whole
from kneepoint.config.confirm import Confirming
from kneepoint.config.study import MAHIMAHI
from kneepoint.questions.real.plan import AGREEMENT, UNEXPLAINED
from kneepoint.runs.audit_table import CONTRADICTED, REPORTS
from kneepoint.runs.confirmed import CALIBRATION, PUBLISHED, SETTINGS, TUNED
from kneepoint.stats.intervals import prediction_interval, spread

GOAL = {THROUGHPUT: 0.01, SIGNAL_DELAY: 0.02}
"""The goals for the emulator's mean relative error."""
GOAL_MS = 3.0
"""The mean error of signal delay that also meets the goal (ms)."""
CERTAINTY = 0.99
"""The level of the prediction interval."""

BUSIER, QUIETER, SMALL = "busier", "quieter", "small"
"""Reasons for a real mean outside its prediction interval, besides UNEXPLAINED."""
_OTHER_HOST = 0.15
"""The relative difference from the median scheduling delay beyond which the host has changed."""

NEAR = 0.05
"""The relative difference of a real mean from a published number that another host may explain."""
CONFIRMED, REFUTED, TOO_NEAR, NEITHER = "yes", "no", "too near to tell", "neither"
BY_ARITHMETIC = "needs no run"
"""Verdicts of real runs on published numbers that the audit contradicts."""

_TICK_MS = 1.0
"""The unit of delays, which are whole milliseconds."""
_SETTING = ["trial", "controller", "network", "parameters", "origins", "rows", "name", "label"]


COLUMNS = (
    *AGREEMENT.columns,
    *text("controller", "network", "parameters"),
    *texts("origins", "rows"),
    *text("name", "label", "metric"),
    *whole("real_n", "emulated_n"),
    *real("real_mean", "real_low", "real_high", "real_half_width"),
    *real("emulated_mean", "expected_low", "expected_high", "expected_half_width"),
    *real("difference", "relative"),
    *flag("inside", optional=True),
    *real("scheduling_ms", "usual_ms"),
)
TABLES = (
    table(
        "agreement",
        "the emulator against real mahimahi in a metric of a setting (parameters are JSON), and "
        "why a real mean lies outside",
        COLUMNS,
    ),
)


@dataclass(frozen=True)
class Confirmation:
    """The settings that ran in real mahimahi.

    `settings` has columns trial, controller, parameters, origins, rows (of published tables, as
    "TABLE ROW") and parameter_<name>; the trial of a run in `runs` is its setting.
    """

    settings: pd.DataFrame
    runs: pd.DataFrame


def inventory_entries(results: Results) -> Iterator[InventoryEntry]:
    """Yields the runs of confirmed settings."""
    found = results.part(confirmation)
    if found is not None:
        settings = len(found.settings)
        yield experiment_entry("confirm", "confirm", MAHIMAHI, settings=settings), found.runs
    elif results.workflow.settings.part(Confirming).confirm:
        yield not_run("confirm")


def confirmation(results: Results) -> Confirmation | None:
    """Reads the settings that ran in real mahimahi; None without results."""
    settings, runs = results.table("confirm", SETTINGS), results.table("confirm")
    if settings is None or runs is None:
        return None
    settings = settings.copy()
    for column in ("origins", "rows"):
        settings[column] = [tuple(filter(None, text.split(","))) for text in settings[column]]
    return Confirmation(settings, runs)


def compute(results: Results, _: Tables) -> dict[str, pd.DataFrame]:
    """Makes the table; empty without real runs."""
    found = results.part(confirmation)
    if found is None or found.runs.empty:
        return {}
    settings = _named(found)
    rows = explained(beside_real(settings, found.runs, results.table("agreement")), found.runs)
    return {"agreement": rows.merge(settings[_SETTING], on="trial")}


def settings(tables: Tables) -> pd.DataFrame:
    """Lists the settings that ran in real mahimahi, from the table agreement."""
    return tables["agreement"].drop_duplicates("trial")[_SETTING].reset_index(drop=True)


def _named(found: Confirmation) -> pd.DataFrame:
    """Adds the runs' network, names and labels to the settings.

    `name` distinguishes a setting from others of its controller. A setting that was only tuned has
    the values of all parameters if several were tuned; any other setting has the values of the
    parameters that differ. If there are no such values, the name consists of the origins.
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
    """Compares the emulator with real mahimahi.

    Args:
        settings: columns trial, controller, parameters.
        real: the real runs of these settings; others are ignored; None if there are none.
        emulated: the emulator's runs of these settings, with any trial; None if there are none.

    Returns:
        For each setting and metric columns of the table agreement: real_low and real_high are the
        95 % t interval of the mean; expected_low and expected_high are the emulator's prediction
        interval for the mean of as many runs, widened by half a millisecond, because delays are
        whole milliseconds; `inside` is whether the prediction interval contains the real mean (NA
        if either is unknown).
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
    """Returns the rounding error of a metric; the error of power follows from signal delay."""
    if metric == THROUGHPUT:
        return 0.0
    if metric == POWER:
        return float(runs[POWER].mean() / runs[SIGNAL_DELAY].mean()) * _TICK_MS / 2
    return _TICK_MS / 2


def explained(rows: pd.DataFrame, runs: pd.DataFrame) -> pd.DataFrame:
    """Explains real means outside their prediction intervals.

    Args:
        rows: see `beside_real`.
        runs: all real runs.

    Returns:
        The rows with columns scheduling_ms (mean scheduling delay of the setting's runs) and
        usual_ms (its median over all settings), both NaN if unknown, and why: BUSIER (the host was
        busier, which explains a smaller real mean), QUIETER (the host was quieter, which explains a
        greater real mean), SMALL (the difference is within the goal) or UNEXPLAINED. Where the mean
        is inside its interval, the delays are NaN, and `why` is "".
    """
    by_setting = succeeded(runs).groupby("trial")["scheduling_delay_p99_us"]
    delays_ms = by_setting.mean().astype(float) / 1000
    late_ms, usual_ms = rows["trial"].map(delays_ms), float(delays_ms.median())
    lateness, size = late_ms / usual_ms - 1, rows["relative"].abs()
    # Late wake-ups reduce throughput and power, and do not lengthen queues.
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
    """Returns the emulator's error against real mahimahi, over settings to which it was not fitted.

    Returns:
        One row, or none without real runs: settings and controllers (counts), error_<metric> (mean
        absolute relative error) and delay_ms (mean absolute error of signal delay), NaN without
        such settings; and over all settings judged (count of means) and expected_outside (the
        number of these means that chance alone puts outside).
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
    """Compares best settings and contradicted rows with real mahimahi.

    `origin` is PUBLISHED or TUNED for the power of a best setting, and CONTRADICTED for a number
    that the audit finds wrong.
    """
    audited = tables.get("audit")  # missing without its question
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
    """Compares a setting's metric with the published row that it replays, if any."""
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
    """Returns the verdict of a real mean on a published number that the audit contradicts.

    Returns:
        CONFIRMED (the real mean is not near the published number, and nearer to the emulator's
        mean), NEITHER (it is near neither, and not nearer to the emulator's), REFUTED (it is near
        the published number only), TOO_NEAR (it is near both), BY_ARITHMETIC (only the row's
        arithmetic contradicts it), or "" if a number is missing.
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
