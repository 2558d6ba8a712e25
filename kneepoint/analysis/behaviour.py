"""Worst cases, and rounds of tuning against them."""

import pandas as pd

from kneepoint.analysis import worst_cases
from kneepoint.analysis.frames import Parts, together
from kneepoint.analysis.results import Results
from kneepoint.common.tables import Tables


def compute(results: Results, _: Tables) -> dict[str, pd.DataFrame]:
    """The stage: see `kneepoint.analysis.schema`."""
    found = Parts(list)
    worst_cases.add(found, results)
    return together(found)
