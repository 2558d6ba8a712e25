"""Columns and values of tables that planners and others read.

The tables include these columns, and the stages write these values.
"""

from kneepoint.common.tables import Column

AUDIT = (
    Column("comparison", "text"),
    Column("table", "text"),
    Column("row", "whole"),
    Column("verdict", "text"),
)
"""Of audit.parquet: a row of a published table, and the verdict on it."""
REPORTS = "reports"
"""The comparison of rows that reports print."""
AGREEING = ("reproduced", "close", "fitted")
"""The verdicts of rows that agree with ours."""
CONTRADICTED = "contradicted"
"""The verdict on a row that some evidence contradicts."""
