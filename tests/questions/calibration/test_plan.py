"""The emulated host is fitted to real runs: the fit recovers a planted host."""

import dataclasses
import json
import random
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.common.tables import read_frame
from kneepoint.engines.base import RunRecord, RunSpec
from kneepoint.networks.measured_delays import pooled_delays
from kneepoint.questions.calibration.plan import DELAYS, SPREAD
from kneepoint.runs.job import Job
from kneepoint.runs.results import RUNS, TRIALS
from tests.experiments.calibrated import CONFIRM
from tests.experiments.fakes import FakeEngine, ShuffledExecutor, job_of, measure, perform
from tests.experiments.wire import NETWORK, prepare_wire, write
from tests.questions.test_together import with_all

pytestmark = with_all("real")

PLANTED_US = 150

Open = Callable[..., Job]


def on_planted_host(spec: RunSpec) -> RunRecord:
    """A real run ignores the host model of its network."""
    if spec.engine != "mahimahi":
        return measure(spec)
    network = dataclasses.replace(spec.network, host_latency_us=PLANTED_US)
    record = measure(dataclasses.replace(spec, network=network))
    return dataclasses.replace(record, run_id=spec.run_id)


@pytest.fixture
def open_job(tmp_path: Path) -> Open:
    """Makes jobs, given the folder of their results."""
    write(tmp_path / "config/networks/wire.yaml", NETWORK)
    prepare_wire(tmp_path, tmp_path / "networks/wire")

    def job_in(folder: str, behaviour: Callable[[RunSpec], RunRecord] = on_planted_host) -> Job:
        executor = ShuffledExecutor(FakeEngine(behaviour))
        return job_of(tmp_path, folder, {"confirm": CONFIRM}, executor)

    return job_in


def test_planted_host_latency_is_recovered(open_job: Open) -> None:
    perform(open_job("confirm"))
    job = open_job("calibration")
    perform(job)
    study = json.loads((job.out_dir / "study.json").read_text())
    assert study["best"]["searched"]["host_latency_us"] == PLANTED_US
    assert study["controller"] == "fixed_window"
    trials = read_frame(job.out_dir / "trials.parquet", TRIALS)
    assert len(trials) == 6 * 2
    assert set(trials["host_delay_scale"]) == {0.5, 1}
    runs = read_frame(job.out_dir / "runs.parquet", RUNS)
    assert set(runs["controller"]) == {"fixed_window"}
    assert len(runs) == 12 * 3 * 2


def test_every_confirmed_setting_is_emulated_on_the_host_found(open_job: Open) -> None:
    perform(open_job("confirm"))
    perform(open_job("calibration"))
    job = open_job("agreement")
    perform(job)
    real = read_frame(job.out_dir.parent / "confirm/runs.parquet", RUNS)
    emulated = read_frame(job.out_dir / "runs.parquet", RUNS)
    assert list(emulated["trial"]) == [0, 1, 2, 3] * 4
    assert set(emulated["engine"]) == {"emulator"}
    assert emulated["seed"].nunique() == 4
    for trial in range(4):
        means = [
            float(runs[runs["trial"] == trial]["signal_delay_p95_ms"].mean())
            for runs in (real, emulated)
        ]
        assert means[0] == pytest.approx(
            means[1], abs=0.2
        )  # 50 us more of the host's latency make 1 ms


def test_planted_spread_of_lateness_is_recovered(open_job: Open) -> None:
    hosts = []

    def differing(spec: RunSpec) -> RunRecord:
        """A run whose throughput varies with its host's wake_spread."""
        hosts.append(spec.network.host_model)
        spread = 0.5 if spec.engine == "mahimahi" else spread_of(spec.network.host_model)
        record = on_planted_host(spec)
        assert record.throughput_mbps is not None
        factor = 1 + 0.05 * spread * random.Random(spec.run_id).gauss()
        return dataclasses.replace(record, throughput_mbps=record.throughput_mbps * factor)

    perform(open_job("confirm", differing))
    job = open_job("calibration", differing)
    perform(job)
    perform(open_job("agreement", differing))
    tried = read_frame(job.out_dir / "spread.parquet", SPREAD)
    assert list(tried["wake_spread"]) == [0, 0.25, 0.5, 1]
    assert list(tried.loc[tried["is_best"], "wake_spread"]) == [0.5]
    assert tried["emulated_deviation"].is_monotonic_increasing
    agreement = 4 * 4  # settings, and emulated runs of each
    assert {spread_of(host) for host in hosts[-agreement:]} == {0.5}


def test_emulated_processes_wait_as_long_as_real_ones_did(open_job: Open) -> None:
    hosts = []

    def measured(spec: RunSpec) -> RunRecord:
        record = on_planted_host(spec)
        if spec.engine != "mahimahi":
            hosts.append(spec.network.host_model)
            return record
        longest_us = 90.0 if spec.controller == "fixed_window" else 9e5
        return dataclasses.replace(record, scheduling_delays_us=(4.0, 9.6, longest_us))

    perform(open_job("confirm", measured))
    job = open_job("calibration", measured)
    perform(job)
    delays = read_frame(job.out_dir / "delays.parquet", DELAYS)
    assert list(delays["one_in"]) == [1, 2, 4]
    assert list(delays["delay_us"]) == pytest.approx([4, 9.6, 90])
    assert list(delays["n_runs"]) == [9] * 3  # of fixed windows only
    assert hosts
    assert all("delays_us=4+10+90" in host for host in hosts)


def test_longer_runs_have_rarer_delays() -> None:
    pooled = pooled_delays([(1.0, 8.0, 50.0), (3.0, 6.0, 40.0, 42.0)])
    assert [row["one_in"] for row in pooled] == [1, 2, 4, 8]
    assert [row["delay_us"] for row in pooled] == [2, 7, 45, 45]  # not 42
    assert [row["least_us"] for row in pooled] == [1, 6, 40, 42]
    assert [row["greatest_us"] for row in pooled] == [3, 8, 50, 42]
    assert [row["n_runs"] for row in pooled] == [2, 2, 2, 1]
    assert pooled_delays([]) == []


def spread_of(host_model: str) -> float:
    found = re.search("wake_spread=([0-9.]+)", host_model)
    return float(found[1]) if found else 0.0


def test_calibration_before_any_real_run_names_what_is_missing(open_job: Open) -> None:
    with pytest.raises(KneepointError, match=r"confirm/settings.parquet: .*No such file"):
        perform(open_job("calibration"))


def test_calibration_without_a_measured_window_is_an_error(open_job: Open) -> None:
    perform(open_job("confirm", lambda spec: RunRecord(spec.run_id, "failed", "it burst")))
    with pytest.raises(
        KneepointError, match=r"calibration: no real run of a fixed window finished.*`make confirm`"
    ):
        perform(open_job("calibration"))
