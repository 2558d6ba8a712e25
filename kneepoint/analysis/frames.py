"""Rows of frames as plain dictionaries, and other helpers for frames of runs."""

from collections import defaultdict
from typing import TYPE_CHECKING, Any, cast

from kneepoint.common.json_text import parse_json

if TYPE_CHECKING:  # slow to import, and not needed to plot a run
    import pandas as pd

PARAMETER = "parameter_"
"""Prefix of columns with parameters of a controller."""
STEP = "step_"
"""Prefix of columns with the value of one unit in the last digit of a published metric."""
Record = dict[str, Any]


def records(frame: "pd.DataFrame") -> list[Record]:
    """Returns every row, in order."""
    return cast(list[Record], frame.to_dict("records"))


def record(frame: "pd.DataFrame", label: int) -> Record:
    """Returns the row with this label."""
    return cast(Record, frame.loc[label].to_dict())


def select(frame: "pd.DataFrame", **values: object) -> "pd.DataFrame":
    """Returns the rows with these values, renumbered."""
    for name, value in values.items():
        frame = frame[frame[name] == value]
    return frame.reset_index(drop=True)


def extremes(values: "pd.DataFrame | pd.Series[float]") -> tuple[float, float]:
    """Returns the minimum and the maximum, ignoring missing values."""
    numbers = values.to_numpy(dtype=float).ravel()
    known = numbers[numbers == numbers]
    return float(known.min()), float(known.max())


def parameters_in(frame: "pd.DataFrame", varied: bool = False) -> list[str]:
    """Returns the columns of parameters; if `varied`, only columns with several values."""
    columns = [str(name) for name in frame.columns if str(name).startswith(PARAMETER)]
    return [name for name in columns if not varied or frame[name].nunique() > 1]


def with_parameters(runs: "pd.DataFrame") -> "pd.DataFrame":
    """Returns the runs with a column `parameter_<name>` for every parameter of any run."""
    import pandas as pd

    texts = runs["parameters"].drop_duplicates()
    values = pd.DataFrame([parse_json(text) for text in texts], index=texts).astype(float)
    columns = values.add_prefix(PARAMETER).loc[runs["parameters"]].set_index(runs.index)
    return runs.join(columns)


Parts = defaultdict[str, list["pd.DataFrame"]]
"""Frames, by the table to which they belong."""


def together(parts: Parts) -> dict[str, "pd.DataFrame"]:
    """Concatenates the frames of each table; tables without rows are left out."""
    import pandas as pd

    return {
        name: pd.concat(frames, ignore_index=True)
        for name, every in parts.items()
        if (frames := [frame for frame in every if len(frame)])
    }
