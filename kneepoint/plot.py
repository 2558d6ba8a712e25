"""Draws one run over time: rates above, delays below."""

from pathlib import Path

from reports import link_series
from reports.figures import delay_over_time, rate_over_time, style
from reports.link_log import read_link_log


def draw(log: Path, title: str, out: Path) -> None:
    """Draws the log of a run's uplink into a PNG, SVG or PDF file.

    Raises:
        KneepointError: the log is damaged.
    """
    events = read_link_log(log)
    metrics = link_series.metrics(events)
    with style.house():
        figure = style.page(5.2)
        figure.suptitle(title)
        above, below = figure.subplots(2, sharex=True)
        rate_over_time.onto(above, link_series.rates(events), metrics)
        signal, packets = link_series.signal_delay(events), link_series.packet_delays(events)
        delay_over_time.onto(below, signal, packets, metrics)
        above.set_xlabel("")
        out.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(out)
