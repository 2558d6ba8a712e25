"""The host that a study fitted: from its study.json into the networks that name it."""

import math
from collections.abc import Mapping
from pathlib import Path

from common.errors import unusable
from common.files import read_json

HOST = "host_"


def column_of_host(setting: str) -> str:
    """Returns the column of a searched host setting; host_latency_us is a column name already."""
    return setting if setting.startswith(HOST) else HOST + setting


def read_fitted_host(study: Path) -> dict[str, float]:
    """Returns the host settings of a study's best trial, by a network's names for them.

    Args:
        study: its study.json.

    Raises:
        KneepointError: the file is missing or damaged, or the study searched no host.
    """
    try:
        searched: Mapping[str, float] = read_json(study)["best"]["searched"]
        columns = {name: float(value) for name, value in searched.items() if name.startswith(HOST)}
        if not columns or not all(map(math.isfinite, columns.values())):
            raise ValueError("it has no host parameters")
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise unusable(study, error) from None
    return {setting_of(column): value for column, value in columns.items()}


def setting_of(column: str) -> str:
    """Returns the host setting of a column: see `column_of_host`."""
    return column if column == "host_latency_us" else column.removeprefix(HOST)
