"""Worst cases: the network on which a controller does worst, its run there, rounds of tuning."""

import json

import pandas as pd

from kneepoint.analysis.frames import (
    CONSTANT,
    Parts,
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
    HardeningRuns,
    Results,
    StudyRuns,
)
from kneepoint.common.tables import Tables
from kneepoint.config.study import WorstCase


def add(found: Parts, results: Results) -> None:
    """Adds to the tables worst_cases and hardening_rounds."""
    for study in results.studies:
        if isinstance(study.config.objective, WorstCase):
            _worst_case(found, results, study)
    for hardening in results.hardenings:
        found["hardening_rounds"].append(_rounds(results, hardening))


def _worst_case(found: Parts, results: Results, study: StudyRuns) -> None:
    """Adds the least trial and its first run."""
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
    failed = study.name not in results.worst_case_logs
    found["worst_cases"].append(pd.DataFrame([{**summary, "failed": failed}]))


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
