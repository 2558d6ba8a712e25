"""Reading the results of real runs."""

from pathlib import Path

from kneepoint.analysis import inventory
from kneepoint.analysis.results import Results
from kneepoint.questions.real import tables
from tests.analysis.real_runs import ask_for_real_runs, run_for_real
from tests.questions.test_together import with_all

CONFIG = Path("config/config.yaml")


def not_run(results: Results) -> list[str]:
    """Returns the experiments of real mahimahi that the inventory lists as not run."""
    found = inventory.compute(results, {})["inventory"]
    return found.loc[found["kind"] == inventory.NOT_RUN, "name"].tolist()


@with_all("repeatability")
def test_without_real_runs_their_results_are_missing(workspace: Path) -> None:
    assert not Results.of(CONFIG).is_real
    results = Results.of(ask_for_real_runs(workspace))
    assert results.is_real
    assert [study.name for study in results.studies] == ["windows", "fit"]
    assert [each.name for each in results.repeats] == ["again"]
    assert not_run(results)[-1:] == ["confirm"]
    assert (results.real_studies, results.real_repeats) == ([], [])
    assert results.table("agreement") is None
    assert (tables.confirmation(results), results.table("again")) == (None, None)


@with_all("calibration", "repeatability")
def test_real_runs_are_kept_apart(workspace: Path) -> None:
    config = ask_for_real_runs(workspace)
    run_for_real(workspace / "results")
    results = Results.of(config)
    assert [study.name for study in results.studies] == ["windows", "fit"]
    assert [each.name for each in results.repeats] == ["again"]
    assert [study.name for study in results.real_studies] == ["real-windows"]
    assert [each.name for each in results.real_repeats] == ["real-again"]
    assert not_run(results) == []
    assert results.table("agreement") is not None
    assert results.table("again") is not None
    confirmed = tables.confirmation(results)
    assert confirmed is not None
    assert confirmed.settings["parameter_window"].tolist() == [6, 12]
    assert confirmed.settings["origins"][0] == ("calibration", "contradicted")
    assert confirmed.settings["rows"].tolist() == [("007-windows 0", "007-windows 2"), ()]
