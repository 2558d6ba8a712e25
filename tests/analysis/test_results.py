import json
import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from kneepoint.analysis import inventory
from kneepoint.analysis.results import Results, Searched
from kneepoint.common.errors import KneepointError
from kneepoint.runs.planners.confirmation import SETTINGS_SCHEMA as CONFIRM_SCHEMA
from kneepoint.runs.results import write_table
from tests.analysis import synthetic_real

CONFIG = Path("config/config.yaml")


@pytest.mark.usefixtures("workspace")
def test_studies_repeats_and_tables_are_read() -> None:
    results = Results.of(CONFIG)
    windows, fit = results.studies
    assert (windows.config.title, windows.record.seed) == ("Fixed windows", 77)
    assert windows.compare == ("007-windows",)
    assert windows.runs["constant_window"].tolist() == [6, 12]
    assert (fit.config.fit, fit.compare) == (("007-windows",), ())
    assert fit.searched == (Searched("host_latency_us", 0, 3000, least=0),)
    assert fit.trials["constant_host_latency_us"].tolist() == [900, 1100]
    (repeats,) = results.repeats
    assert repeats.runs["label"].unique().tolist() == ["fixed window 12", "fixed window 15"]
    assert repeats.runs["setting"].value_counts().to_dict() == {"again:0": 3, "again:1": 3}
    published = results.published
    assert published["throughput_mbps"].tolist() == [1.306, 2.274, 3.0]
    assert published["replayable"].tolist() == [True, True, False]
    assert results.networks == {"contest": "A constant link"}
    assert results.units["fixed_window", "window"] == "packets"
    assert {name for name, _ in results.units} == set(results.workflow.controllers)


REAL = """
        real_time: {busy_us: 2000, probe: {controller: fixed_window, network: contest}}
        confirm:
          network: contest
          calibration: {windows: [6, 12], host: {host_latency_us: {values: [0, 50]}}}"""


def ask_for_real_runs(workspace: Path) -> Path:
    """Adds all that can run in real time to the configuration; nothing of it is there yet."""
    config = workspace / "config"
    text = (config / "config.yaml").read_text()
    text = text.replace("[windows, fit]", "[windows, fit, real-windows]")
    (config / "config.yaml").write_text(text.replace("[again]", "[again, real-again]") + REAL)
    for folder, name in (("studies", "windows"), ("repeats", "again")):
        whole = (config / folder / f"{name}.yaml").read_text()
        (config / folder / f"real-{name}.yaml").write_text(f"{whole}\n        engine: mahimahi")
    return config / "config.yaml"


def run_for_real(results: Path) -> None:
    """Puts results of everything there that runs in real time."""
    for name, original in {
        "real-windows": "windows",
        "repeats/real-again": "repeats/again",
        "probe": "windows",
        "confirm": "windows",
        "calibration": "fit",
        "agreement": "windows",
        "again": "windows",
        "real_showcase": "showcase",
    }.items():
        shutil.copytree(results / original, results / name)
    levels = [{"concurrency": n, "agrees": n == 1, "reason": ""} for n in (1, 2)]
    probe = {"slots": 1, "cores": 4, "busy_us": 1000, "levels": levels}
    (results / "probe" / "probe.json").write_text(json.dumps(probe))
    settings = {
        **{"trial": [0, 1], "controller": ["fixed_window"] * 2},
        **{"constants": ['{"window":6}', '{"window":12}']},
        **{"origins": ["calibration,contradicted"] * 2},
        **{"rows": ["007-windows 0,007-windows 2", ""]},
    }
    table = pa.Table.from_pydict(settings, schema=CONFIRM_SCHEMA)
    write_table(results / "confirm" / "settings.parquet", table)
    calibration = results / "calibration"
    for name, frame in (("delays", synthetic_real.delays()), ("spread", synthetic_real.spread())):
        write_table(calibration / f"{name}.parquet", pa.Table.from_pandas(frame))


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
    assert not_run(results) == ["real-windows", "real-again", "probe", "confirm"]
    assert (results.real_studies, results.real_repeats) == ([], [])
    for name in "probe confirmation calibration emulated again delays".split():
        assert getattr(results, name) is None


def test_real_runs_are_kept_apart(workspace: Path) -> None:
    config = ask_for_real_runs(workspace)
    run_for_real(workspace / "results")
    results = Results.of(config)
    assert [study.name for study in results.studies] == ["windows", "fit"]
    assert [each.name for each in results.repeats] == ["again"]
    assert [study.name for study in results.real_studies] == ["real-windows"]
    assert [each.name for each in results.real_repeats] == ["real-again"]
    assert not_run(results) == []
    parts = (results.again, results.emulated, results.probe, results.delays)
    assert not any(part is None for part in parts)
    probe, confirmed, fit = results.probe, results.confirmation, results.calibration
    assert probe is not None and confirmed is not None and fit is not None
    columns = ["concurrency", "slots", "cores", "busy_us"]
    assert probe[columns].to_numpy().tolist() == [[1, 1, 4, 2000], [2, 1, 4, 2000]]
    assert confirmed.settings["constant_window"].tolist() == [6, 12]
    assert confirmed.settings["origins"][0] == ("calibration", "contradicted")
    assert confirmed.settings["rows"].tolist() == [("007-windows 0", "007-windows 2"), ()]
    assert fit.searched == (Searched("host_latency_us", 0, 50, least=0),)
    assert results.spread is not None and results.spread["is_best"].tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        *(("probe/probe.json", text) for text in ("{", '{"slots": 4}')),
        ("probe/probe.json", '{"slots": "x", "cores": 4, "levels": []}'),
        *(("fit/study.json", text) for text in ("{", "[]", '{"seed": "x"}')),
        ("fit/runs.parquet", None),
    ],
)
def test_a_damaged_or_missing_result_is_named(workspace: Path, path: str, text: str | None) -> None:
    config = ask_for_real_runs(workspace)
    run_for_real(workspace / "results")
    (workspace / "results" / path).unlink()
    if text is not None:
        (workspace / "results" / path).write_text(text)
    results = Results.of(config)
    with pytest.raises(KneepointError, match=f"{path}: .*rebuild it"):
        _ = results.probe if "probe" in path else results.studies
