import json
import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from analysis.results import Results, Searched
from common.errors import KneepointError
from experiments.planners.confirmation import SETTINGS_SCHEMA as CONFIRM_SCHEMA
from experiments.planners.held_out import NETWORKS_SCHEMA, SETTINGS_SCHEMA
from experiments.results import write_table
from tests.analysis import synthetic_real

CONFIG = Path("config/config.yaml")


@pytest.mark.usefixtures("workspace")
def test_studies_repeats_tables_and_showcase_are_read() -> None:
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
    shown = results.showcase
    assert shown is not None
    assert shown.log["time_ms"].iloc[-1] == 10


def test_settings_on_held_out_networks_are_read(workspace: Path) -> None:
    config, results = workspace / "config", workspace / "results"
    text = (config / "config.yaml").read_text().replace("[windows, fit]", "[windows, best]")
    (config / "config.yaml").write_text(
        f"{text}\n        hold_out: {{training: contest, networks: [slow]}}"
    )
    network = (config / "networks" / "contest.yaml").read_text()
    (config / "networks" / "slow.yaml").write_text(network.replace("A constant", "A slow"))
    study = (config / "studies" / "windows.yaml").read_text()
    tuned = "space: {window: {low: 1, high: 50}}\n        sampler: {kind: ternary}"
    (config / "studies" / "best.yaml").write_text(study.replace("table: 007-windows", tuned))
    shutil.copytree(results / "windows", results / "best")
    shutil.copytree(results / "windows", results / "hold_out")
    settings = [
        {
            **dict.fromkeys(SETTINGS_SCHEMA.names),
            **{"trial": trial, "controller": "fixed_window", "origin": origin, "best": True},
            **{"study": "s", "constants": '{"window":12}', "study_power": 12.0, "study_runs": 1},
        }
        for trial, origin in enumerate(("published", "tuned"))
    ]
    networks = [
        {
            **{"network": name, "is_training": name == "contest", "power": 100.0},
            **{"capacity_mbps": 5.0, "signal_delay_p95_ms": 50.0},
        }
        for name in ("contest", "slow")
    ]
    for name, rows, schema in (
        ("settings", settings, SETTINGS_SCHEMA),
        ("networks", networks, NETWORKS_SCHEMA),
    ):
        table = pa.Table.from_pylist(rows, schema=schema)
        write_table(results / "hold_out" / f"{name}.parquet", table)
    found = Results.of(config / "config.yaml").hold_out
    assert found is not None
    assert found.settings["constant_window"].tolist() == [12, 12]
    assert found.settings["origin"].tolist() == ["published", "tuned"]
    assert found.networks["title"].tolist() == ["A constant link", "A slow link"]
    assert found.runs["constant_window"].tolist() == [6, 12]
    (results / "hold_out" / "settings.parquet").unlink()
    with pytest.raises(KneepointError, match=r"hold_out/settings\.parquet: .*No such file"):
        _ = Results.of(config / "config.yaml").hold_out


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
    levels = [
        {"concurrency": 1, "agrees": True, "reason": ""},
        {"concurrency": 2, "agrees": False, "reason": "with 2 at once a run fails: no"},
    ]
    probe = {"slots": 1, "cores": 4, "busy_us": 1000, "levels": levels}
    (results / "probe" / "probe.json").write_text(json.dumps(probe))
    settings = [
        {
            **{"trial": trial, "controller": "fixed_window", "constants": f'{{"window":{window}}}'},
            **{"origins": "calibration,contradicted", "rows": rows},
        }
        for trial, (window, rows) in enumerate(((6, "007-windows 0,007-windows 2"), (12, "")))
    ]
    table = pa.Table.from_pylist(settings, schema=CONFIRM_SCHEMA)
    write_table(results / "confirm" / "settings.parquet", table)
    calibration = results / "calibration"
    for name, frame in (("delays", synthetic_real.delays()), ("spread", synthetic_real.spread())):
        write_table(calibration / f"{name}.parquet", pa.Table.from_pandas(frame))


def test_without_real_runs_their_results_are_missing(workspace: Path) -> None:
    assert not Results.of(CONFIG).is_real
    results = Results.of(ask_for_real_runs(workspace))
    assert results.is_real
    assert [study.name for study in results.studies] == ["windows", "fit"]
    assert [each.name for each in results.repeats] == ["again"]
    assert results.missing == ["real-windows", "real-again", "probe", "confirm"]
    assert (results.real_studies, results.real_repeats) == ([], [])
    for found in (
        *(results.real_showcase, results.probe, results.confirmation),
        *(results.calibration, results.emulated, results.again, results.delays),
    ):
        assert found is None


def test_real_runs_are_kept_apart(workspace: Path) -> None:
    config = ask_for_real_runs(workspace)
    run_for_real(workspace / "results")
    results = Results.of(config)
    assert [study.name for study in results.studies] == ["windows", "fit"]
    assert [each.name for each in results.repeats] == ["again"]
    assert [study.name for study in results.real_studies] == ["real-windows"]
    assert [each.name for each in results.real_repeats] == ["real-again"]
    assert results.real_showcase is not None
    assert results.missing == []
    again, emulated = results.again, results.emulated
    assert again is not None and len(again) == 2
    assert emulated is not None and emulated["constant_window"].tolist() == [6, 12]
    probe = results.probe
    assert probe is not None
    assert probe[["slots", "cores", "busy_us"]].drop_duplicates().to_numpy().tolist() == [
        [1, 4, 2000]
    ]
    assert probe["concurrency"].tolist() == [1, 2]
    confirmed = results.confirmation
    assert confirmed is not None
    assert confirmed.settings["constant_window"].tolist() == [6, 12]
    assert confirmed.settings["origins"][0] == ("calibration", "contradicted")
    assert confirmed.settings["rows"].tolist() == [("007-windows 0", "007-windows 2"), ()]
    fit = results.calibration
    assert fit is not None
    assert fit.searched == (Searched("host_latency_us", 0, 50, least=0),)
    delays, spread = results.delays, results.spread
    assert delays is not None and delays["one_in"].tolist()[:3] == [1, 2, 4]
    assert spread is not None and spread["is_best"].tolist() == [False, True, False]


@pytest.mark.parametrize("text", ["{", '{"slots": 4}', '{"slots": "x", "cores": 4, "levels": []}'])
def test_a_damaged_probe_is_named(workspace: Path, text: str) -> None:
    config = ask_for_real_runs(workspace)
    run_for_real(workspace / "results")
    (workspace / "results" / "probe" / "probe.json").write_text(text)
    with pytest.raises(KneepointError, match=r"probe\.json: cannot be used .*; rebuild it"):
        _ = Results.of(config).probe


@pytest.mark.parametrize("text", ["{", "[]", '{"seed": "x"}'])
def test_a_damaged_summary_is_named(workspace: Path, text: str) -> None:
    (workspace / "results" / "fit" / "study.json").write_text(text)
    with pytest.raises(KneepointError, match=r"fit/study\.json: cannot be used"):
        _ = Results.of(CONFIG).studies


def test_a_missing_result_is_named(workspace: Path) -> None:
    (workspace / "results" / "fit" / "runs.parquet").unlink()
    with pytest.raises(KneepointError, match=r"fit/runs\.parquet: .*rebuild it"):
        _ = Results.of(CONFIG).studies
