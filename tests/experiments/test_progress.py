"""What somebody who waits is told."""

import json
import os
import time
from pathlib import Path
from typing import Any

import pytest

from experiments.progress import Progress, Status, statuses


class Clock:
    """Time that passes when it is told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s = 1000.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now_s)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def write(folder: Path, name: str, **fields: Any) -> Path:
    path = folder / f"{name}.json"
    path.write_text(
        json.dumps(
            {
                "elapsed_s": 20.4,
                "expected_s": 140,
                "throughput_mbps": 3.456,
                "queueing_delay_ms": 78.9,
                **fields,
            }
        )
    )
    return path


def said(capsys: pytest.CaptureFixture[str]) -> list[str]:
    captured = capsys.readouterr()
    assert captured.out == ""
    return captured.err.splitlines()


def test_log_hears_whenever_the_runs_have_doubled(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress("windows", 100)
    for _ in range(9):
        progress.add(1)
    progress.add(0)
    progress.end("done")
    assert said(capsys) == [
        *(f"windows: {runs} of 100 runs" for runs in (1, 2, 4, 8)),
        "windows: done",
    ]


def test_runs_in_real_time_come_with_an_estimate(
    tmp_path: Path, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    progress = Progress("confirm", 10, is_real_time=True, running=tmp_path)
    progress.add(2)  # from the journal: they say nothing of how long the others take
    clock.now_s += 140
    progress.add(1)
    clock.now_s += 140
    progress.add(1)
    clock.now_s += 20
    progress.add(5)
    clock.now_s += 1
    progress.add(1)
    assert said(capsys) == [
        "confirm: 2 of 10 runs",
        "confirm: 3 of 10 runs; about 16 min left",
        "confirm: 4 of 10 runs; about 14 min left",
        "confirm: 9 of 10 runs; less than a minute left",
        "confirm: 10 of 10 runs",
    ]


def test_search_whose_end_nobody_knows_gives_no_estimate(
    tmp_path: Path, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    progress = Progress("probe", None, is_real_time=True, running=tmp_path)
    progress.add(0)
    clock.now_s += 140
    progress.add(1)
    assert said(capsys) == ["probe: 0 runs", "probe: 1 run"]


def test_log_hears_of_runs_in_progress_every_ten_seconds(
    tmp_path: Path, clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    progress = Progress("confirm", 4, is_real_time=True, running=tmp_path)
    progress.add(0)
    write(tmp_path, "older", elapsed_s=99)
    write(tmp_path, "last")
    for _ in range(20):
        clock.now_s += 1
        progress.add(0)
    write(tmp_path, "last", throughput_mbps=None, queueing_delay_ms=None)
    clock.now_s += 10
    progress.add(0)
    last = "confirm: 0 of 4 runs; on this host 2 in mahimahi, the last at 20 of 140 s"
    assert said(capsys) == [
        "confirm: 0 of 4 runs",
        *[f"{last} (3.46 Mbit/s, 79 ms queued)"] * 2,
        last,
    ]


def test_only_sound_and_fresh_statuses_are_read(tmp_path: Path) -> None:
    write(tmp_path, "b")
    write(tmp_path, "a", elapsed_s=1)
    write(tmp_path, "c", unknown=1)
    (tmp_path / "d.json").write_text("{")
    (tmp_path / "e.json").write_text("[]")
    (tmp_path / ".f.json.1234").write_text("{}")  # being written
    silent = write(tmp_path, "g")
    os.utime(silent, (time.time() - 60, time.time() - 60))
    assert statuses(tmp_path) == [Status(1, 140, 3.456, 78.9), Status(20.4, 140, 3.456, 78.9)]
    assert statuses(tmp_path / "absent") == []
