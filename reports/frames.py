"""Rows of frames as plain dictionaries."""

from typing import Any, cast

import pandas as pd

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
