"""One run over time: in the emulator, and in real mahimahi if it was made there, too."""

from collections.abc import Iterator

from reports import labels
from reports.content import Paragraph, Section, literal
from reports.discover import one_run
from reports.sections import Context
from reports.subjects import OneRun

ORDER = 50


def compose(context: Context) -> Iterator[Section]:
    """The section of each showcase run, if there is one."""
    run = one_run(context.results)
    if run is not None:
        yield _section(context, run, "one-run", "One run over time")
    real = context.results.real and one_run(context.results.real.measured)
    if real:
        yield _section(context, real, "one-real-run", "One real run over time")


def _section(context: Context, run: OneRun, name: str, title: str) -> Section:
    where = literal(context.network(run.network)) + (" in real mahimahi" if run.is_real else "")
    log = "the log that `mm-link` wrote" if run.is_real else "the same link log"
    text = (
        f"{labels.sentence(run.controller)} with {run.constants}, once over {where}: "
        f"{run.metrics.throughput_mbps:.2f} of {run.metrics.capacity_mbps:.2f} Mbit/s, signal "
        f"delay {run.metrics.signal_delay_p95_ms:.0f} ms, power {run.metrics.power:.2f} Mbit/s/s. "
        f"{{rate-over-time-{run.key}}} is drawn in the manner of `mm-throughput-graph`, "
        f"{{delay-over-time-{run.key}}} in that of `mm-delay-graph`, from {log}."
    )
    return Section(name, title, (Paragraph(text), *context.draw(run)))
