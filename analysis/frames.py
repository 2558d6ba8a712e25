"""Rows of frames as plain dictionaries, and what else every frame of runs needs."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:  # slow to import, and a plot of one run does without
    import pandas as pd

CONSTANT = "constant_"
"""The prefix of a column that holds a constant."""
STEP = "step_"
"""Before a metric: the worth of one in the last digit of its published value."""
Record = dict[str, Any]


def records(frame: "pd.DataFrame") -> list[Record]:
    """Every row, in order."""
    return cast(list[Record], frame.to_dict("records"))


def record(frame: "pd.DataFrame", label: int) -> Record:
    """The row of that label."""
    return cast(Record, frame.loc[label].to_dict())


def select(frame: "pd.DataFrame", **values: object) -> "pd.DataFrame":
    """The rows that have these values, renumbered."""
    for name, value in values.items():
        frame = frame[frame[name] == value]
    return frame.reset_index(drop=True)


def extremes(values: "pd.DataFrame | pd.Series[float]") -> tuple[float, float]:
    """The least and the greatest value, missing ones left out."""
    numbers = values.to_numpy(dtype=float).ravel()
    known = numbers[numbers == numbers]
    return float(known.min()), float(known.max())


def with_constants(runs: "pd.DataFrame") -> "pd.DataFrame":
    """The runs with a column `constant_<name>` for each constant that any of them has."""
    import pandas as pd

    texts = runs["constants"].drop_duplicates()
    values = pd.DataFrame([json.loads(text) for text in texts], index=texts).astype(float)
    columns = values.add_prefix(CONSTANT).loc[runs["constants"]].set_index(runs.index)
    return runs.join(columns)


def together(frames: Mapping[str, Sequence["pd.DataFrame"]]) -> dict[str, "pd.DataFrame"]:
    """Each table's frames as one; a frame without columns where there are none."""
    import pandas as pd

    return {
        name: pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()
        for name, parts in frames.items()
    }
