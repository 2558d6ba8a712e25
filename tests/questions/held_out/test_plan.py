"""Settings on held-out networks: the settings found, the runs, and the tables."""

import dataclasses
import json
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.common.tables import read_frame
from kneepoint.engines.base import RunRecord, RunSpec
from kneepoint.questions.held_out.plan import NETWORKS, configured, find_settings, list_runs
from kneepoint.runs.hold_out import SETTINGS
from kneepoint.runs.job import Job
from kneepoint.runs.results import RUNS, PlannedRun
from kneepoint.runs.seeds import derive_seed
from tests.experiments import fakes
from tests.experiments.fakes import FakeEngine, FakeJob, ShuffledExecutor, measure, perform
from tests.experiments.wire import prepare_named, write
from tests.study_json import study_json

STUDIES: dict[str, dict[str, Any]] = {
    "replayed": {"controller": "fixed_window", "table": "windows", "runs_per_trial": 2},
    "thresholds": {"controller": "delay_threshold", "table": "thresholds"},
    "tuned": {
        "controller": "fixed_window",
        "space": {"window": {"low": 8, "high": 20}},
        "sampler": {"kind": "ternary"},
    },
    "elsewhere": {"controller": "fixed_window", "networks": ["far"], "table": "windows"},
    "swept": {"controller": "fixed_window", "space": {"window": {"values": [15, 16]}}},
}
TABLES = {  # power peaks at window 15, or alpha 1.5
    "windows": ("fixed_window", "window", "window,power\n4,1.5\n14,9.25\n40,\n"),
    "thresholds": ("delay_threshold", "alpha", "alpha,power\n1,7\n"),
}
HOLD_OUT = {"training": "wire", "networks": ["far", "farther"], "repeats": 3}

Open = Callable[..., FakeJob]


@pytest.fixture(scope="module")
def studied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small configuration with prepared networks and finished studies."""
    folder = tmp_path_factory.mktemp("studied")
    for name, latency_us in (("wire", 0), ("far", 1000), ("farther", 5000)):
        link = {"constant_mbps": 12.032}
        network = {"title": name, "uplink": link, "downlink": link, "duration_s": 2}
        write(folder / f"config/networks/{name}.yaml", {**network, "host_latency_us": latency_us})
    for name, (controller, parameter, content) in TABLES.items():
        description = {
            "source": "a report",
            "controller": controller,
            "network": "wire",
            "columns": {
                parameter: {"parameter": parameter, "unit": "1"},
                "power": {"metric": "power", "unit": "Mbit/s/s"},
            },
        }
        write(folder / f"config/published/{name}.yaml", description)
        (folder / f"config/published/{name}.csv").write_text(content)
    for name, study in STUDIES.items():
        of_study = {"title": name, "networks": ["wire"], **study}
        write(folder / f"config/studies/{name}.yaml", of_study)
    job = job_of(folder)
    for name in ("wire", "far", "farther"):
        prepare_named(folder, name, job.networks / name)
    for name in STUDIES:
        perform(dataclasses.replace(job, out_dir=folder / "results" / name))
    return folder


@pytest.fixture
def open_job(studied: Path, tmp_path: Path) -> Open:
    """Makes jobs on a copy of `studied`; keywords replace keys of hold_out."""
    shutil.copytree(studied, tmp_path, dirs_exist_ok=True)
    return partial(job_of, tmp_path)


def job_of(folder: Path, engine: FakeEngine | None = None, **changes: Any) -> FakeJob:
    content = {"studies": list(STUDIES), "hold_out": {**HOLD_OUT, **changes}}
    return fakes.job_of(folder, "hold_out", content, ShuffledExecutor(engine or FakeEngine()))


def listed(job: Job) -> list[PlannedRun]:
    held = configured(job)
    networks = [job.network(name) for name in (held.training, *held.networks)]
    return list_runs(job, find_settings(job), networks, derive_seed(5, "hold_out"))


def test_settings_are_replayed_rows_and_best_trials(open_job: Open) -> None:
    job = open_job()
    found = find_settings(job)
    assert [
        (s.controller, s.origin, s.best, s.study, s.table, s.row, s.published_power) for s in found
    ] == [
        ("fixed_window", "published", False, "replayed", "windows", 0, 1.5),
        ("fixed_window", "published", True, "replayed", "windows", 1, 9.25),
        ("fixed_window", "published", False, "replayed", "windows", 2, None),
        ("fixed_window", "tuned", True, "tuned", None, None, None),
        ("delay_threshold", "published", True, "thresholds", "thresholds", 0, 7.0),
    ]
    assert [s.parameters.get("window") for s in found[:4]] == [4, 14, 40, 15]
    assert found[1].parameters == {"keepalive_ms": 1000, "window": 14}
    assert all(isinstance(value, int) for value in found[1].parameters.values())
    assert [s.study_runs for s in found] == [2, 2, 2, 1, 1]
    assert found[3].study_power == pytest.approx(0.25 * 15 / 0.155, rel=0.001)


def test_defaults_are_held_out_and_the_best_published_where_no_row_was_replayed(
    open_job: Open, studied: Path
) -> None:
    found = [s for s in find_settings(open_job(defaults=True)) if s.table is None]
    assert [(s.origin, s.best, s.study, s.study_runs) for s in found] == [
        ("published", False, "tuned", 0),
        ("tuned", True, "tuned", 1),
    ]
    assert found[0].parameters == {"keepalive_ms": 1000, "window": 50}
    held = {**HOLD_OUT, "defaults": True, "published": "best"}
    content = {"studies": ["tuned"], "hold_out": held}
    alone = find_settings(fakes.job_of(studied, "hold_out", content))
    assert [(s.origin, s.best) for s in alone] == [("published", True), ("tuned", True)]


def test_a_failed_run_counts_as_no_power(open_job: Open) -> None:
    def fails_at_14(spec: RunSpec) -> RunRecord:
        if spec.parameters.get("window") == 14:
            return RunRecord(spec.run_id, "failed", "the window is not a number")
        return measure(spec)

    job = open_job(FakeEngine(fails_at_14))
    (job.workflow.results / "replayed/runs.jsonl").unlink()
    perform(dataclasses.replace(job, out_dir=job.workflow.results / "replayed"))
    found = find_settings(job)
    assert [s.study_power > 0 for s in found[:3]] == [True, False, True]
    assert [s.best for s in found[:3]] == [False, False, True]


def test_seeds_are_fresh_and_the_same_for_every_setting(open_job: Open) -> None:
    job = open_job()
    planned = listed(job)
    seeds = {trial: [r.spec.seed for r in planned if r.trial == trial] for trial in range(5)}
    assert len(set(seeds[1])) == 9
    assert seeds[1] == seeds[3] == seeds[4]
    assert seeds[0] == seeds[2] == seeds[1][::3]
    searched = set(read_frame(job.workflow.results / "tuned/runs.parquet", RUNS)["seed"])
    assert searched.isdisjoint(seeds[1])


def test_hold_out_writes_runs_settings_and_bounds(open_job: Open) -> None:
    job = open_job()
    perform(job)
    runs = read_frame(job.out_dir / "runs.parquet", RUNS)
    assert set(runs["study"]) == {"hold_out"}
    assert len(runs) == 2 * 3 + 3 * 9
    settings = read_frame(job.out_dir / "settings.parquet", SETTINGS)
    assert list(settings["trial"]) == list(range(5))
    assert json.loads(settings["parameters"][3]) == {"keepalive_ms": 1000, "window": 15}
    assert settings["published_power"].isna().tolist() == [False, False, True, True, False]
    networks = read_frame(job.out_dir / "networks.parquet", NETWORKS)
    assert networks["network"].tolist() == ["wire", "far", "farther"]
    assert networks["is_training"].tolist() == [True, False, False]
    assert networks["power"].tolist() == pytest.approx([12032] * 3)


def test_another_setting_leaves_the_runs_of_the_others(open_job: Open) -> None:
    perform(open_job(published="best"))
    engine = FakeEngine()
    perform(open_job(engine))
    assert len(engine.ran) == 2 * 3


@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("results/tuned/study.json", None, "No such file or directory"),
        ("results/tuned/study.json", "{", "study.json: cannot be used"),
        ("results/tuned/study.json", study_json(trial=99), "no runs of trial 99 on wire"),
        ("results/replayed/runs.parquet", None, r"runs.parquet: cannot be used \(No such file"),
        ("results/replayed/runs.parquet", "x", r"runs.parquet: cannot be used \(damaged"),
        ("networks/far/network.json", "{}", "far/network.json: cannot be used"),
        ("networks/far/network.json", None, "far/network.json: cannot be used .*No such file"),
    ],
)
def test_hold_out_names_what_it_lacks(
    open_job: Open, tmp_path: Path, file: str, content: str | None, message: str
) -> None:
    if content is None:
        (tmp_path / file).unlink()
    else:
        (tmp_path / file).write_text(content)
    with pytest.raises(KneepointError, match=message) as error:
        perform(open_job())
    assert str(error.value).startswith(str(tmp_path / file))
    assert "\n" not in str(error.value)
