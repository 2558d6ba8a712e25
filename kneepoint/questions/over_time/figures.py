"""The figure of one run over time."""

from kneepoint.reports.figures import Drawn, each, run_over_time

FIGURES = {
    "run-over-time": Drawn(
        "What did one run do, moment by moment? As mm-throughput-graph and mm-delay-graph show it.",
        each("showcase", "run"),
        run_over_time.draw,
    )
}
