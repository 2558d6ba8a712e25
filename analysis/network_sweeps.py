"""Network parameters that studies vary alone, and their effect on every flow and probe."""

import pandas as pd

from analysis import labels
from analysis.comparisons import figures_of, spread
from analysis.frames import CONSTANT, Record, together
from analysis.results import NetworkSweep, Results
from analysis.schema import STAGES
from common.tables import Tables

FEWEST = 3
"""Fewer values of a parameter make no sweep."""


def compute(results: Results, _: Tables) -> dict[str, pd.DataFrame]:
    """The stage: see `analysis.schema`. A search for the best value is no sweep."""
    sweeps, points = (table for table in STAGES["network_sweeps"].tables)
    found: dict[str, list[pd.DataFrame]] = {sweeps.name: [], points.name: []}
    for sweep in results.network_sweeps():
        trials = sweep.study.trials
        if sweep.study.sampler != "grid" or len(trials) < FEWEST:
            continue
        values = trials.set_index("trial")[CONSTANT + sweep.study.searched[0].name].astype(float)
        frame = spread(figures_of(sweep.compared))
        frame["value"] = frame["trial"].map(values)
        columns = [column.name for column in points.columns]
        found[sweeps.name].append(pd.DataFrame([_summary(sweep)]))
        found[points.name].append(frame.assign(study=sweep.study.name)[columns])
    return together(found)


def _summary(sweep: NetworkSweep) -> Record:
    (title,) = sweep.compared.networks.values()
    return {
        "study": sweep.study.name,
        "title": sweep.study.title,
        "label": labels.words(sweep.study.controller),
        "network_title": title,
        "traffic_title": sweep.study.traffic,
        "parameter": sweep.study.searched[0].name,
        "values": len(sweep.study.trials),
        "runs": len(sweep.compared.runs),
        "bdp_packets": sweep.bdp_packets,
    }
