"""One run over time: in the emulator, and in real mahimahi if it ran there too."""

import json
import math
from dataclasses import asdict

import pandas as pd

from analysis import link_log
from analysis.frames import together
from analysis.results import Results
from analysis.schema import STAGES
from common.tables import Tables
from experiments.models.study import EMULATOR, MAHIMAHI


def compute(results: Results, _: Tables) -> dict[str, pd.DataFrame]:
    """The stage: see `analysis.schema`."""
    found: dict[str, list[pd.DataFrame]] = {t.name: [] for t in STAGES["showcase"].tables}
    for engine in (EMULATOR, MAHIMAHI):
        shown = results.showcase(engine)
        if shown is None:
            continue
        metrics = link_log.metrics(shown.log)
        signal, packets = link_log.signal_delay(shown.log), link_log.packet_delays(shown.log)
        queue = pd.DataFrame(link_log.queue_length(shown.log))
        queue = queue.drop_duplicates("time_ms", keep="last")
        queue = queue[queue["packets"].diff() != 0]
        delays = {"queueing delay": packets["delay_ms"], "signal delay": signal["delay_ms"]}
        summary = {
            "engine": engine,
            "controller": shown.controller,
            "constants": json.dumps(dict(shown.constants)),
            "network": shown.network,
            "network_title": results.networks.get(shown.network, shown.network),
            **asdict(metrics),
            "power": metrics.power,
            "utilization": metrics.throughput_mbps / metrics.capacity_mbps,
            "mean_window_packets": math.nan,
        }
        run = shown.controller if engine == EMULATOR else f"real-{shown.controller}"
        if shown.flow is not None:
            delays["RTT"] = shown.flow.rtt_ms
            summary["mean_window_packets"] = shown.flow.mean_window(shown.log.last_ms / 1000)
            rtts = {"time_s": shown.flow.rtt_s, "rtt_ms": shown.flow.rtt_ms}
            found["showcase_windows"].append(pd.DataFrame(shown.flow.windows()).assign(run=run))
            found["showcase_rtts"].append(pd.DataFrame(rtts).assign(run=run))
        distributions = [
            pd.DataFrame(link_log.distribution(of)).assign(what=what) for what, of in delays.items()
        ]
        for name, frame in (
            ("showcase", pd.DataFrame([summary])),
            ("showcase_rates", pd.DataFrame(link_log.rates(shown.log))),
            ("showcase_packets", pd.DataFrame(packets)),
            ("showcase_signal", pd.DataFrame(signal)),
            ("showcase_queue", queue),
            ("showcase_distributions", pd.concat(distributions)),
        ):
            found[name].append(frame.assign(run=run))
    return together(found)
