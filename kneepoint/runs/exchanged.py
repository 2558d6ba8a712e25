"""Columns and values of the analysis's tables that planners read.

`kneepoint.analysis.schema` includes these columns in its tables, and the stages write these values.
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
CONTRADICTED = "contradicted"
"""The verdict on a row that some evidence contradicts."""

AGREEMENT = (Column("trial", "whole"), Column("why", "text"))
"""Of agreement.parquet: a setting of confirm, and why a real mean lies outside its interval."""
UNEXPLAINED = "unexplained"
"""Unexplained: the setting runs again."""
