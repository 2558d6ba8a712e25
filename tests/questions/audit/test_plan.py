"""Runs added until verdicts on published rows are clear: their settings, numbers and hosts."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from kneepoint.analysis.results import Results
from kneepoint.common.tables import read_frame
from kneepoint.engines.base import RunRecord, RunSpec
from kneepoint.networks.config import load_network
from kneepoint.networks.prepare import prepare_network
from kneepoint.questions.audit import ADDED_RUNS
from kneepoint.questions.audit.tables import SETTINGS, SURE, compute
from kneepoint.runs.load import load_workflow
from kneepoint.runs.registry import experiments_of
from kneepoint.runs.results import RUNS
from tests.experiments import wire
from tests.experiments.fakes import FakeEngine, FakeJob, ShuffledExecutor, perform
from tests.experiments.listing import CATALOGUE

LATENCY_US = 500


def power(window: int, latency_us: float = LATENCY_US) -> float:
    """Returns the expected power."""
    return 250 * window / (80 + 0.02 * latency_us + window**2 / 3)


def noisy(spec: RunSpec) -> RunRecord:
    """Power as by `power`, with a deviation of 2 %."""
    noise = np.random.default_rng(int(spec.run_id[:8], 16)).standard_normal()
    window = spec.parameters["window"]
    throughput = 0.25 * window
    one = power(int(window), spec.network.host_latency_us) * (1 + 0.02 * noise)
    return RunRecord.measured(
        spec,
        {
            **{"throughput_mbps": throughput, "capacity_mbps": 5.0, "utilization": 0.5},
            **{"queueing_delay_p95_ms": 50.0, "signal_delay_p95_ms": 1e3 * throughput / one},
            **{"power": one, "packets_sent": 9, "packets_delivered": 9, "packets_dropped": 0},
        },
    )


ROWS = {4: 1.0, 14: 1.06, 20: 1.25, 8: 1.001}
"""The ratio of our power to the printed power of each window: 1.06 is near a limit."""
FITTED = {6: 1.0, 10: 1.0, 12: 1.0}
Open = Callable[..., FakeJob]


@pytest.fixture
def open_job(tmp_path: Path) -> Open:
    """Makes jobs for the added runs of finished studies; keywords are settings of the audit."""

    def write(path: str, content: object) -> None:
        wire.write(tmp_path / "config" / path, content)

    link = {"constant_mbps": 12.032}
    network = {"title": "wire", "uplink": link, "downlink": link, "duration_s": 2}
    write("networks/wire.yaml", {**network, "host_latency_us": LATENCY_US})
    columns = {
        "window": {"parameter": "window", "unit": "1"},
        "power": {"metric": "power", "unit": "Mbit/s/s"},
    }
    for name, rows in (("windows", ROWS), ("fitted", FITTED)):
        described = {"source": "us", "controller": "fixed_window", "network": "wire"}
        write(f"published/{name}.yaml", {**described, "columns": columns})
        lines = [f"{window},{power(window) / ratio:.4f}" for window, ratio in rows.items()]
        csv = tmp_path / f"config/published/{name}.csv"
        csv.write_text("\n".join(["window,power", *lines, ""]))
    study = {"title": "a", "controller": "fixed_window", "networks": ["wire"]}
    write("studies/replay.yaml", {**study, "table": "windows", "runs_per_trial": 3})
    latencies = {"host_latency_us": {"values": [450, 475, LATENCY_US, 525, 550]}}
    fit = {"host": latencies, "objective": {"fit": "fitted"}, "runs_per_trial": 4}
    write("studies/host.yaml", {**study, **fit})

    def configured(seed: int = 0, **changes: Any) -> FakeJob:
        content = {"seed": 7, "results": str(tmp_path / "results"), "studies": ["replay", "host"]}
        write("config.yaml", {**content, "audit": {"runs": [6, 12], **changes}})
        return FakeJob(
            workflow=load_workflow(tmp_path / "config/config.yaml"),
            catalogue=CATALOGUE,
            build=tmp_path,
            networks=tmp_path / "networks",
            out_dir=tmp_path / "results" / ADDED_RUNS,
            fake=ShuffledExecutor(FakeEngine(noisy), seed),
        )

    job = configured()
    where = tmp_path / "config/networks/wire.yaml"
    prepared = load_network(tmp_path / "config/config.yaml", "wire")
    prepare_network("wire", prepared, where, job.networks / "wire")
    for name in ("replay", "host"):
        perform(dataclasses.replace(job, out_dir=tmp_path / "results" / name))
    return configured


def audited(job: FakeJob) -> pd.DataFrame:
    return compute(Results(job.workflow, job.catalogue), {})["audit"].set_index("parameter_window")


def test_rows_get_runs_until_their_verdict_is_clear(open_job: Open) -> None:
    job = open_job()
    perform(job)
    rows = audited(job)
    verdicts = {4: "reproduced", 20: "unexplained", 8: "reproduced"}
    assert rows["verdict"].drop(14).to_dict() == verdicts
    assert rows["runs"][14] == 12  # the limit
    assert rows["clear"].to_dict() == {4: True, 14: False, 20: True, 8: True}
    assert set(rows["runs"].drop(14)) <= {3, 6, 12}
    assert rows["sure"][14] < SURE <= rows["sure"].drop(14).min()


def test_what_is_off_runs_where_the_fit_leaves_the_host_open(open_job: Open) -> None:
    job = open_job()
    perform(job)
    settings = read_frame(job.out_dir / "settings.parquet", SETTINGS)
    elsewhere = settings[settings["host"] != ""]
    assert {json.loads(each)["window"] for each in elsewhere["parameters"]} == {20}
    powers = read_frame(job.out_dir / "runs.parquet", RUNS).groupby("trial")["power"]
    ends = [json.loads(each)["host_latency_us"] for each in elsewhere["host"]]
    assert ends and set(ends) <= {450, 475, 525, 550}
    for trial, latency_us in zip(elsewhere["trial"], ends, strict=True):
        assert powers.size()[trial] == 6
        assert powers.mean()[trial] == pytest.approx(power(20, latency_us), rel=0.03)
    row = audited(job).loc[20]
    assert row["host_low_power"] < row["low_power"] or row["host_high_power"] > row["high_power"]
    assert row["runs"] == 12  # runs on other hosts do not count


@pytest.mark.slow
def test_the_order_in_which_runs_end_changes_nothing(open_job: Open) -> None:
    job = open_job()
    perform(job)
    first = {path.name: path.read_bytes() for path in job.out_dir.glob("*.parquet")}
    (job.out_dir / "runs.jsonl").unlink()
    perform(open_job(seed=7))
    assert first == {path.name: path.read_bytes() for path in job.out_dir.glob("*.parquet")}


def test_without_steps_nothing_is_added(open_job: Open) -> None:
    job = open_job(runs=[])
    assert ADDED_RUNS not in experiments_of(job.workflow)
    assert audited(job)["runs"].tolist() == [3] * len(ROWS)
