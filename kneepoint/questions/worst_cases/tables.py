"""Worst cases: the network on which a controller does worst, and its run there."""

import json

import pandas as pd

from kneepoint.analysis.frames import PARAMETER, Record, record
from kneepoint.analysis.metrics import POWER, QUEUEING_DELAY, SIGNAL_DELAY, THROUGHPUT
from kneepoint.analysis.results import Results, StudyRuns
from kneepoint.common.tables import Tables, flag, real, table, text, whole
from kneepoint.config.study import WorstCase

TABLES = (
    table(
        "worst_cases",
        "the network (JSON: the searched parameters) on which a controller's power is lowest "
        "relative to the opponent's or, without one, the omniscient sender's; usual: the median "
        "trial; mean_power is over the trial's runs, metrics are of the first run",
        text("search", "run", "controller", "parameters"),
        text("opponent", optional=True),
        text("network"),
        whole("trial"),
        real("value", "usual"),
        real("mean_power", "reference_power", unit="Mbit/s/s"),
        real("capacity_mbps", "throughput_mbps", "signal_delay_p95_ms", "queueing_delay_p95_ms"),
        real("utilization"),
        flag("failed"),
    ),
)


def compute(results: Results, _: Tables) -> dict[str, pd.DataFrame]:
    """Makes the table."""
    studies = [each for each in results.studies if isinstance(each.config.objective, WorstCase)]
    return {"worst_cases": pd.DataFrame([_worst_case(results, study) for study in studies])}


def _worst_case(results: Results, study: StudyRuns) -> Record:
    """Returns the trial with the lowest value and its first run."""
    trial = record(study.trials, int(study.trials["value"].to_numpy().argmin()))
    of_trial = study.runs[study.runs["trial"] == trial["trial"]]
    run = record(of_trial, of_trial.index[0])
    mean = of_trial[POWER].where(of_trial["status"] == "ok", 0.0).mean()
    return {
        "search": study.name,
        "run": f"worst-case-{study.name}",
        "controller": study.config.controller,
        "parameters": run["parameters"],
        "opponent": study.config.opponent.controller if study.config.opponent else None,
        "network": json.dumps({s.name: trial[PARAMETER + s.name] for s in study.of_network}),
        "trial": trial["trial"],
        "value": trial["value"],
        "usual": study.trials["value"].median(),
        "mean_power": mean,
        "reference_power": mean / trial["value"],
        "utilization": run["utilization"],
        **{name: run[name] for name in ("capacity_mbps", THROUGHPUT, SIGNAL_DELAY, QUEUEING_DELAY)},
        "failed": study.name not in results.worst_case_logs,
    }
