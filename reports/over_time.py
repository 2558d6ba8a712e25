"""Plots one run over time: rates, delays, and the sender's window and RTT."""

from contextlib import closing
from pathlib import Path

import pandas as pd

from kneepoint.analysis import link_log, over_time
from kneepoint.analysis.flow_log import mean_window, read_flow_log
from kneepoint.analysis.frames import Record
from kneepoint.common.files import private_folder
from kneepoint.engines.base import EngineSettings, RunRecord, RunSpec, run_reliably
from kneepoint.reports.figures import run_over_time, style


def run_and_draw(
    settings: EngineSettings,
    spec: RunSpec,
    title: str,
    out: Path,
    noun: str = "window",
    dpi: float | None = None,
) -> RunRecord:
    """Executes a run, and plots it if it succeeds; see `draw`."""
    with private_folder("logs") as folder:
        log, flow_log = folder / "uplink.log", folder / "flow.log"
        with closing(settings.keeping(log, flow_log).open()) as engine:
            record = run_reliably(engine, spec)
        if record.status == "ok":
            draw(log, flow_log if flow_log.exists() else None, title, out, noun, dpi)
    return record


def draw(
    log: Path,
    flow_log: Path | None,
    title: str,
    out: Path,
    noun: str = "window",
    dpi: float | None = None,
) -> None:
    """Plots a run as a PNG, SVG or PDF file.

    Args:
        log: of its uplink.
        flow_log: of its sender; None: no window and RTT are shown.
        title: above the panels.
        out: the file.
        noun: name of the flow log's window: for a whole sender, packets in flight.
        dpi: of images in the file (see style.write).

    Raises:
        KneepointError: a log is damaged.
    """
    events = link_log.read_link_log(log)
    flow = read_flow_log(flow_log) if flow_log else None
    run = link_log.metrics(events)
    if flow is not None:
        run["mean_window_packets"] = mean_window(flow, events["time_ms"].iloc[-1] / 1000)
    draw_series(over_time.of_logs(events, flow), run, title, out, noun, dpi)


def draw_series(
    series: pd.DataFrame,
    run: Record,
    title: str,
    out: Path,
    noun: str = "window",
    dpi: float | None = None,
    with_queue: bool = False,
) -> None:
    """Plots a run's series (see `panels`); `with_queue` shows the queue without a window, too."""
    with style.house():
        figure = run_over_time.panels(series, run, noun, with_queue)
        figure.suptitle(title)
        style.write(figure, out, dpi)
