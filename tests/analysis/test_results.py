from pathlib import Path

import pytest

from kneepoint.analysis.results import Results, Searched
from kneepoint.common.errors import KneepointError

CONFIG = Path("config/config.yaml")


@pytest.mark.usefixtures("workspace")
def test_studies_repeats_and_tables_are_read() -> None:
    results = Results.of(CONFIG)
    windows, fit = results.studies
    assert (windows.config.title, windows.record.n_trials) == ("Fixed windows", 2)
    assert windows.record.seed != fit.record.seed
    assert windows.compare == ("007-windows",)
    assert windows.runs["parameter_window"].tolist() == [6, 12]
    assert (fit.config.fit, fit.compare) == (("007-windows",), ())
    assert fit.searched == (Searched("host_latency_us", 900, 1100, min=0),)
    assert fit.trials["parameter_host_latency_us"].tolist() == [900, 1100]
    (repeats,) = results.repeats
    assert repeats.runs["label"].unique().tolist() == ["fixed window 12", "fixed window 15"]
    assert repeats.runs["setting"].value_counts().to_dict() == {"again:0": 3, "again:1": 3}
    published = results.published
    assert published["throughput_mbps"].tolist() == [1.306, 2.274, 3.0]
    assert published["replayable"].tolist() == [True, True, False]
    assert results.networks == {"contest": "A constant link"}
    assert results.units["fixed_window", "window"] == "packets"
    assert {name for name, _ in results.units} == set(results.workflow.controllers)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        *(("fit/study.json", text) for text in ("{", "[]", '{"seed": "x"}')),
        ("fit/runs.parquet", None),
    ],
)
def test_a_damaged_or_missing_result_is_named(workspace: Path, path: str, text: str | None) -> None:
    (workspace / "results" / path).unlink()
    if text is not None:
        (workspace / "results" / path).write_text(text)
    with pytest.raises(KneepointError, match=f"{path}: .*rebuild it"):
        _ = Results.of(CONFIG).studies
