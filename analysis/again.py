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
    further = beside_real(settings(tables), results.again, results.emulated)
    return {"again": told(rows[rows["inside"].eq(False)], further)}


def told(outside: pd.DataFrame, again: pd.DataFrame) -> pd.DataFrame:
    """Rows outside their prediction interval, with the means of further runs.

    Args:
        outside: rows of the table agreement.
        again: from `beside_real`, for the further runs of settings, if any.

    Returns:
        The rows with a column again_mean; NOT_AGAIN replaces UNEXPLAINED where it lies inside.
    """
    names = {"real_mean": "again_mean", "inside": "again_inside"}
    further = again[["trial", "metric", *names]].rename(columns=names)
    found = outside.merge(further, on=["trial", "metric"], how="left")
    is_inside = found.pop("again_inside").eq(True).fillna(False).astype(bool)
    return found.assign(why=found["why"].mask((found["why"] == UNEXPLAINED) & is_inside, NOT_AGAIN))
