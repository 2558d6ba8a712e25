import json
import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from reports import build, collect
from reports.collect import Searched
from search.errors import KneepointError
from search.hold_out import NETWORKS_SCHEMA, SETTINGS_SCHEMA
from search.results import RUNS_SCHEMA, FinishedTrial, trials_table, write_table
from tests.reports import synthetic
from tests.reports.test_link_log import EVENTS, HEADER

CATALOGUE = {
    "controllers": [
        {
            "name": "fixed_window",
            "summary": "a constant window",
            "source": "reports",
            "constants": [
                {
                    "name": "window",
                    "type": "integer",
                    "default": 50,
                    "low": 1,
                    "high": 1000,
                    "least": 1,
                    "most": None,
                    "scale": "log",
                    "unit": "packets",
                    "meaning": "datagrams in flight",
                }
            ],
        }
    ]
}
FILES = {
    "config.yaml": """
        seed: 5
        results: {results}
        studies: [windows, fit]
        repeats: [again]
        showcase: {{controller: fixed_window, constants: {{window: 12}}, network: contest}}""",
    "networks/contest.yaml": """
        title: A constant link
        uplink: {{constant_mbps: 5}}
        downlink: {{constant_mbps: 5}}
        duration_s: 10""",
    "studies/windows.yaml": """
        title: Fixed windows
        controller: fixed_window
        networks: [contest]
        table: 007-windows""",
    "studies/fit.yaml": """
        title: Host latency
        controller: fixed_window
        networks: [contest]
        host: {{host_latency_us: {{low: 0, high: 3000}}}}
        objective: {{fit: 007-windows}}
        sampler: {{kind: golden}}""",
    "repeats/again.yaml": """
        title: Window 12 again
        network: contest
        repeats: 3
        settings:
          - {{controller: fixed_window, constants: {{window: 12}}}}
          - {{controller: fixed_window, constants: {{window: 15}}}}
        published:
          - {{setting: 0, metric: power, mean: 12.8, source: "Report 007"}}""",
    "published/007-windows.yaml": """
        source: Report 007, Table 1
        controller: fixed_window
        columns:
          window: {{constant: window, unit: packets}}
          throughput_kbps: {{metric: throughput_mbps, unit: kbit/s}}
          delay_ms: {{metric: signal_delay_p95_ms, unit: ms}}""",
    "published/007-windows.csv": """\
window,throughput_kbps,delay_ms
6,1306,129
12,2274,182
,3000,
""",
}


def write_runs(path: Path, rows: list[dict[str, object]], name: str) -> None:
    known = set(RUNS_SCHEMA.names)
    plain = [{key: row[key] for key in known} | {"study": name} for row in rows]
    write_table(path, pa.Table.from_pylist(plain, schema=RUNS_SCHEMA))


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a configuration, its results, and an emulator that can only list."""
    monkeypatch.chdir(tmp_path)
    results = tmp_path / "results"
    for name, text in FILES.items():
        path = tmp_path / "config" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if name.endswith(".csv") else text.format(results=results))
    emulate = tmp_path / "build" / "emulate"
    emulate.parent.mkdir()
    emulate.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps(CATALOGUE)}\nEND\n")
    emulate.chmod(0o755)

    def runs(*windows: int) -> list[dict[str, object]]:
        return [
            synthetic.run_row(
                "fixed_window", {"window": w}, *synthetic.fixed_window(w), trial=i, row=i
            )
            for i, w in enumerate(windows)
        ]

    fit = [{**run, "trial": trial} for trial in (0, 1) for run in runs(6, 12)]
    write_runs(results / "windows" / "runs.parquet", runs(6, 12), "windows")
    write_runs(results / "fit" / "runs.parquet", fit, "fit")
    again = [
        {**run, "trial": i // 3, "run": i % 3, "row": None}
        for i, run in enumerate(runs(*[12] * 3, *[15] * 3))
    ]
    write_runs(results / "repeats" / "again" / "runs.parquet", again, "again")
    for name, column, values in (
        ("windows", "constant_window", (6, 12)),
        ("fit", "host_latency_us", (900, 1100)),
    ):
        trials = [
            FinishedTrial(i, {column: value}, 10.0 + i, "", ()) for i, value in enumerate(values)
        ]
        write_table(results / name / "trials.parquet", trials_table(name, {column: int}, trials))
        (results / name / "study.json").write_text(json.dumps({"seed": 77}))
    (results / "showcase").mkdir()
    (results / "showcase" / "uplink.log").write_text(HEADER + EVENTS)
    return tmp_path


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
