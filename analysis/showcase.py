"""One run over time: in the emulator, and in real mahimahi if it was made there, too."""

import json
from dataclasses import asdict

import pandas as pd

from analysis import link_log
from analysis.frames import together
from analysis.results import Results
from analysis.schema import STAGES
from common.tables import Tables
from experiments.config import EMULATOR, MAHIMAHI


def compute(results: Results, _: Tables) -> dict[str, pd.DataFrame]:
    """The stage: see `analysis.schema`."""
    found: dict[str, list[pd.DataFrame]] = {t.name: [] for t in STAGES["showcase"].tables}
    for engine in (EMULATOR, MAHIMAHI):
        shown = results.showcase(engine)
        if shown is None:
            continue
        metrics = link_log.metrics(shown.log)
        summary = {
            "engine": engine,
            "controller": shown.controller,
            "constants": json.dumps(dict(shown.constants)),
            "network": shown.network,
            "network_title": results.networks.get(shown.network, shown.network),
            **asdict(metrics),
            "power": metrics.power,
            "utilization": metrics.throughput_mbps / metrics.capacity_mbps,
        }
        run = shown.controller if engine == EMULATOR else f"real-{shown.controller}"
        for name, frame in (
            ("showcase", pd.DataFrame([summary])),
            ("showcase_rates", pd.DataFrame(link_log.rates(shown.log))),
            ("showcase_packets", pd.DataFrame(link_log.packet_delays(shown.log))),
            ("showcase_signal", pd.DataFrame(link_log.signal_delay(shown.log))),
        ):
            found[name].append(frame.assign(run=run))
    return together(found)
