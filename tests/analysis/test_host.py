"""The host of real runs, worked by hand."""

from typing import Any

import pandas as pd
import pytest

from analysis import host
from analysis.metrics import SIGNAL_DELAY, THROUGHPUT
from tests.analysis import synthetic, synthetic_real
from tests.analysis.synthetic import run_row


def told(rows: list[dict[str, object]]) -> pd.DataFrame:
    level: dict[str, Any] = {"concurrency": 1, "agrees": True, "level_reason": ""}
    table = host.probe(pd.DataFrame(rows).assign(**level, **synthetic_real.HOST))
    assert table is not None
    return host.probe_levels({"probe": table})


def test_probe_levels_worked_by_hand() -> None:
    lone = [(2.0, 100.0, 100.0), (4.0, 100.0, 200.0)]
    together = [(3.0, 110.0, 900.0), (3.3, 90.0, 50.0)]
    rows = [
        run_row("c", {}, throughput, delay, trial=level, run=i, scheduling_delay_p99_us=late)
        for level, runs in enumerate((lone, together))
        for i, (throughput, delay, late) in enumerate(runs)
    ]
    rows.append({**synthetic.failed_row("c", {}, "port taken"), "trial": 1, "run": 2})
    found = told(rows)
    assert found["runs"].tolist() == [2, 2]
    assert found["failed"].tolist() == [0, 1]
    assert found[f"relative_{THROUGHPUT}"].tolist() == pytest.approx([0, 0.05])
    assert found[f"furthest_{THROUGHPUT}"].tolist() == pytest.approx([1 / 3, 0.1])
    assert found[f"furthest_{SIGNAL_DELAY}"].tolist() == pytest.approx([0, 0.1])
    assert found["scheduling_delay_p99_us"].tolist() == [200, 900]
