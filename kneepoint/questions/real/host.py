"""The host of real runs: its slots, its scheduling delays, and the fit to it."""

import pandas as pd

from kneepoint.analysis.columns import table
from kneepoint.analysis.frames import CONSTANT, records
from kneepoint.analysis.metrics import SIGNAL_DELAY, THROUGHPUT
from kneepoint.analysis.results import Results, StudyRuns
from kneepoint.common.tables import Tables
from kneepoint.questions.real import results as real

_LATE = "scheduling_delay_p99_us"

TABLES = (
    table(
        "probe",
        "a run of the probe, its differences from runs alone, and its level: so many runs at "
        "once, and whether they agree with runs alone; slots: what the host takes of its cores; "
        "a run beyond busy_us is repeated",
        "level:whole concurrency:whole agrees:flag reason:text controller:text failed:flag "
        "relative_throughput_mbps relative_signal_delay_p95_ms scheduling_delay_p99_us busy_us "
        "slots:whole cores:whole",
    ),
    table(
        "scheduling_delays",
        "the scheduling delay that one wake-up in `one_in` reaches or exceeds",
        "one_in:whole delay_us least_us greatest_us n_runs:whole",
    ),
    table(
        "calibration",
        "a trial of the fit of the emulated host to so many rows, the best first",
        "trial:whole value controller:text rows:whole constant_*",
    ),
    table(
        "wake_spread",
        "how much runs vary, by the spread of the host's scheduling delay",
        "wake_spread emulated_deviation real_deviation is_best:flag",
    ),
)


def compute(results: Results, _: Tables) -> dict[str, pd.DataFrame]:
    """The tables; none without real runs."""
    found = {
        "probe": probe(results.part(real.probe)),
        "scheduling_delays": results.part(real.delays),
        "calibration": calibration(results.part(real.calibration)),
        "wake_spread": results.part(real.spread),
    }
    return {name: table for name, table in found.items() if table is not None}


def calibration(fit: StudyRuns | None) -> pd.DataFrame | None:
    """The trials of the fit, the best first."""
    if fit is None:
        return None
    names = [CONSTANT + each.name for each in fit.searched]
    trials = fit.trials.sort_values("value", kind="stable")
    best = fit.runs[fit.runs["trial"] == trials["trial"].iloc[0]]
    found = trials[["trial", "value", *names]].astype(dict.fromkeys(names, float))
    return found.assign(controller=fit.config.controller, rows=best["row"].nunique())


def probe(runs: pd.DataFrame | None) -> pd.DataFrame | None:
    """Each run of a probe against the runs alone on the host: those of its first level."""
    if runs is None:
        return None
    names = {"trial": "level", "level_reason": "reason"}
    columns = ["trial", "controller", _LATE, "concurrency", "agrees", "level_reason"]
    found = runs[columns].rename(columns=names).assign(failed=runs["status"] != "ok")
    for metric in (THROUGHPUT, SIGNAL_DELAY):
        value = runs[metric].astype(float).mask(found["failed"])
        found[f"relative_{metric}"] = value / value[found["level"] == 0].mean() - 1
    found[_LATE] = runs[_LATE].astype(float).mask(found["failed"])
    return found.assign(**runs[["busy_us", "slots", "cores"]])


def probe_levels(tables: Tables) -> pd.DataFrame:
    """The levels of the probe: runs, failed, then for each metric mean and worst.

    These are relative_<metric> (of the mean), furthest_<metric> (the greatest absolute difference
    of a single run) and scheduling_delay_p99_us (the greatest).
    """
    lines = []
    for _, runs in tables["probe"].groupby("level"):
        first = records(runs)[0]
        line = {name: first[name] for name in ("level", "concurrency", "agrees", "reason")}
        line |= {"runs": (~runs["failed"]).sum(), "failed": runs["failed"].sum()}
        for metric in (THROUGHPUT, SIGNAL_DELAY):
            relative = runs[f"relative_{metric}"]
            line[f"relative_{metric}"] = relative.mean()
            line[f"furthest_{metric}"] = relative.abs().max()
        lines.append(line | {_LATE: runs[_LATE].max()})
    return pd.DataFrame(lines)
