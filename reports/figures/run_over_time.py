"""One run over time: rates and delays as in mm-throughput-graph and mm-delay-graph."""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kneepoint.analysis import over_time
from kneepoint.analysis.frames import Record, select
from kneepoint.analysis.link_log import end_s
from kneepoint.common.tables import Tables
from kneepoint.reports.figures import style

_DASHED: Record = {"linewidth": 0.7, "dashes": (5, 3)}
_FILLED: Record = {"step": "post", "color": style.FAINT, "linewidth": 0}
_DOTS: Record = {"color": style.OURS, "markersize": 1.0, "markeredgewidth": 0, "rasterized": True}


def draw(run: Record, tables: Tables) -> Figure:
    """Draws rates and delays and, with the sender's log, window, queue and RTT."""
    return panels(select(tables["series"], run=run["run"]), run)


def panels(
    series: pd.DataFrame, run: Record, noun: str = "window", with_queue: bool = False
) -> Figure:
    """Draws rates, delays, window and RTT of a run below each other, as far as they are known.

    Args:
        series: from `kneepoint.analysis.over_time`.
        run: its means and percentiles.
        noun: name of the window: for a whole sender, packets in flight.
        with_queue: whether to show the queue even without a window.
    """
    of = {str(quantity): part for quantity, part in series.groupby("quantity")}
    has_window = over_time.WINDOW in of
    has_queue = with_queue and over_time.QUEUE in of
    figure = style.page(5.4 if has_window else 4.4 if has_queue else 3.4)
    axes = figure.subplots(4 if has_window else 3 if has_queue else 2, sharex=True)
    last_s = end_s(of[over_time.RATES[-1]]["time_s"])
    for name in (*over_time.RATES, over_time.BASE_DELAY):  # the last bin ends with a point
        if name in of:
            of[name] = pd.concat([of[name], of[name][-1:].assign(time_s=last_s)])
    _draw_rates(axes[0], of, run)
    _draw_delays(axes[1], of, run)
    if has_window:
        _draw_window(axes[2], of, run["mean_window_packets"], noun)
        _draw_rtts(axes[3], of[over_time.RTT])
    elif has_queue:
        place = "in the queue" if over_time.QUEUEING in of else "in the queue and on the way"
        _draw_queue(axes[2], of[over_time.QUEUE], place)
    axes[-1].set(xlim=(0, last_s), xlabel="Time (s)")
    for each_axes in axes:
        if each_axes.get_legend_handles_labels()[0]:
            each_axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, markerscale=6)
    return figure


Series = dict[str, pd.DataFrame]
_PLACE = "time_s", "value"


def _draw_rates(axes: Axes, of: Series, run: Record) -> None:
    """Draws capacity (filled), ingress into the queue, and egress."""
    capacity, ingress, egress = over_time.RATES
    if capacity in of:
        what = f"capacity, mean {run['capacity_mbps']:.2f} Mbit/s"
        edges, rates = (of[capacity][name].to_numpy() for name in ("time_s", "value"))
        axes.stairs(rates[:-1], edges, fill=True, color=style.FAINT, linewidth=0, label=what)
    if ingress in of:
        wide: Record = {"color": style.ALTERNATE, "linewidth": 1.5, "alpha": 0.75}
        style.plot(axes, of[ingress], *_PLACE, drawstyle="steps-post", label="ingress", **wide)
    what = f"egress, mean {run['throughput_mbps']:.2f} Mbit/s"
    narrow: Record = {"color": style.OURS, "linewidth": 0.8, "label": what}
    style.plot(axes, of[egress], *_PLACE, drawstyle="steps-post", **narrow)
    axes.set(ylabel="Rate (Mbit/s)", ylim=(0, None))


def _draw_delays(axes: Axes, of: Series, run: Record) -> None:
    """Draws every packet's delay as a dot and the signal delay as a line, with percentiles."""
    base = of.get(over_time.BASE_DELAY)
    if base is not None and len(base) > 2:
        step: Record = {"drawstyle": "steps-post", "color": style.QUIET}
        style.plot(axes, base, *_PLACE, label="base delay, one way", **step)
    if over_time.SIGNAL in of:
        late_ms = run["signal_delay_p95_ms"]
        line: Record = {"color": style.ALTERNATE, "linewidth": 0.6, "rasterized": True}
        what = f"signal delay, 95th percentile {late_ms:.0f} ms"
        style.plot(axes, of[over_time.SIGNAL], *_PLACE, label=what, **line)
        axes.axhline(late_ms, color=style.ALTERNATE, **_DASHED)
    for quantity, key, noun in _DOTTED:
        if quantity in of and (waited_ms := run.get(key)) is not None:
            what = f"{noun}, 95th percentile {waited_ms:.0f} ms"
            style.plot(axes, of[quantity], *_PLACE, ".", label=what, **_DOTS)
            axes.axhline(waited_ms, color=style.OURS, **_DASHED)
    axes.set(ylabel="Delay (ms)", ylim=(0, None))


_DOTTED = (
    (over_time.QUEUEING, "queueing_delay_p95_ms", "queueing delay"),
    (over_time.DELAY, "delay_p95_ms", "one-way delay"),
    (over_time.RTT, "rtt_p95_ms", "RTT"),
)


def _draw_queue(axes: Axes, queue: pd.DataFrame, label: str) -> None:
    """Draws the queue length (filled)."""
    filled = {**_FILLED, "label": label, "rasterized": True}
    axes.fill_between(queue["time_s"], queue["value"], **filled)
    axes.set(ylabel="Queue (packets)", ylim=(0, None))


def _draw_window(axes: Axes, of: Series, mean_packets: float, noun: str) -> None:
    """Draws the window as a line over the uplink's queue length (filled)."""
    _draw_queue(axes, of[over_time.QUEUE], "in the uplink's queue")
    what = f"{noun}, mean {mean_packets:.1f} packets"
    line: Record = {"color": style.OURS, "linewidth": 0.7, "rasterized": True, "label": what}
    style.plot(axes, of[over_time.WINDOW], *_PLACE, drawstyle="steps-post", **line)
    axes.set(ylabel=f"{noun.capitalize()} (packets)", ylim=(0, None))


def _draw_rtts(axes: Axes, rtts: pd.DataFrame) -> None:
    """Draws the RTT of every acknowledgment and the minimum, on a log scale because of outages."""
    median, least = rtts["value"].median(), rtts["value"].min()
    style.plot(axes, rtts, *_PLACE, ".", label=f"RTT, median {median:.0f} ms", **_DOTS)
    axes.axhline(least, color=style.ALTERNATE, label=f"minimum {least:.0f} ms", **_DASHED)
    limits = 0.8 * max(1.0, least), 1.2 * max(1.0, rtts["value"].max())
    axes.set(yscale="log", ylim=limits, ylabel="RTT (ms)")
    style.log_ticks(axes, "y")
