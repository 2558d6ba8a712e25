"""The settings that are confirmed in real mahimahi, and the resumption of a confirmation."""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from kneepoint.analysis.frames import with_parameters
from kneepoint.common import tables
from kneepoint.common.errors import KneepointError
from kneepoint.common.tables import read, read_frame
from kneepoint.engines.base import RunRecord, RunSpec
from kneepoint.questions.real.plan import AGREEMENT, list_settings
from kneepoint.runs.audit_table import AUDIT
from kneepoint.runs.confirmed import SETTINGS
from kneepoint.runs.executor import Executor
from kneepoint.runs.hold_out import SETTINGS as HOLD_OUT_SETTINGS
from kneepoint.runs.job import Job
from kneepoint.runs.results import RUNS
from tests.experiments.fakes import FakeEngine, ShuffledExecutor, job_of, perform
from tests.experiments.wire import NETWORK, prepare_wire, write
from tests.questions.test_together import with_all

CALIBRATION = {"windows": [5, 12], "host": {"host_latency_us": {"values": [0, 100]}}}
CONFIRM: dict[str, Any] = {
    "network": "wire",
    "settings": [
        {"controller": "fixed_window", "parameters": {"window": 5}},
        {"controller": "delay_threshold", "parameters": {"alpha": 2}},
    ],
    "calibration": CALIBRATION,
}
STUDIES: dict[str, dict[str, Any]] = {
    "replayed": {"controller": "fixed_window", "table": "windows"},
    "tuned": {
        "controller": "fixed_window",
        "space": {"window": {"low": 8, "high": 20}},
        "sampler": {"kind": "ternary"},
    },
}
TABLE = {
    "source": "a report",
    "controller": "fixed_window",
    "network": "wire",
    "columns": {
        "window": {"parameter": "window", "unit": "packets"},
        "power": {"metric": "power", "unit": "Mbit/s/s"},
    },
}
FOUND = [  # controller, origin, best, table, row, window
    ("fixed_window", "published", True, "windows", 1, 12),
    ("fixed_window", "published", False, "windows", 0, 4),
    ("fixed_window", "tuned", True, None, None, 15),
]

Open = Callable[..., Job]


@pytest.fixture
def open_job(tmp_path: Path) -> Open:
    """Makes jobs on a small configuration with all inputs of confirm; keywords are its keys."""
    write(tmp_path / "config/networks/wire.yaml", NETWORK)
    write(tmp_path / "config/networks/far.yaml", NETWORK)
    write(tmp_path / "config/published/windows.yaml", TABLE)
    (tmp_path / "config/published/windows.csv").write_text("window,power\n4,1\n12,9\n,8\n40,3\n")
    for name, study in STUDIES.items():
        content = {"title": name, "networks": ["wire"], **study}
        write(tmp_path / f"config/studies/{name}.yaml", content)
    found = [
        {
            "trial": trial,
            "controller": controller,
            "origin": origin,
            "best": best,
            "study": "replayed",
            "table": table,
            "row": row,
            "parameters": json.dumps({"keepalive_ms": 1000, "window": window}),
            "published_power": None,
            "study_power": 9.0,
            "study_runs": 1,
        }
        for trial, (controller, origin, best, table, row, window) in enumerate(FOUND)
    ]
    results = tmp_path / "results"
    tables.write(results / "hold_out/settings.parquet", tables.from_rows(HOLD_OUT_SETTINGS, found))
    contradict(results, [["windows", 3], ["windows", 1], ["windows", 2]])

    def configured(executor: Executor | None = None, **changes: Any) -> Job:
        content = {
            "studies": list(STUDIES),
            "hold_out": {"training": "wire", "networks": ["far"]},
            "confirm": {**CONFIRM, **changes},
        }
        return job_of(tmp_path, "confirm", content, executor)

    configured()
    prepare_wire(tmp_path, tmp_path / "networks/wire")
    return configured


def contradict(results: Path, rows: list[list[object]]) -> None:
    """Writes an audit that contradicts these rows, and a row of another comparison."""
    said = [("reports", "contradicted", *row) for row in rows]
    said += [("reports", "reproduced", "windows", 0), ("measured", "contradicted", "windows", 0)]
    names = ("comparison", "verdict", "table", "row")
    audited = pd.DataFrame([dict(zip(names, row, strict=True)) for row in said])
    tables.write(results / "audit.parquet", tables.from_frame(AUDIT, audited))


def miss(results: Path, trials: list[int]) -> None:
    """Writes an agreement that leaves these settings unexplained."""
    rows = [{"trial": trial, "why": "unexplained"} for trial in trials]
    rows += [{"trial": trial, "why": why} for trial, why in ((0, "busier"), (2, ""))]
    told = tables.from_frame(AGREEMENT, pd.DataFrame(rows))
    tables.write(results / "agreement.parquet", told)


@with_all("audit", "held_out")
def test_settings_stand_once_with_everything_that_they_are_here_for(open_job: Open) -> None:
    job = open_job()
    listed = [
        (each.controller, each.parameters.get("window"), each.origins, each.rows)
        for each in list_settings(job)
    ]
    assert listed == [
        ("fixed_window", 5, ["calibration", "listed"], []),
        ("fixed_window", 12, ["calibration", "published", "contradicted"], ["windows 1"]),
        ("fixed_window", 15, ["tuned"], []),
        ("fixed_window", 40, ["contradicted"], ["windows 3"]),
        ("delay_threshold", None, ["listed"], []),
    ]


def test_settings_have_all_their_parameters(open_job: Open) -> None:
    job = open_job()
    first, *_, last = list_settings(job)
    assert first.parameters == {"keepalive_ms": 1000, "window": 5}
    assert last.parameters == {"alpha": 2.0, "beta": 1.0, "rtt_threshold_ms": 1.0}


def test_what_is_not_wanted_is_not_read(open_job: Open, tmp_path: Path) -> None:
    (tmp_path / "results/hold_out/settings.parquet").unlink()
    (tmp_path / "results/audit.parquet").unlink()
    job = open_job(best=False, contradicted=False, settings=[])
    assert [each.origins for each in list_settings(job)] == [["calibration"]] * 2


@with_all("audit", "held_out")
@pytest.mark.parametrize(
    ("file", "content", "message"),
    [
        ("hold_out/settings.parquet", None, "(No such file or directory); rebuild it"),
        ("audit.parquet", None, "No such file or directory); rebuild it: snakemake "),
        ("audit.parquet", "{", "; rebuild it"),
        ("audit.parquet", ["windows", 9], "; rebuild it"),
        ("audit.parquet", ["windows", -1], "; rebuild it"),
        ("audit.parquet", ["tables", 0], "; rebuild it"),
    ],
)
def test_results_that_are_missing_damaged_or_of_other_tables_are_named(
    open_job: Open, tmp_path: Path, file: str, content: Any, message: str
) -> None:
    job = open_job()
    path = tmp_path / "results" / file
    path.unlink()
    if isinstance(content, str):
        path.write_text(content)
    elif content:
        contradict(tmp_path / "results", [content])
    with pytest.raises(KneepointError) as caught:
        list_settings(job)
    assert str(caught.value).startswith(f"{path}: ")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


class InterruptedExecutor(ShuffledExecutor):
    """An executor that is killed after some runs."""

    def __init__(self, engine: FakeEngine, runs: int) -> None:
        super().__init__(engine)
        self._left = runs

    def execute(self, specs: Sequence[RunSpec]) -> Iterator[list[RunRecord]]:
        for records in super().execute(specs):
            yield []  # time passes
            if self._left == 0:
                raise KeyboardInterrupt
            self._left -= 1
            yield records


@with_all("audit", "held_out")
def test_interrupted_confirmation_runs_only_the_rest(open_job: Open) -> None:
    before, after, reference = FakeEngine(), FakeEngine(), FakeEngine()
    with pytest.raises(KeyboardInterrupt):
        perform(open_job(InterruptedExecutor(before, 7)))
    job = open_job(ShuffledExecutor(after, seed=2))
    assert not (job.out_dir / "runs.parquet").exists()
    perform(job)
    known = (job.out_dir / "runs.jsonl").read_text().count(chr(34) + "record" + chr(34))
    assert (known, len(after.ran)) == (15, 8)
    runs = (job.out_dir / "runs.parquet").read_bytes()
    assert set(before.ran[:7]).isdisjoint(after.ran)
    (job.out_dir / "runs.jsonl").unlink()
    perform(open_job(ShuffledExecutor(reference)))
    assert (job.out_dir / "runs.parquet").read_bytes() == runs
    perform(open_job(ShuffledExecutor(again := FakeEngine())))
    assert again.ran == []


@with_all("audit", "held_out")
def test_every_setting_runs_once_before_any_runs_again(open_job: Open) -> None:
    job = open_job(repeats=2)
    perform(job)
    runs = read_frame(job.out_dir / "runs.parquet", RUNS)
    assert list(runs["trial"]) == [0, 1, 2, 3, 4] * 2
    assert list(runs["run"]) == [0] * 5 + [1] * 5
    assert set(runs["engine"]) == {"mahimahi"}
    assert runs["run_id"].nunique() == 10
    settings = read(job.out_dir / "settings.parquet", SETTINGS).to_pylist()
    assert settings[1] == {
        "trial": 1,
        "controller": "fixed_window",
        "parameters": '{"keepalive_ms":1000,"window":12}',
        "origins": "calibration,published,contradicted",
        "rows": "windows 1",
    }


@with_all("audit", "calibration", "held_out")
def test_what_lies_outside_runs_again_and_nothing_else(open_job: Open) -> None:
    job = open_job(repeats=2, again=3)
    perform(job)
    before = set(read_frame(job.out_dir / "runs.parquet", RUNS)["run_id"])
    further = replace(job, out_dir=job.workflow.results / "again")
    miss(job.workflow.results, [1, 4])
    perform(further)
    runs = read_frame(further.out_dir / "runs.parquet", RUNS)
    assert list(runs["trial"]) == [1, 4] * 3
    assert list(runs["run"]) == [2, 2, 3, 3, 4, 4]
    assert set(runs["engine"]) == {"mahimahi"}
    assert before.isdisjoint(runs["run_id"])


@with_all("calibration")
def test_where_nothing_lies_outside_nothing_runs_again(open_job: Open) -> None:
    perform(open_job())
    job = open_job(ShuffledExecutor(engine := FakeEngine()))
    further = replace(job, out_dir=job.workflow.results / "again")
    miss(job.workflow.results, [])
    perform(further)
    assert engine.ran == []
    assert with_parameters(read_frame(further.out_dir / "runs.parquet", RUNS)).empty
    for trial in (5, -1):  # none of these settings
        miss(job.workflow.results, [trial])
        with pytest.raises(KneepointError, match=r"agreement.parquet: cannot be used .*; rebuild"):
            perform(further)
