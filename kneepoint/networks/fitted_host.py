"""Reads the host that a study fitted from its study.json, for networks with host_from."""

import math
from pathlib import Path

from kneepoint.common.errors import unusable
from kneepoint.common.study_record import StudyRecord

HOST = "host_"


def column_of_host(setting: str) -> str:
    """Returns the column of a searched host setting: host_SETTING, or host_latency_us."""
    return setting if setting.startswith(HOST) else HOST + setting


def read_fitted_host(study: Path) -> dict[str, float]:
    """Returns the host settings of the best trial in a study.json, under a network's names."""
    searched = StudyRecord.load_best(study).searched
    found = {setting_of(n): float(value) for n, value in searched.items() if n.startswith(HOST)}
    if not found or not all(map(math.isfinite, found.values())):
        raise unusable(study, "it has no host parameters, or a value is not finite")
    return found


def setting_of(column: str) -> str:
    """Returns the host setting of a column (see `column_of_host`)."""
    return column if column == "host_latency_us" else column.removeprefix(HOST)
