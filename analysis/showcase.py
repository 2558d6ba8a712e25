"""One run over time: in the emulator, and in real mahimahi if it ran there too."""

import json
import math
from dataclasses import asdict

import pandas as pd

from analysis import link_log, over_time
from analysis.frames import together
from analysis.results import Results
from experiments.models.study import EMULATOR, MAHIMAHI


def compute(results: Results) -> dict[str, pd.DataFrame]:
    """The tables showcase and series."""
    found: dict[str, list[pd.DataFrame]] = {"showcase": [], "series": []}
    for engine in (EMULATOR, MAHIMAHI):
        shown = results.showcase(engine)
        if shown is None:
            continue
        run = shown.controller if engine == EMULATOR else f"real-{shown.controller}"
        metrics, flow = link_log.metrics(shown.log), shown.flow
        summary = {
            "run": run,
            "engine": engine,
            "controller": shown.controller,
            "constants": json.dumps(dict(shown.constants)),
            "network": shown.network,
            "network_title": results.networks.get(shown.network, shown.network),
            **asdict(metrics),
            "power": metrics.power,
            "utilization": metrics.throughput_mbps / metrics.capacity_mbps,
            "mean_window_packets": flow.mean_window(shown.log.last_ms / 1000) if flow else math.nan,
        }
        found["showcase"].append(pd.DataFrame([summary]))
        found["series"].append(over_time.of_logs(shown.log, flow, run))
    return together(found)
