"""Further real runs of settings that the emulator does not predict."""

import pandas as pd

from kneepoint.analysis.results import Results
from kneepoint.common.tables import Tables, real, table
from kneepoint.questions.real.plan import UNEXPLAINED
from kneepoint.questions.real.tables import COLUMNS, beside_real, settings

NOT_AGAIN = "not again"
"""The explanation of a real mean outside its prediction interval if further runs are inside."""

TABLES = (
    table(
        "again",
        "a real mean outside its prediction interval, and the mean of further runs",
        COLUMNS,
        real("again_mean"),
    ),
)


def compute(results: Results, tables: Tables) -> dict[str, pd.DataFrame]:
    """Makes the table; empty without real runs."""
    rows = tables["agreement"]
    if rows.empty:
        return {}
    names = {"real_mean": "again_mean", "inside": "again_inside"}
    further = beside_real(settings(tables), results.table("again"), results.table("agreement"))
    further = further[["trial", "metric", *names]].rename(columns=names)
    found = rows[rows["inside"].eq(False)].merge(further, on=["trial", "metric"])
    is_inside = found.pop("again_inside").fillna(False).astype(bool)
    why = found["why"].mask((found["why"] == UNEXPLAINED) & is_inside, NOT_AGAIN)
    return {"again": found.assign(why=why)}
