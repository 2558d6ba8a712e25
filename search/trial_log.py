"""trials.jsonl: the finished trials of a running study, for the dashboard and `kneepoint status`.

The first line describes the study; every other line is a trial: its row of trials.parquet and, in a
race, its reports. The file is written anew whenever the study starts; studies never resume from it.
"""

import errno
import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from kneepoint.common.errors import KneepointError, unusable, writing
from kneepoint.common.files import read_json
from kneepoint.common.json_text import parse_json
from kneepoint.common.tables import read
from kneepoint.runs.results import TRIALS, FinishedTrial, trial_row

TRIAL_LOG = "trials.jsonl"


@contextmanager
def open_log(
    folder: Path, study: str, known: Mapping[str, Any]
) -> Iterator[Callable[[FinishedTrial], None]]:
    """Starts the log of a study; provides the function that appends a trial.

    Args:
        folder: of the study's results.
        study: its name.
        known: its description, the first line.
    """
    path = folder / TRIAL_LOG
    with writing(path):
        file = path.open("wb", buffering=0)
    with file:

        def write(row: Mapping[str, Any]) -> None:
            line = f"{json.dumps(row)}\n".encode()
            with writing(path):
                if file.write(line) < len(line):  # a full disk takes a part of it
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

        write(known)
        yield lambda trial: write({**trial_row(study, trial), "reports": trial.reports})


def read_trials(folder: Path) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Returns a study's description and a row per trial, from its log or else its tables.

    Raises:
        KneepointError: a file is missing or damaged.
    """
    path = folder / TRIAL_LOG
    try:
        if path.exists():
            lines = path.read_bytes().splitlines(keepends=True)
            whole = [parse_json(line) for line in lines if line.endswith(b"\n")]
            known, rows = (whole[0], whole[1:]) if whole else ({}, [])
            return {**known, **_outcome(folder, len(rows))}, rows
    except (OSError, ValueError, TypeError) as error:
        raise KneepointError(f"{path}: cannot be read ({error}); remove it") from None
    return _summary(folder), read(folder / "trials.parquet", TRIALS).to_pylist()


def _outcome(folder: Path, trials: int) -> dict[str, Any]:
    """Returns the outcome of a finished study, if study.json counts the `trials` of its log."""
    if not (folder / "study.json").exists():
        return {}
    found = _summary(folder)
    is_its = found.get("n_trials") == trials
    return {name: found[name] for name in ("best", "failed") if is_its and name in found}


def _summary(folder: Path) -> dict[str, Any]:
    path = folder / "study.json"
    try:
        found: dict[str, Any] = read_json(path)
    except (OSError, ValueError) as error:
        raise unusable(path, error) from None
    return found
