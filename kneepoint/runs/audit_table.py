"""The columns of audit.parquet, with their values, for other questions and planners."""

from kneepoint.common.tables import table, text, whole

AUDIT = table(
    "audit",
    "a row of a published table, and its verdict",
    text("comparison", "table"),
    whole("row"),
    text("verdict"),
    is_open=True,
)
REPORTS = "reports"
"""The name of the comparison of all rows that reports print."""
AGREEING = ("reproduced", "close", "fitted")
"""Verdicts on rows that agree with our runs."""
CONTRADICTED = "contradicted"
"""The verdict on rows that evidence beyond our own runs contradicts."""
