"""Further real runs of settings that the emulator does not predict."""

import pandas as pd

from analysis.agreement import beside_real, settings
from analysis.results import Results
from common.tables import Tables
from experiments.exchanged import UNEXPLAINED

NOT_AGAIN = "not again"
"""Why a real mean lies outside its prediction interval: further runs do not show it again."""


def compute(results: Results, tables: Tables) -> dict[str, pd.DataFrame]:
    """The stage: see `analysis.schema`."""
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
