"""Plots one run over time: rates, delays, and what its sender knew: window and RTT."""

from dataclasses import asdict
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from analysis import link_log
from analysis.flow_log import FlowLog, read_flow_log
from analysis.link_log import LinkLog
from reports.figures import delay_over_time, rate_over_time, style


def draw(log: Path, flow_log: Path | None, title: str, out: Path) -> None:
    """Plots a run as a PNG, SVG or PDF file.

    Args:
        log: of its uplink.
        flow_log: of its sender; None: without window and RTT.
        title: above the panels.
        out: the file.

    Raises:
        KneepointError: a log is damaged.
    """
    events = link_log.read_link_log(log)
    flow = read_flow_log(flow_log) if flow_log else None
    run = asdict(link_log.metrics(events))
    rates, signal = link_log.rates(events), link_log.signal_delay(events)
    with style.house():
        figure = style.page(5.2 if flow is None else 9.0)
        figure.suptitle(title)
        panels = figure.subplots(2 if flow is None else 4, sharex=True)
        rate_over_time.onto(panels[0], rates, run)
        delay_over_time.onto(panels[1], signal, link_log.packet_delays(events), rates, run)
        if flow is not None:
            _window(panels[2], flow, events)
            _rtt(panels[3], flow)
        for above in panels[:-1]:
            above.set_xlabel("")
        panels[-1].set_xlabel("Time (s)")
        out.parent.mkdir(parents=True, exist_ok=True)
        style.lay_out(figure)
        figure.savefig(out)


def _window(axes: Axes, flow: FlowLog, events: LinkLog) -> None:
    """The sender's window, before the packets of it that wait in the uplink's queue."""
    queue = link_log.queue_length(events)
    axes.fill_between(
        queue["time_ms"] / 1000,
        queue["packets"],
        step="post",
        color=style.FAINT,
        linewidth=0,
        label="in the uplink's queue",
        rasterized=True,
    )
    mean = flow.mean_window(events.last_ms / 1000)
    axes.plot(
        flow.window_s,
        flow.window_packets,
        drawstyle="steps-post",
        color=style.OURS,
        linewidth=0.7,
        label=f"window, mean {mean:.1f} packets",
        rasterized=True,
    )
    axes.set_ylim(bottom=0)
    axes.set_ylabel("Window (packets)")
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)


def _rtt(axes: Axes, flow: FlowLog) -> None:
    """The RTT of every acknowledgment, on a logarithmic axis: an outage is seconds long."""
    median, least = float(np.median(flow.rtt_ms)), float(flow.rtt_ms.min())
    axes.plot(
        flow.rtt_s,
        flow.rtt_ms,
        ".",
        color=style.OURS,
        markersize=1.0,
        markeredgewidth=0,
        label=f"RTT, median {median:.0f} ms",
        rasterized=True,
    )
    axes.axhline(
        least, color=style.ALTERNATE, linewidth=0.7, dashes=(5, 3), label=f"least {least:.0f} ms"
    )
    low, high = 0.8 * max(1.0, least), 1.2 * max(1.0, float(flow.rtt_ms.max()))
    axes.set(yscale="log", ylim=(low, high), ylabel="RTT (ms)")
    axes.minorticks_off()
    style.log_ticks(axes, "y", style.decades(low, high))
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2, markerscale=6)
