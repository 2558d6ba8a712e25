"""How controllers behave: one run over time, comparisons, sweeps of a network, worst cases."""

import json
import math

import pandas as pd

from kneepoint.analysis import (
    comparisons,
    link_log,
    over_time,
    worst_cases,
)
from kneepoint.analysis.flow_log import mean_window
from kneepoint.analysis.frames import Parts, together
from kneepoint.analysis.results import Results
from kneepoint.common.tables import Tables
from kneepoint.config.study import EMULATOR, MAHIMAHI


def compute(results: Results, _: Tables) -> dict[str, pd.DataFrame]:
    """The stage: see `kneepoint.analysis.schema`."""
    found = Parts(list)
    _showcase(found, results)
    comparisons.add(found, results)
    worst_cases.add(found, results)
    return together(found)


def _showcase(found: Parts, results: Results) -> None:
    """Adds one run over time: in the emulator, and in real mahimahi if it ran there too."""
    for engine, shown in ((EMULATOR, results.showcase), (MAHIMAHI, results.real_showcase)):
        if shown is None:
            continue
        controller, network = shown.config.controller, shown.config.network
        run = controller if engine == EMULATOR else f"real-{controller}"
        metrics, flow = link_log.metrics(shown.log), shown.flow
        end_s = shown.log["time_ms"].iloc[-1] / 1000
        summary = {
            "run": run,
            "engine": engine,
            "controller": controller,
            "constants": json.dumps(dict(shown.config.constants)),
            "network": network,
            "network_title": results.title(network),
            **metrics,
            "utilization": metrics["throughput_mbps"] / metrics["capacity_mbps"],
            "mean_window_packets": math.nan if flow is None else mean_window(flow, end_s),
        }
        found["showcase"].append(pd.DataFrame([summary]))
        found["series"].append(over_time.of_logs(shown.log, flow, run))
