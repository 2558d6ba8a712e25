"""Whether what was found holds elsewhere: on held-out networks, against what was published."""

import pandas as pd

from analysis import generality, held_out, planes, tuning
from analysis.results import Results
from analysis.schema import STAGES
from common.tables import Tables


def compute(results: Results, _: Tables) -> dict[str, pd.DataFrame]:
    """The stage: see `analysis.schema`."""
    found = results.hold_out()
    if found is None:
        return {table.name: pd.DataFrame() for table in STAGES["elsewhere"].tables}
    told = held_out.compute(results, found)
    return {
        **told,
        "planes": planes.compute(found),
        "generality": generality.compute(results, found),
        "tuning": tuning.compute(results, told),
    }
