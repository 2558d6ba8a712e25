"""One run over time."""

from collections.abc import Iterator

from reports import labels
from reports.content import Paragraph, Section, literal
from reports.discover import one_run
from reports.sections import Context

ORDER = 50


def compose(context: Context) -> Iterator[Section]:
    """The section of the showcase run, if there is one."""
    run = one_run(context.results)
    if run is None:
        return
    text = (
        f"{labels.sentence(run.controller)} with {run.constants}, once over "
        f"{literal(context.network(run.network))}: {run.metrics.throughput_mbps:.2f} of "
        f"{run.metrics.capacity_mbps:.2f} Mbit/s, signal delay "
        f"{run.metrics.signal_delay_p95_ms:.0f} ms, power {run.metrics.power:.2f} Mbit/s/s. "
        f"{{rate-over-time-{run.key}}} is drawn in the manner of `mm-throughput-graph`, "
        f"{{delay-over-time-{run.key}}} in that of `mm-delay-graph`, from the same link log."
    )
    yield Section("one-run", "One run over time", (Paragraph(text), *context.draw(run)))
