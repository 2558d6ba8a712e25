"""The host that a study fitted: from its study.json into the networks that name it."""

import math
from pathlib import Path

from kneepoint.common.errors import unusable
from kneepoint.common.study_record import StudyRecord

HOST = "host_"


def column_of_host(setting: str) -> str:
    """Returns the column of a searched host setting; host_latency_us is a column name already."""
    return setting if setting.startswith(HOST) else HOST + setting


def read_fitted_host(study: Path) -> dict[str, float]:
    """Returns the host settings of the best trial in a study.json, as a network names them."""
    searched = StudyRecord.load_best(study).searched
    found = {setting_of(n): float(value) for n, value in searched.items() if n.startswith(HOST)}
    if not found or not all(map(math.isfinite, found.values())):
        raise unusable(study, "it has no host parameters")
    return found


def setting_of(column: str) -> str:
    """Returns the host setting of a column: see `column_of_host`."""
    return column if column == "host_latency_us" else column.removeprefix(HOST)
