"""Rows of frames as plain dictionaries, and other helpers for frames of runs."""

from collections import defaultdict
from typing import TYPE_CHECKING, Any, cast

from kneepoint.common.json_text import parse_json

if TYPE_CHECKING:  # slow to import, and not needed to plot one run
    import pandas as pd

CONSTANT = "constant_"
"""The prefix of a column that holds a constant."""
STEP = "step_"
"""Prefix of a metric: the value of one unit in the last digit of its published value."""
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


def constants_in(frame: "pd.DataFrame", varied: bool = False) -> list[str]:
    """The columns that hold constants; only those of several values, if `varied`."""
    columns = [str(name) for name in frame.columns if str(name).startswith(CONSTANT)]
    return [name for name in columns if not varied or frame[name].nunique() > 1]


def with_constants(runs: "pd.DataFrame") -> "pd.DataFrame":
    """The runs with a column `constant_<name>` for each constant that any of them has."""
    import pandas as pd

    texts = runs["constants"].drop_duplicates()
    values = pd.DataFrame([parse_json(text) for text in texts], index=texts).astype(float)
    columns = values.add_prefix(CONSTANT).loc[runs["constants"]].set_index(runs.index)
    return runs.join(columns)


Parts = defaultdict[str, list["pd.DataFrame"]]
"""Frames by the table that they are part of."""


def together(parts: Parts) -> dict[str, "pd.DataFrame"]:
    """Concatenates each table's frames; a table without a row is left out."""
    import pandas as pd

    return {
        name: pd.concat(frames, ignore_index=True)
        for name, every in parts.items()
        if (frames := [frame for frame in every if len(frame)])
    }
