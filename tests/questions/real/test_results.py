"""Results of real runs, as they are read."""

from pathlib import Path

import pytest

from kneepoint.analysis import inventory
from kneepoint.analysis.results import Results, Searched
from kneepoint.common.errors import KneepointError
from kneepoint.questions.real import results as real
from tests.questions.real.workspace import ask_for_real_runs, run_for_real

CONFIG = Path("config/config.yaml")


def not_run(results: Results) -> list[str]:
    """The experiments of real mahimahi that the inventory misses."""
    found = inventory.compute(results, {})["inventory"]
    return found.loc[found["kind"] == inventory.NOT_RUN, "name"].tolist()


def test_without_real_runs_their_results_are_missing(workspace: Path) -> None:
    assert not Results.of(CONFIG).is_real
    results = Results.of(ask_for_real_runs(workspace))
    assert results.is_real
    assert [study.name for study in results.studies] == ["windows", "fit"]
    assert [each.name for each in results.repeats] == ["again"]
    assert not_run(results)[-2:] == ["probe", "confirm"]
    assert (results.real_studies, results.real_repeats) == ([], [])
    assert results.table("agreement") is None
    for name in "probe confirmation calibration again delays".split():
        assert getattr(real, name)(results) is None


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
    found = [each(results) for each in (real.again, real.delays, real.spread)]
    assert not any(part is None for part in found)
    probe, confirmed, fit = (
        real.probe(results),
        real.confirmation(results),
        real.calibration(results),
    )
    assert probe is not None and confirmed is not None and fit is not None
    columns = ["concurrency", "slots", "cores", "busy_us"]
    assert probe[columns].to_numpy().tolist() == [[1, 1, 4, 2000], [2, 1, 4, 2000]]
    assert confirmed.settings["constant_window"].tolist() == [6, 12]
    assert confirmed.settings["origins"][0] == ("calibration", "contradicted")
    assert confirmed.settings["rows"].tolist() == [("007-windows 0", "007-windows 2"), ()]
    assert fit.searched == (Searched("host_latency_us", 0, 50, least=0),)
    assert found[-1] is not None and found[-1]["is_best"].tolist() == [False, True, False]


@pytest.mark.parametrize("text", ["{", '{"slots": 4}', '{"slots": "x", "cores": 4, "levels": []}'])
def test_a_damaged_probe_is_named(workspace: Path, text: str) -> None:
    config = ask_for_real_runs(workspace)
    run_for_real(workspace / "results")
    path = "probe/probe.json"
    (workspace / "results" / path).unlink()
    (workspace / "results" / path).write_text(text)
    with pytest.raises(KneepointError, match=f"{path}: .*rebuild it"):
        real.probe(Results.of(config))
