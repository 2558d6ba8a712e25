"""The figure of a worst case over time."""

from kneepoint.reports.figures import Drawn, each, rows_with, run_over_time

FIGURES = {
    "worst-case": Drawn(
        "What does the network on which a controller does worst look like, and what does it do "
        "there?",
        each(
            rows_with("worst_cases", "series"),
            "search",
            chosen=lambda rows: rows[~rows["failed"].astype(bool)],
        ),
        run_over_time.draw,
    )
}
