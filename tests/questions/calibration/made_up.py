"""A made-up fit of the emulated host."""

from dataclasses import replace
from functools import cache
from typing import Any

from kneepoint.analysis.results import Searched, StudyRuns
from kneepoint.config.study import Fit
from tests.analysis import synthetic
from tests.analysis.real_runs import delays, spread
from tests.analysis.synthetic import run_row


def calibration() -> StudyRuns:
    """A fit of two settings of the host to two windows, on a grid."""
    hosts = [(latency, wake) for latency in (0, 100) for wake in (50, 100, 200)]
    names = ("host_latency_us", "host_wake_mean_us")
    rows = [
        run_row("fixed_window", {"window": window}, 1.0 + row, 100.0, trial=trial, row=row)
        | {f"parameter_{name}": value for name, value in zip(names, host, strict=True)}
        for trial, host in enumerate(hosts)
        for row, window in enumerate((5.0, 12.0))
    ]
    searched = (Searched(names[0], 0, 100), Searched(names[1], 50, 200))
    objective = Fit(fit=("confirm",))
    found = synthetic.study("calibration", rows, searched=searched, objective=objective)
    trials = found.trials.drop_duplicates("trial").reset_index(drop=True)
    trials["value"] = 1e-4 * (1 + trials["trial"])
    return replace(found, trials=trials)


@cache
def real_parts() -> dict[str, Any]:
    """The fit's part of the real results."""
    fit = {"calibration": calibration(), "delays": delays(), "spread": spread()}
    return {"is_real": True, **fit}
