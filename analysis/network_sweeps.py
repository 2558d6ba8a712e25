"""Network parameters that studies vary alone, and their effect on every flow and probe."""

import pandas as pd

from analysis import labels
from analysis.comparisons import figures_of, spread
from analysis.frames import CONSTANT, Record, together
from analysis.results import NetworkSweep, Results
from analysis.schema import TABLES

FEWEST = 3
"""Fewer values of a parameter make no sweep."""


def compute(results: Results) -> dict[str, pd.DataFrame]:
    """The tables network_sweeps and network_sweep_points. A search for the best value is none."""
    found: dict[str, list[pd.DataFrame]] = {"network_sweeps": [], "network_sweep_points": []}
    for sweep in results.network_sweeps():
        trials = sweep.study.trials
        if sweep.study.sampler != "grid" or len(trials) < FEWEST:
            continue
        values = trials.set_index("trial")[CONSTANT + sweep.study.searched[0].name].astype(float)
        frame = spread(figures_of(sweep.compared))
        frame["value"] = frame["trial"].map(values)
        columns = [column.name for column in TABLES["network_sweep_points"].columns]
        found["network_sweeps"].append(pd.DataFrame([_summary(sweep)]))
        found["network_sweep_points"].append(frame.assign(study=sweep.study.name)[columns])
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
