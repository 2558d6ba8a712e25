"""Rebuilds a study's copy for Optuna from its tables, which are the record."""

import math
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from optuna.distributions import BaseDistribution, FloatDistribution, IntDistribution
from optuna.study import StudyDirection
from optuna.trial import TrialState, create_trial

from common.errors import unusable
from common.files import read_json
from experiments.results import OBJECTIVES, TRIAL_METRICS, VIOLATION
from search.loop import FRONT
from search.optuna_journal import OptunaJournal


def rebuild_missing(results: Path) -> list[str]:
    """Rebuilds optuna.journal beside every study.json that has none; returns the studies' names."""
    folders = [path.parent for path in sorted(results.glob("*/study.json"))]
    missing = [folder for folder in folders if not (folder / "optuna.journal").exists()]
    for folder in missing:
        rebuild(folder)
    return [folder.name for folder in missing]


def rebuild(folder: Path) -> None:
    """Writes optuna.journal of a study from its study.json and trials.parquet.

    The table lacks the step-by-step reports of raced trials, which are recomputed from their runs.

    Raises:
        KneepointError: a table is missing or damaged.
    """
    try:
        known: dict[str, Any] = read_json(folder / "study.json")
        rows = pq.ParquetFile(folder / "trials.parquet").read().to_pylist()
        searched = {each["column"]: each for each in known["searched"]}
        directions = [StudyDirection[known["direction"].upper()]]
        if rows and OBJECTIVES[0] in rows[0]:
            directions = FRONT
        trials = [(row, _distributions(row, searched)) for row in rows]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise unusable(folder / "trials.parquet", error) from None
    copy = OptunaJournal(folder / "optuna.journal", folder.name, directions, known)
    for row, distributions in trials:
        state = TrialState[row["state"]]
        values = [row[name] for name in OBJECTIVES] if len(directions) > 1 else [row["value"]]
        trial = create_trial(
            state=state,
            values=values if state == TrialState.COMPLETE else None,
            params={name: row[name] for name in distributions},
            distributions=distributions,
        )
        means = {name: row[name] for name in TRIAL_METRICS if not math.isnan(row[name])}
        reason = {"reason": row["reason"]} if row["reason"] else {}
        copy.add(trial, {**means, **reason}, row.get(VIOLATION))
    copy.publish()


def _distributions(row: dict[str, Any], searched: dict[str, Any]) -> dict[str, BaseDistribution]:
    found: dict[str, BaseDistribution] = {}
    for name, each in searched.items():
        whole = isinstance(row[name], int)
        kind: Any = IntDistribution if whole else FloatDistribution
        found[name] = kind(each["low"], each["high"], log=bool(each["log"]))
    return found
