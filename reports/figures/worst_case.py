"""What does the network on which a controller does worst look like, and what does it do there?"""

from kneepoint.reports.figures import each, rows_with
from kneepoint.reports.figures.run_over_time import draw as draw

subjects = each(
    rows_with("worst_cases", "series"),
    "search",
    chosen=lambda rows: rows[~rows["failed"].astype(bool)],
)
