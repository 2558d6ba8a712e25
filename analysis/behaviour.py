"""How controllers behave: one run over time, comparisons, sweeps of a network, worst cases."""

from collections.abc import Mapping

import pandas as pd

from analysis import comparisons, showcase, worst_cases
from analysis.frames import together
from analysis.results import Results
from analysis.schema import STAGES
from common.tables import Tables


def compute(results: Results, _: Tables) -> Mapping[str, pd.DataFrame]:
    """The stage: see `analysis.schema`."""
    parts = [each.compute(results) for each in (showcase, comparisons, worst_cases)]
    return together(
        {
            table.name: [part[table.name] for part in parts if len(part.get(table.name, ()))]
            for table in STAGES["behaviour"].tables
        }
    )
