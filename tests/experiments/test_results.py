"""The results schema: bytes, versions, kinds of columns."""

import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from kneepoint.common import tables
from kneepoint.common.errors import KneepointError
from kneepoint.common.tables import read, read_frame, write
from kneepoint.engines.base import RunRecord
from kneepoint.runs.results import (
    RUNS,
    TRIALS,
    FinishedRun,
    FinishedTrial,
    PlannedRun,
    means_of,
    runs_table,
    trials_table,
)
from tests.experiments.fakes import measure, run_spec


def finished(trial: int, window: int, status: str = "ok", row: int | None = None) -> FinishedRun:
    spec = run_spec(window, seed=trial)
    record = measure(spec) if status == "ok" else RunRecord(spec.run_id, status, "why")  # type: ignore[arg-type]
    return FinishedRun(PlannedRun(trial, 0, row, spec), record)


FINISHED = [finished(0, 12), finished(1, 13, "failed", row=4), finished(2, 14, "fault")]


def test_runs_table_has_the_documented_columns(tmp_path: Path) -> None:
    write(tmp_path / "runs.parquet", runs_table("windows", FINISHED))
    frame = read_frame(tmp_path / "runs.parquet", RUNS)
    assert (
        list(frame.columns)
        == (
            "run_id study trial run row engine controller network parameters seed status reason "
            "throughput_mbps capacity_mbps utilization queueing_delay_p95_ms signal_delay_p95_ms "
            "power packets_sent packets_delivered packets_dropped at_bound_share idle_share "
            "scheduling_delay_p99_us scheduling_delays_us traffic flows probes "
            "queue_by_interval_packets"
        ).split()
    )
    assert frame["row"].dtype == frame["packets_sent"].dtype == "Int64"
    assert frame["trial"].dtype == "int64"
    assert list(frame["status"]) == ["ok", "failed", "fault"]
    assert list(frame["reason"]) == ["", "why", "why"]
    assert list(frame["row"].isna()) == [True, False, True]
    assert frame["parameters"][0] == '{"keepalive_ms":1000,"window":12}'
    assert frame["power"].isna().tolist() == [False, True, True]


def test_trials_table_has_a_column_for_each_searched_parameter(tmp_path: Path) -> None:
    trials = [
        FinishedTrial(
            0, {"parameter_window": 12, "host_latency_us": 3}, 12.5, "", means_of(FINISHED[:2]), 2
        ),
        FinishedTrial(1, {"parameter_window": 13, "host_latency_us": 4}, 0, "crashed", {}, 1),
    ]
    columns = {"parameter_window": int, "host_latency_us": float}
    write(tmp_path / "trials.parquet", trials_table("windows", columns, trials))
    frame = read_frame(tmp_path / "trials.parquet", TRIALS)
    assert list(frame["state"]) == ["COMPLETE", "COMPLETE"]
    assert frame["parameter_window"].dtype == "int64"
    assert frame["host_latency_us"].dtype == "float64"
    assert frame["power"][0] == FINISHED[0].record.power  # the mean over the measured runs
    assert math.isnan(frame["power"][1])
    assert list(frame["n_runs"]) == [2, 1]


def test_table_made_a_few_rows_at_a_time_has_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for rows in (1, 2, 4096):
        monkeypatch.setattr(tables, "_BATCH", rows)
        write(tmp_path / str(rows), runs_table("windows", iter(FINISHED)))
    whole = (tmp_path / "4096").read_bytes()
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes() == whole


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file"),
        (b"PAR1 is not enough", "damaged"),
        (b"", "damaged"),
        (pa.table({"a": [1]}), "has version none"),
    ],
)
def test_unreadable_table_is_named(tmp_path: Path, content: Any, message: str) -> None:
    path = tmp_path / "runs.parquet"
    if isinstance(content, bytes):
        path.write_bytes(content)
    elif content:
        pq.write_table(content, path)
    with pytest.raises(KneepointError, match=f"runs.parquet: .*{message}"):
        read(path, RUNS)
