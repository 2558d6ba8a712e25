"""Worst cases: the network on which a controller does worst, its run there, rounds of tuning."""

import json
import math

import pandas as pd

from analysis import link_log, over_time
from analysis.frames import CONSTANT, Record, record, records, select, together
from analysis.metrics import POWER, QUEUEING_DELAY, SIGNAL_DELAY, THROUGHPUT
from analysis.results import OF_NETWORK, WORST_CASE, HardeningRuns, Results, StudyRuns
from common.tables import Tables
from networks.scenario import DELAYS


def compute(results: Results) -> dict[str, pd.DataFrame]:
    """The tables worst_cases, series and hardening_rounds."""
    names = ("worst_cases", "series", "hardening_rounds")
    found: dict[str, list[pd.DataFrame]] = {name: [] for name in names}
    for study in results.studies():
        if study.objective == WORST_CASE:
            for name, frame in _worst_case(results, study).items():
                found[name].append(frame)
    for hardening in results.hardenings():
        found["hardening_rounds"].append(_rounds(results, hardening))
    return together(found)


def _worst_case(results: Results, study: StudyRuns) -> dict[str, pd.DataFrame]:
    """The least trial, its first run, and that run over time."""
    trial = record(study.trials, int(study.trials["value"].to_numpy().argmin()))
    of_trial = study.runs[study.runs["trial"] == trial["trial"]]
    run = record(of_trial, of_trial.index[0])
    mean = of_trial[POWER].where(of_trial["status"] == "ok", 0.0).mean()
    summary = {
        "search": study.name,
        "run": f"worst-case-{study.name}",
        "controller": study.controller,
        "constants": run["constants"],
        "opponent": study.opponent,
        "network": json.dumps({s.name: trial[CONSTANT + s.name] for s in study.of_network}),
        "trial": trial["trial"],
        "value": trial["value"],
        "usual": study.trials["value"].median(),
        "mean_power": mean,
        "reference_power": mean / trial["value"],
        "utilization": run["utilization"],
        **{name: run[name] for name in ("capacity_mbps", THROUGHPUT, SIGNAL_DELAY, QUEUEING_DELAY)},
    }
    log = results.worst_case_log(study.name)
    found = {"worst_cases": pd.DataFrame([{**summary, "failed": log is None}])}
    if log is not None:
        series = over_time.of_logs(log, run=summary["run"])
        end_s = link_log.end_s(select(series, quantity=over_time.RATES[0])["time_s"])
        base = over_time.long(
            {over_time.BASE_DELAY: _base_delays(study, trial, end_s)}, summary["run"]
        )
        found["series"] = pd.concat([series, base])
    return found


def _base_delays(study: StudyRuns, trial: Record, end_s: float) -> tuple[list[float], list[float]]:
    """When the propagation delay of a trial's network begins or changes (s), and to what (ms).

    The delay is that of one direction.
    """
    delays = [trial.get(f"{CONSTANT}{OF_NETWORK}{name}", study.delays[name]) for name in DELAYS]
    delay_ms, step_ms, period_s = delays
    halves = range(math.ceil(end_s / (period_s / 2)) if step_ms else 1)
    return (
        [half * period_s / 2 for half in halves],
        [delay_ms + half % 2 * step_ms for half in halves],
    )


def _rounds(results: Results, hardening: HardeningRuns) -> pd.DataFrame:
    columns = ["repeat", "round", "own", "worst_case", "constants", "network"]
    titles = [results.networks.get(name, name) for name in hardening.networks]
    tuning, worst_case = hardening.trials
    return hardening.rounds[columns].assign(
        hardening=hardening.name,
        title=hardening.title,
        controller=hardening.controller,
        opponent=hardening.opponent,
        network_titles=pd.Series([titles] * len(hardening.rounds)),
        tuning_trials=tuning,
        worst_case_trials=worst_case,
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
