"""Quantities of a run over time, in long form: a row for each value of a quantity.

The rates of a link are means over the bin that starts at the given time, and the rates of a flow
means over the interval that ends at it. A packet's queueing delay has the time of its departure.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from kneepoint.analysis import link_log
from kneepoint.analysis.flow_log import FlowLog
from kneepoint.analysis.link_log import LinkLog

RATES = ("capacity_mbps", "ingress_mbps", "egress_mbps")
QUEUEING, SIGNAL, QUEUE = "queueing_delay_ms", "signal_delay_ms", "queue_packets"
WINDOW, RTT, BASE_DELAY = "window_packets", "rtt_ms", "base_delay_ms"
DELAY = "delay_ms"
"""One-way delay including propagation, as other tools measure it."""


def of_logs(log: LinkLog, flow: FlowLog | None = None, run: str = "") -> pd.DataFrame:
    """Returns the quantities in the logs of a run, in the form of `long`.

    Queue and window have a row for every change; the window also has a row at the end.
    """
    rates, signal = link_log.rates(log), link_log.signal_delay(log)
    packets, queue = link_log.departures(log), link_log.queue_length(log)
    queue = queue[queue["packets"].diff() != 0]
    found = {
        **{name: (rates["start_s"], rates[name]) for name in RATES},
        QUEUEING: (packets["time_ms"] / 1000, packets["delay_ms"]),
        SIGNAL: (signal["time_ms"] / 1000, signal["delay_ms"]),
        QUEUE: (queue["time_ms"] / 1000, queue["packets"]),
    }
    if flow is not None:
        changes = flow[WINDOW].diff() != 0
        changes.iloc[-1] = True
        windows, acks = flow[changes], flow.dropna(subset=[RTT])
        found |= {WINDOW: (windows["time_s"], windows[WINDOW]), RTT: (acks["time_s"], acks[RTT])}
    return long(found, run)


def long(
    found: Mapping[str, tuple[Any, Any]], run: str = "", flow: str | None = None
) -> pd.DataFrame:
    """Returns the times (s) and values of the quantities of a run, or of one of its flows.

    Returns:
        Columns run, flow, quantity, time_s, value; quantity after quantity.
    """
    return pd.concat(
        [
            pd.DataFrame({"time_s": time_s, "value": values})
            .astype(float)
            .assign(run=run, flow=flow, quantity=name)
            for name, (time_s, values) in found.items()
        ],
        ignore_index=True,
    )
