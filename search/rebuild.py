"""Rebuilds a study's copy for Optuna from its tables, which are the record."""

import json
import math
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from optuna.distributions import BaseDistribution, FloatDistribution, IntDistribution
from optuna.study import StudyDirection
from optuna.trial import TrialState, create_trial

from common.errors import unusable
from search.optuna_journal import OptunaJournal

_OF_TABLE = ("study", "trial", "state", "value", "reason", "n_runs")


def rebuild_missing(results: Path) -> list[str]:
    """Rebuilds optuna.journal beside every study.json that has none; returns the studies' names."""
    folders = [path.parent for path in sorted(results.glob("*/study.json"))]
    missing = [folder for folder in folders if not (folder / "optuna.journal").exists()]
    for folder in missing:
        rebuild(folder)
    return [folder.name for folder in missing]


def rebuild(folder: Path) -> None:
    """Writes optuna.journal of a study from its study.json and trials.parquet.

    Raises:
        KneepointError: a table is missing or damaged.
    """
    try:
        known: dict[str, Any] = json.loads((folder / "study.json").read_bytes())
        rows = pq.ParquetFile(folder / "trials.parquet").read().to_pylist()
        searched = {each["column"]: each for each in known["searched"]}
        direction = StudyDirection[known["direction"].upper()]
        trials = [(row, _distributions(row, searched)) for row in rows]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise unusable(folder / "trials.parquet", error) from None
    copy = OptunaJournal(folder / "optuna.journal", folder.name, direction, known)
    for row, distributions in trials:
        state = TrialState[row["state"]]
        told = state in (TrialState.COMPLETE, TrialState.PRUNED) and math.isfinite(row["value"])
        trial = create_trial(
            state=state,
            value=row["value"] if told else None,
            params={name: row[name] for name in distributions},
            distributions=distributions,
        )
        others = {k: v for k, v in row.items() if k not in distributions and k not in _OF_TABLE}
        copy.add(trial, {**others, **({"reason": row["reason"]} if row["reason"] else {})})
    copy.publish()


def _distributions(row: dict[str, Any], searched: dict[str, Any]) -> dict[str, BaseDistribution]:
    found: dict[str, BaseDistribution] = {}
    for name, each in searched.items():
        whole = isinstance(row[name], int)
        kind: Any = IntDistribution if whole else FloatDistribution
        found[name] = kind(each["low"], each["high"], log=bool(each["log"]))
    return found
