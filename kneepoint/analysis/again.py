"""Further real runs of settings that the emulator does not predict."""

import pandas as pd

from kneepoint.analysis.agreement import beside_real, settings
from kneepoint.analysis.results import Results
from kneepoint.common.tables import Tables
from kneepoint.runs.exchanged import UNEXPLAINED

NOT_AGAIN = "not again"
"""Why a real mean lies outside its prediction interval: further runs do not show it again."""


def compute(results: Results, tables: Tables) -> dict[str, pd.DataFrame]:
    """The stage: see `kneepoint.analysis.schema`."""
    rows = tables["agreement"]
    if rows.empty:
        return {}
    names = {"real_mean": "again_mean", "inside": "again_inside"}
    again = beside_real(settings(tables), results.again, results.emulated)
    again = again[["trial", "metric", *names]].rename(columns=names)
    found = rows[rows["inside"].eq(False)].merge(again, on=["trial", "metric"])
    is_inside = found.pop("again_inside").fillna(False).astype(bool)
    why = found["why"].mask((found["why"] == UNEXPLAINED) & is_inside, NOT_AGAIN)
    return {"again": found.assign(why=why)}
