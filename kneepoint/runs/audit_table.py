"""The columns of audit.parquet, with their values, for other questions and planners."""

from kneepoint.common.tables import Column

AUDIT = (
    Column("comparison", "text"),
    Column("table", "text"),
    Column("row", "whole"),
    Column("verdict", "text"),
)
"""A row of a published table, and its verdict."""
REPORTS = "reports"
"""The name of the comparison of all rows that reports print."""
AGREEING = ("reproduced", "close", "fitted")
"""Verdicts on rows that agree with our runs."""
CONTRADICTED = "contradicted"
"""The verdict on rows that evidence beyond our own runs contradicts."""
