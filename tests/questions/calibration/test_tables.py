"""Reading the fit of the emulated host, and its section of the report."""

from pathlib import Path

from kneepoint.analysis.results import Results, Searched
from kneepoint.questions.calibration import tables
from tests.analysis import synthetic
from tests.analysis.real_runs import ask_for_real_runs, run_for_real
from tests.questions.test_together import with_all
from tests.reports.told import told


@with_all("real")
def test_a_fit_is_read_where_there_is_one(workspace: Path) -> None:
    config = ask_for_real_runs(workspace)
    results = Results.of(config)
    assert (tables.calibration(results), tables.delays(results)) == (None, None)
    run_for_real(workspace / "results")
    results = Results.of(config)
    fit, spread = tables.calibration(results), tables.spread(results)
    assert fit is not None and spread is not None
    assert fit.searched == (Searched("host_latency_us", 0, 50, min=0),)
    assert spread["is_best"].tolist() == [False, True, False]
    assert tables.delays(results) is not None


@with_all("real")
def test_tables_have_the_best_first() -> None:
    report = told(synthetic.real_results())
    assert report.rows("waits")[3] == ("8", "0.069", "0.055", "0.1")
    assert report.head("calibration")[-1] == "Misfit"
    assert report.rows("calibration")[0][:2] == ("0", "50")
    strong = [row.get("class") for row in report.block("wake-spread").findall(".//tbody/tr")]
    assert strong == [None, "strong", None]
    assert [row[1] for row in report.rows("wake-spread")] == ["0.10", "0.49", "0.81"]
