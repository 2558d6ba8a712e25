"""What did one run do, moment by moment? As mm-throughput-graph and mm-delay-graph show it."""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis import over_time
from analysis.frames import Record, select
from analysis.link_log import end_s
from common.tables import Tables
from reports.figures import each, style

_DASHED: Record = {"linewidth": 0.7, "dashes": (5, 3)}
_FILLED: Record = {"step": "post", "color": style.FAINT, "linewidth": 0}
_DOTS: Record = {"color": style.OURS, "markersize": 1.0, "markeredgewidth": 0, "rasterized": True}


def draw(run: Record, tables: Tables) -> Figure:
    """Rates and delays and, if its sender's log is there, window, queue and RTT."""
    return panels(select(tables["series"], run=run["run"]), run)


def panels(series: pd.DataFrame, run: Record, noun: str = "window") -> Figure:
    """Rates, delays, window and RTT of a run below each other, as far as they are known.

    Args:
        series: from `analysis.over_time`.
        run: its means and percentiles.
        noun: what the window is: a whole sender shows packets in flight only.
    """
    has_window = (series["quantity"] == over_time.WINDOW).any()
    figure = style.page(5.4 if has_window else 3.4)
    axes = figure.subplots(4 if has_window else 2, sharex=True)
    _draw_rates(axes[0], series, run)
    _draw_delays(axes[1], series, run)
    if has_window:
        _draw_window(axes[2], series, run["mean_window_packets"], noun)
        _draw_rtts(axes[3], series)
    axes[-1].set_xlim(0, end_s(select(series, quantity=over_time.RATES[0])["time_s"]))
    axes[-1].set_xlabel("Time (s)")
    for each_axes in axes:
        each_axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, markerscale=6)
    return figure


def _draw_rates(axes: Axes, series: pd.DataFrame, run: Record) -> None:
    """Capacity filled, what entered the queue, what left it; the last bin ends with a point."""
    rates = [select(series, quantity=name) for name in over_time.RATES]
    start_s = np.append(rates[0]["time_s"], end_s(rates[0]["time_s"]))
    capacity, ingress, egress = (np.append(r["value"], r["value"].iloc[-1]) for r in rates)
    what = f"capacity, mean {run['capacity_mbps']:.2f} Mbit/s"
    axes.fill_between(start_s, capacity, label=what, **_FILLED)
    wide: Record = {"color": style.ALTERNATE, "linewidth": 1.5, "alpha": 0.75, "label": "ingress"}
    axes.plot(start_s, ingress, drawstyle="steps-post", **wide)
    narrow: Record = {"color": style.OURS, "linewidth": 0.8}
    what = f"egress, mean {run['throughput_mbps']:.2f} Mbit/s"
    axes.plot(start_s, egress, drawstyle="steps-post", label=what, **narrow)
    axes.set(ylabel="Rate (Mbit/s)", ylim=(0, None))


def _draw_delays(axes: Axes, series: pd.DataFrame, run: Record) -> None:
    """Every packet's queueing delay as a dot, the signal delay as a line, their percentiles."""
    signal, packets, base = (
        select(series, quantity=name)
        for name in (over_time.SIGNAL, over_time.QUEUEING, over_time.BASE_DELAY)
    )
    late_ms, waited_ms = run["signal_delay_p95_ms"], run["queueing_delay_p95_ms"]
    if len(base) > 1:
        look: Record = {"drawstyle": "steps-post", "color": style.QUIET}
        last_s = end_s(select(series, quantity=over_time.RATES[0])["time_s"])
        time_s, delay_ms = [*base["time_s"], last_s], [*base["value"], base["value"].iloc[-1]]
        axes.plot(time_s, delay_ms, label="base delay, one way", **look)
    line: Record = {"color": style.ALTERNATE, "linewidth": 0.6, "rasterized": True}
    what = f"signal delay, 95th percentile {late_ms:.0f} ms"
    axes.plot(signal["time_s"], signal["value"], label=what, **line)
    what = f"queueing delay, 95th percentile {waited_ms:.0f} ms"
    axes.plot(packets["time_s"], packets["value"], ".", label=what, **_DOTS)
    axes.axhline(late_ms, color=style.ALTERNATE, **_DASHED)
    axes.axhline(waited_ms, color=style.OURS, **_DASHED)
    axes.set(ylabel="Delay (ms)", ylim=(0, None))


def _draw_window(axes: Axes, series: pd.DataFrame, mean_packets: float, noun: str) -> None:
    """The window as a line over the packets in the uplink's queue, filled."""
    window, queue = (select(series, quantity=name) for name in (over_time.WINDOW, over_time.QUEUE))
    filled = {**_FILLED, "label": "in the uplink's queue", "rasterized": True}
    axes.fill_between(queue["time_s"], queue["value"], **filled)
    look: Record = {"color": style.OURS, "linewidth": 0.7, "rasterized": True}
    what = f"{noun}, mean {mean_packets:.1f} packets"
    axes.plot(window["time_s"], window["value"], drawstyle="steps-post", label=what, **look)
    axes.set(ylabel=f"{noun.capitalize()} (packets)", ylim=(0, None))


def _draw_rtts(axes: Axes, series: pd.DataFrame) -> None:
    """The RTT of every acknowledgment, and the minimum; logarithmic: an outage is seconds long."""
    rtts = select(series, quantity=over_time.RTT)
    median, least = rtts["value"].median(), rtts["value"].min()
    axes.plot(rtts["time_s"], rtts["value"], ".", label=f"RTT, median {median:.0f} ms", **_DOTS)
    axes.axhline(least, color=style.ALTERNATE, label=f"minimum {least:.0f} ms", **_DASHED)
    limits = 0.8 * max(1.0, least), 1.2 * max(1.0, rtts["value"].max())
    axes.set(yscale="log", ylim=limits, ylabel="RTT (ms)")
    style.log_ticks(axes, "y", style.decades(*limits))


subjects = each("showcase", "run")
