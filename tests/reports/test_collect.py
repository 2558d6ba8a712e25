import json
import shutil
from pathlib import Path

import pyarrow as pa
import pytest

from common.errors import KneepointError
from experiments.planners.confirmation import SETTINGS_SCHEMA as CONFIRM_SCHEMA
from experiments.planners.held_out import NETWORKS_SCHEMA, SETTINGS_SCHEMA
from experiments.results import write_table
from reports import build, collect, render
from reports.collect import Searched
from tests.reports import synthetic_real


def test_load_reads_studies_repeats_tables_and_showcase(workspace: Path) -> None:
    _, results = collect.load(workspace / "config" / "config.yaml")
    windows, fit = results.studies
    assert (windows.title, windows.sampler, windows.seed) == ("Fixed windows", "grid", 77)
    assert windows.compare == ("007-windows",)
    assert windows.runs["constant_window"].tolist() == [6, 12]
    assert (fit.fit, fit.objective, fit.minimised) == (("007-windows",), "misfit", True)
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
    with pytest.raises(KneepointError, match=r"hold_out/settings\.parquet: .*No such file"):
        collect.load(config / "config.yaml")


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


def test_load_without_real_runs_names_what_is_missing(workspace: Path) -> None:
    config = workspace / "config" / "config.yaml"
    assert collect.load(config)[1].real is None
    _, results = collect.load(ask_for_real_runs(workspace))
    assert [study.name for study in results.studies] == ["windows", "fit"]
    assert [each.name for each in results.repeats] == ["again"]
    assert results.real is not None
    assert results.real.missing == ("real-windows", "real-again", "probe", "confirm")
    assert (results.real.measured.studies, results.real.measured.repeats) == ((), ())
    assert results.real.measured.showcase is None
    assert results.real.probe is None
    assert results.real.confirmation is None
    assert results.real.calibration is None
    assert results.real.emulated is None
    assert results.real.again is None
    build.build(config)


def test_load_keeps_real_runs_apart(workspace: Path) -> None:
    config = ask_for_real_runs(workspace)
    run_for_real(workspace / "results")
    _, results = collect.load(config)
    assert [study.name for study in results.studies] == ["windows", "fit"]
    assert [each.name for each in results.repeats] == ["again"]
    real = results.real
    assert real is not None
    assert real.again is not None and len(real.again) == len(results.studies[0].runs)
    assert real.missing == ()
    assert [study.name for study in real.measured.studies] == ["real-windows"]
    assert [each.name for each in real.measured.repeats] == ["real-again"]
    assert real.measured.engine == "mahimahi"
    assert real.measured.showcase is not None
    assert real.probe is not None
    assert (real.probe.slots, real.probe.cores, real.probe.busy_us) == (1, 4, 2000)
    assert real.probe.levels["concurrency"].tolist() == [1, 2]
    assert real.confirmation is not None
    assert real.confirmation.settings["constant_window"].tolist() == [6, 12]
    assert real.confirmation.settings["origins"][0] == ("calibration", "contradicted")
    assert real.confirmation.settings["rows"].tolist() == [("007-windows 0", "007-windows 2"), ()]
    assert real.calibration is not None
    assert real.calibration.searched == (Searched("host_latency_us", 0, 50),)
    assert real.calibration.minimised
    assert real.delays is not None
    assert real.delays["one_in"].tolist()[:3] == [1, 2, 4]
    assert real.spread is not None
    assert real.spread["is_best"].tolist() == [False, True, False]
    assert real.emulated is not None
    assert real.emulated["constant_window"].tolist() == [6, 12]
    build.build(config)
    provenance = json.loads((workspace / "results" / "provenance.json").read_text())
    digests = [each["name"] for each in provenance["results"]]
    assert digests[3:] == [
        *("real-windows", "repeats/real-again", "probe", "confirm", "calibration", "agreement"),
        "again",
    ]


@pytest.mark.parametrize("part", ["probe/probe.json", "confirm/settings.parquet"])
def test_load_takes_in_what_is_there_of_real_runs(workspace: Path, part: str) -> None:
    config = ask_for_real_runs(workspace)
    run_for_real(workspace / "results")
    (workspace / "results" / part).unlink()
    _, results = collect.load(config)
    assert results.real is not None
    assert results.real.missing == (part.partition("/")[0],)
    build.build(config)


@pytest.mark.parametrize("text", ["{", '{"slots": 4}', '{"slots": "x", "cores": 4, "levels": []}'])
def test_load_names_a_damaged_probe(workspace: Path, text: str) -> None:
    config = ask_for_real_runs(workspace)
    run_for_real(workspace / "results")
    (workspace / "results" / "probe" / "probe.json").write_text(text)
    with pytest.raises(KneepointError, match=r"probe\.json: cannot be used .*; make it again"):
        collect.load(config)


def test_build_writes_everything(workspace: Path) -> None:
    build.build(Path("config/config.yaml"))
    results = workspace / "results"
    assert (results / "report.html").read_text().startswith("<!doctype html>")
    assert (results / "report.pdf").read_bytes().startswith(b"%PDF")
    provenance = json.loads((results / "provenance.json").read_text())
    assert provenance["seed"] == 5
    assert [each["name"] for each in provenance["results"]] == [
        "windows",
        "fit",
        "repeats/again",
    ]
    assert (results / "tables" / "reports-beside-ours.csv").is_file()
    assert (results / "figures" / "rate-over-time-fixed_window.svg").is_file()


def test_build_names_a_missing_result(workspace: Path) -> None:
    (workspace / "results" / "fit" / "runs.parquet").unlink()
    with pytest.raises(KneepointError, match=r"fit/runs\.parquet: .*make it again"):
        build.build(Path("config/config.yaml"))


def test_build_names_a_damaged_summary(workspace: Path) -> None:
    (workspace / "results" / "fit" / "study.json").write_text("{")
    with pytest.raises(KneepointError, match=r"fit/study\.json: cannot be used"):
        build.build(Path("config/config.yaml"))


def everything_in(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.parametrize("step", ["to_pdf", "to_html"])
def test_report_that_cannot_be_finished_leaves_the_old_one_whole(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    build.build(Path("config/config.yaml"))
    before = everything_in(workspace / "results")

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as broken:
        broken.setattr(render, step, fail)
        with pytest.raises(ZeroDivisionError):
            build.build(Path("config/config.yaml"))
    assert everything_in(workspace / "results") == before
    (workspace / "results/figures/of-another-configuration.svg").write_text("")
    build.build(Path("config/config.yaml"))
    assert everything_in(workspace / "results").keys() == before.keys()
