"""The host of real runs: its slots, its scheduling delays, and the fit to it."""

import numpy as np
import pandas as pd

from analysis.frames import CONSTANT
from analysis.metrics import SIGNAL_DELAY, THROUGHPUT
from analysis.results import ProbedHost, Results, StudyRuns
from analysis.schema import STAGES
from analysis.statistics import succeeded
from common.tables import Tables


def compute(results: Results, _: Tables) -> dict[str, pd.DataFrame]:
    """The stage: see `analysis.schema`."""
    found = {table.name: pd.DataFrame() for table in STAGES["host"].tables}
    probe = results.probe()
    if probe is not None and len(probe.runs):
        host = {
            "slots": probe.slots,
            "cores": probe.cores,
            "busy_us": float(probe.busy_us),
            "controller": str(probe.runs["controller"].iloc[0]),
        }
        found["host"] = pd.DataFrame([host])
        found["probe_levels"], found["probe_runs"] = probe_levels(probe), probe_runs(probe)
    fit, delays, spread = results.calibration(), results.delays(), results.spread()
    if fit is not None:
        found |= _calibration(fit)
        if delays is not None:
            found["scheduling_delays"] = delays
    if spread is not None:
        found["wake_spread"] = spread
    return found


def _calibration(fit: StudyRuns) -> dict[str, pd.DataFrame]:
    names = [CONSTANT + each.name for each in fit.searched]
    trials = fit.trials.dropna(subset=["value"]).sort_values("value", kind="stable")
    best = fit.runs[fit.runs["trial"] == trials["trial"].iloc[0]]
    fitted = [{"constant": each.name, "low": each.low, "high": each.high} for each in fit.searched]
    return {
        "calibration": pd.DataFrame(fitted).assign(
            controller=fit.controller, trials=len(fit.trials), rows=best["row"].nunique()
        ),
        "calibration_trials": trials[["trial", "value", *names]].astype(
            dict.fromkeys(names, float)
        ),
    }


def probe_runs(probe: ProbedHost) -> pd.DataFrame:
    """Each run of a probe against the runs alone on the host: those of its first level.

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


def probe_levels(probe: ProbedHost) -> pd.DataFrame:
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
