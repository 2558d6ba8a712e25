"""Rows of frames as plain dictionaries, and what else every frame of runs needs."""

import json
from typing import Any, cast

import pandas as pd

from reports.statistics import CONSTANT

Record = dict[str, Any]


def records(frame: pd.DataFrame) -> list[Record]:
    """Every row, in order."""
    return cast(list[Record], frame.to_dict("records"))


def record(frame: pd.DataFrame, label: int) -> Record:
    """The row of that label."""
    return cast(Record, frame.loc[label].to_dict())


def extremes(values: "pd.DataFrame | pd.Series[float]") -> tuple[float, float]:
    """The least and the greatest value, missing ones left out."""
    numbers = values.to_numpy(dtype=float).ravel()
    known = numbers[numbers == numbers]
    return float(known.min()), float(known.max())


def with_constants(runs: pd.DataFrame) -> pd.DataFrame:
    """The runs with a column `constant_<name>` for each constant that any of them has."""
    values = pd.DataFrame([json.loads(text) for text in runs["constants"]], index=runs.index)
    return runs.join(values.astype(float).add_prefix(CONSTANT))
