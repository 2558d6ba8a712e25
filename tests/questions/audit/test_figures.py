"""The figure of the first page."""

import numpy as np
import pytest

from tests.analysis import synthetic
from tests.reports.panels import drawn


def test_first_page_shows_every_compared_row_at_the_number_that_counts() -> None:
    tables = synthetic.analysed(synthetic.results())
    audit = tables["audit"]
    (axes,) = drawn(tables, "at-a-glance-all").axes
    known = audit["relative_power"].notna() | audit["relative_throughput_mbps"].notna()
    of_reports = audit["comparison"] == "reports"
    lines = [line for line in axes.lines if not str(line.get_label()).startswith("_")]
    assert sum(np.size(line.get_xdata()) for line in lines) == (known & of_reports).sum()
    wrong = audit[audit["verdict"] == "contradicted"].iloc[0]
    (crosses,) = (line for line in lines if str(line.get_label()).startswith("contradicted"))
    assert crosses.get_xdata() == pytest.approx([100 * wrong[f"relative_{wrong['wrong']}"]])
