"""Plots one run over time: rates above, delays below."""

from dataclasses import asdict
from pathlib import Path

from analysis import link_log
from reports.figures import delay_over_time, rate_over_time, style


def draw(log: Path, title: str, out: Path) -> None:
    """Plots the uplink log of a run as a PNG, SVG or PDF file.

    Raises:
        KneepointError: the log is damaged.
    """
    events = link_log.read_link_log(log)
    run = asdict(link_log.metrics(events))
    rates, signal = link_log.rates(events), link_log.signal_delay(events)
    with style.house():
        figure = style.page(5.2)
        figure.suptitle(title)
        above, below = figure.subplots(2, sharex=True)
        rate_over_time.onto(above, rates, run)
        delay_over_time.onto(below, signal, link_log.packet_delays(events), rates, run)
        above.set_xlabel("")
        out.parent.mkdir(parents=True, exist_ok=True)
        style.lay_out(figure)
        figure.savefig(out)
