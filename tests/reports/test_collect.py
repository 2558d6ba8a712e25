import json
import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from reports import build, collect
from reports.collect import Searched
from search.errors import KneepointError
from search.hold_out import NETWORKS_SCHEMA, SETTINGS_SCHEMA
from search.results import write_table


def test_load_reads_studies_repeats_tables_and_showcase(workspace: Path) -> None:
    _, results = collect.load(workspace / "config" / "config.yaml")
    windows, fit = results.studies
    assert (windows.title, windows.sampler, windows.seed) == ("Fixed windows", "grid", 77)
    assert windows.compare == ("007-windows",)
    assert windows.runs["constant_window"].tolist() == [6, 12]
    assert (fit.fit, fit.objective, fit.minimised) == ("007-windows", "misfit", True)
    assert fit.compare == ()
    assert fit.searched == (Searched("host_latency_us", 0, 3000),)
    assert fit.trials["constant_host_latency_us"].tolist() == [900, 1100]
    (repeats,) = results.repeats
    assert repeats.settings["label"].tolist() == ["fixed window 12", "fixed window 15"]
    assert repeats.runs["setting"].value_counts().to_dict() == {"again:0": 3, "again:1": 3}
    assert repeats.published["setting"].tolist() == ["again:0"]
    assert results.published["throughput_mbps"].tolist() == [1.306, 2.274, 3.0]
    assert results.published["replayable"].tolist() == [True, True, False]
    assert results.networks == {"contest": "A constant link"}
    assert results.units == {("fixed_window", "window"): "packets"}
    assert results.showcase is not None
    assert results.showcase.log.last_ms == 10


def test_load_reads_settings_on_held_out_networks(workspace: Path) -> None:
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
    _, loaded = collect.load(config / "config.yaml")
    assert loaded.hold_out is not None
    assert loaded.hold_out.settings["constant_window"].tolist() == [12, 12]
    assert loaded.hold_out.settings["origin"].tolist() == ["published", "tuned"]
    assert loaded.hold_out.networks["title"].tolist() == ["A constant link", "A slow link"]
    assert loaded.hold_out.runs["constant_window"].tolist() == [6, 12]
    (results / "hold_out" / "settings.parquet").unlink()
    with pytest.raises(KneepointError, match=r"hold_out/settings\.parquet: No such file"):
        collect.load(config / "config.yaml")


def test_build_writes_everything(workspace: Path) -> None:
    build.build(Path("config/config.yaml"))
    results = workspace / "results"
    assert (results / "report.html").read_text().startswith("<!doctype html>")
    assert (results / "report.pdf").read_bytes().startswith(b"%PDF")
    provenance = json.loads((results / "provenance.json").read_text())
    assert provenance["seed"] == 5
    assert [each["name"] for each in provenance["results"]] == ["windows", "fit", "again"]
    assert (results / "tables" / "reports-beside-ours.csv").is_file()
    assert (results / "figures" / "rate-over-time-fixed_window.svg").is_file()


def test_build_names_a_missing_result(workspace: Path) -> None:
    (workspace / "results" / "fit" / "runs.parquet").unlink()
    with pytest.raises(KneepointError, match=r"fit/runs\.parquet: .*run the study again"):
        build.build(Path("config/config.yaml"))


def test_build_names_a_damaged_summary(workspace: Path) -> None:
    (workspace / "results" / "fit" / "study.json").write_text("{")
    with pytest.raises(KneepointError, match=r"fit/study\.json: damaged"):
        build.build(Path("config/config.yaml"))
