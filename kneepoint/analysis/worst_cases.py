"""Worst cases: the network on which a controller does worst, its run there, rounds of tuning."""

import json
import math

import pandas as pd

from kneepoint.analysis import link_log, over_time
from kneepoint.analysis.frames import (
    CONSTANT,
    Parts,
    Record,
    record,
    records,
    select,
)
from kneepoint.analysis.metrics import (
    POWER,
    QUEUEING_DELAY,
    SIGNAL_DELAY,
    THROUGHPUT,
)
from kneepoint.analysis.results import (
    OF_NETWORK,
    HardeningRuns,
    Results,
    StudyRuns,
)
from kneepoint.common.tables import Tables
from kneepoint.config.study import WorstCase
from kneepoint.networks.config import Network
from kneepoint.networks.scenario import DELAYS


def add(found: Parts, results: Results) -> None:
    """Adds to the tables worst_cases, series and hardening_rounds."""
    for study in results.studies:
        if isinstance(study.config.objective, WorstCase):
            _worst_case(found, results, study)
    for hardening in results.hardenings:
        found["hardening_rounds"].append(_rounds(results, hardening))


def _worst_case(found: Parts, results: Results, study: StudyRuns) -> None:
    """Adds the least trial, its first run, and that run over time."""
    trial = record(study.trials, int(study.trials["value"].to_numpy().argmin()))
    of_trial = study.runs[study.runs["trial"] == trial["trial"]]
    run = record(of_trial, of_trial.index[0])
    mean = of_trial[POWER].where(of_trial["status"] == "ok", 0.0).mean()
    summary = {
        "search": study.name,
        "run": f"worst-case-{study.name}",
        "controller": study.config.controller,
        "constants": run["constants"],
        "opponent": study.config.opponent.controller if study.config.opponent else None,
        "network": json.dumps({s.name: trial[CONSTANT + s.name] for s in study.of_network}),
        "trial": trial["trial"],
        "value": trial["value"],
        "usual": study.trials["value"].median(),
        "mean_power": mean,
        "reference_power": mean / trial["value"],
        "utilization": run["utilization"],
        **{name: run[name] for name in ("capacity_mbps", THROUGHPUT, SIGNAL_DELAY, QUEUEING_DELAY)},
    }
    log = results.worst_case_logs.get(study.name)
    found["worst_cases"].append(pd.DataFrame([{**summary, "failed": log is None}]))
    if log is not None:
        series = over_time.of_logs(log, run=summary["run"])
        end_s = link_log.end_s(select(series, quantity=over_time.RATES[0])["time_s"])
        network = results.workflow.networks[study.config.networks[0]]
        delays = {over_time.BASE_DELAY: _base_delays(network, trial, end_s)}
        found["series"] += [series, over_time.long(delays, summary["run"])]


def _base_delays(network: Network, trial: Record, end_s: float) -> tuple[list[float], list[float]]:
    """When the propagation delay of a trial's network begins or changes (s), and to what (ms).

    The delay is that of one direction.
    """
    delay_ms, step_ms, period_s = (
        trial.get(f"{CONSTANT}{OF_NETWORK}{name}", getattr(network, name) or 0.0) for name in DELAYS
    )
    halves = range(math.ceil(end_s / (period_s / 2)) if step_ms else 1)
    return (
        [half * period_s / 2 for half in halves],
        [delay_ms + half % 2 * step_ms for half in halves],
    )


def _rounds(results: Results, hardening: HardeningRuns) -> pd.DataFrame:
    columns = ["repeat", "round", "own", "worst_case", "constants", "network"]
    tune, worst_case = hardening.tune, hardening.worst_case
    titles = [results.title(name) for name in tune.networks]
    return hardening.rounds[columns].assign(
        hardening=hardening.name,
        title=hardening.config.title,
        controller=tune.controller,
        opponent=worst_case.opponent.controller if worst_case.opponent else None,
        network_titles=pd.Series([titles] * len(hardening.rounds)),
        worst_case_trials=worst_case.sampler.trials or 0,
    )


def hardenings(tables: Tables) -> pd.DataFrame:
    """Each hardening: its rounds, and in how many repeats the last worst case is milder."""
    lines = []
    for _, rounds in tables["hardening_rounds"].groupby("hardening", sort=False):
        last = int(rounds["round"].max())
        before, after = (
            select(rounds, round=number).sort_values("repeat")["worst_case"].to_numpy()
            for number in (0, last)
        )
        first = records(rounds)[0]
        milder = int((after > before).sum())
        lines.append({**first, "rounds": last, "repeats": len(before), "milder": milder})
    return pd.DataFrame(lines)
