"""The printed progress of an experiment."""

import time
from pathlib import Path

import pytest

from kneepoint.runs.progress import Progress, read_progress


class Clock:
    """A clock that the test advances."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s = 1000.0
        monkeypatch.setattr(time, "monotonic", lambda: self.now_s)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


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
    clock: Clock, capsys: pytest.CaptureFixture[str]
) -> None:
    progress = Progress("confirm", 10, is_real_time=True)
    progress.add(2)  # from the journal, and so no evidence of the duration of runs
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


def test_a_reason_to_fail_is_told_at_once_and_once(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kneepoint.runs.progress.COUNT_FOLDER", tmp_path)
    progress = Progress("hangs", 100)
    progress.add(1)
    for reason in ("it hangs", "it hangs", "it is nan"):
        progress.fail(reason)
    assert said(capsys)[1:] == ["hangs: a run failed: it hangs", "hangs: a run failed: it is nan"]
    counted = read_progress("hangs")
    assert counted and (counted.failed, counted.reason) == (3, "it is nan")
