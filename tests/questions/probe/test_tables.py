"""Reading the probe's runs, and their table."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from kneepoint.analysis.metrics import SIGNAL_DELAY, THROUGHPUT
from kneepoint.analysis.results import Results
from kneepoint.common.errors import KneepointError
from kneepoint.questions.probe import tables
from tests.analysis import synthetic
from tests.analysis.real_runs import ask_for_real_runs, run_for_real
from tests.analysis.synthetic import run_row
from tests.questions.probe import made_up
from tests.reports.told import told


def test_probe_levels_worked_by_hand() -> None:
    lone = [(2.0, 100.0, 100.0), (4.0, 100.0, 200.0)]
    together = [(3.0, 110.0, 900.0), (3.3, 90.0, 50.0)]
    rows = [
        run_row("c", {}, *pair, trial=level, scheduling_delay_p99_us=late)
        for level, runs in enumerate((lone, together))
        for *pair, late in runs
    ]
    rows.append({**synthetic.failed_row("c", {}, "port taken"), "trial": 1})
    level: dict[str, Any] = {"concurrency": 1, "agrees": True, "level_reason": ""}
    table = tables.beside_lone(pd.DataFrame(rows).assign(**level, **made_up.HOST))
    found = tables.probe_levels({"probe": table})
    assert found[["runs", "failed"]].to_numpy().tolist() == [[2, 0], [2, 1]]
    assert found[f"relative_{THROUGHPUT}"].tolist() == pytest.approx([0, 0.05])
    assert found[f"furthest_{THROUGHPUT}"].tolist() == pytest.approx([1 / 3, 0.1])
    assert found[f"furthest_{SIGNAL_DELAY}"].tolist() == pytest.approx([0, 0.1])
    assert found["scheduling_delay_p99_us"].tolist() == [200, 900]


def test_the_probe_is_read_where_it_has_run(workspace: Path) -> None:
    config = ask_for_real_runs(workspace)
    assert tables.probe(Results.of(config)) is None
    run_for_real(workspace / "results")
    probe = tables.probe(Results.of(config))
    assert probe is not None
    columns = ["concurrency", "slots", "cores", "busy_us"]
    assert probe[columns].to_numpy().tolist() == [[1, 1, 4, 2000], [2, 1, 4, 2000]]


@pytest.mark.parametrize("text", ["{", '{"slots": 4}', '{"slots": "x", "cores": 4, "levels": []}'])
def test_a_damaged_probe_is_named(workspace: Path, text: str) -> None:
    config = ask_for_real_runs(workspace)
    run_for_real(workspace / "results")
    path = "probe/probe.json"
    (workspace / "results" / path).unlink()
    (workspace / "results" / path).write_text(text)
    with pytest.raises(KneepointError, match=f"{path}: .*rebuild it"):
        tables.probe(Results.of(config))


def test_the_report_has_the_level_that_differs() -> None:
    report = told(synthetic.real_results())
    assert "throughput_mbps is 3.5" in report.rows("probe-levels")[-1][-1]
