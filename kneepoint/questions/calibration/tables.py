"""The fit of the emulated host to real runs: delays, latencies, and variation between runs."""

import pandas as pd

from kneepoint.analysis.frames import PARAMETER
from kneepoint.analysis.results import Results, StudyRuns
from kneepoint.common.tables import Tables, flag, real, table, text, whole
from kneepoint.config.workflow import CALIBRATED
from kneepoint.questions.calibration import study_of_calibration, wanted_of
from kneepoint.questions.calibration.plan import DELAYS, SPREAD

TABLES = (
    table(
        "scheduling_delays",
        "the scheduling delay that one wake-up in `one_in` reaches or exceeds",
        whole("one_in"),
        real("delay_us", "least_us", "greatest_us"),
        whole("n_runs"),
    ),
    table(
        "calibration",
        "a trial of the fit of the emulated host to `rows` rows, the best first",
        whole("trial"),
        real("value"),
        text("controller"),
        whole("rows"),
        real("parameter_*"),
    ),
    table(
        "wake_spread",
        "how much runs vary, by the spread of the host's scheduling delay",
        real("wake_spread", "emulated_deviation", "real_deviation"),
        flag("is_best"),
    ),
)


def calibration(results: Results) -> StudyRuns | None:
    """Returns the study that fits the emulated host to real fixed windows; it has no file."""
    wanted = wanted_of(results.workflow)
    if wanted is None or not results.real_file("calibration/study.json"):
        return None
    return results.study(CALIBRATED, study_of_calibration(wanted))


def delays(results: Results) -> pd.DataFrame | None:
    """Returns the measured scheduling delays of the calibration (see `calibration`)."""
    return results.table(CALIBRATED, DELAYS)


def spread(results: Results) -> pd.DataFrame | None:
    """Returns the fit of the variation between runs (see `calibration`)."""
    return results.table(CALIBRATED, SPREAD)


def compute(results: Results, _: Tables) -> dict[str, pd.DataFrame]:
    """Makes the tables; empty without real runs."""
    fit = results.part(calibration)
    found = {
        "scheduling_delays": results.part(delays),
        "calibration": None if fit is None else trials(fit),
        "wake_spread": results.part(spread),
    }
    return {name: table for name, table in found.items() if table is not None}


def trials(fit: StudyRuns) -> pd.DataFrame:
    """Returns the trials of the fit, the best first."""
    names = [PARAMETER + each.name for each in fit.searched]
    ordered = fit.trials.sort_values("value", kind="stable")
    best = fit.runs[fit.runs["trial"] == ordered["trial"].iloc[0]]
    found = ordered[["trial", "value", *names]].astype(dict.fromkeys(names, float))
    return found.assign(controller=fit.config.controller, rows=best["row"].nunique())
