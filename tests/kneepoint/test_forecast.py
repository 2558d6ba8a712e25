"""The printed progress of a workflow: files, steps, and the remaining time."""

import os
from pathlib import Path

import pytest

from kneepoint.workflow.forecast import BUILD_LOG, Forecast, spoken
from kneepoint.workflow.states import State

FILES = 200
EXPERIMENTS = 50


class Clock:
    """A clock that the test advances."""

    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    BUILD_LOG.parent.mkdir(parents=True)
    return tmp_path


def states(done: int) -> list[State]:
    return [State(str(i), "done" if i < done else "waiting") for i in range(EXPERIMENTS)]


def compiled(files: int) -> None:
    BUILD_LOG.write_text("".join(f"[{i}/{FILES}] Building {i}.o\n" for i in range(1, files + 1)))


@pytest.mark.parametrize("slower", [0.5, 1, 4])
@pytest.mark.parametrize("noise", [0, 0.4])
def test_what_is_left_shrinks_to_the_end_over_both_parts(slower: float, noise: float) -> None:
    """At any pace; the remaining time may grow only in the first fifth, while the pace is
    unknown."""
    clock = Clock()
    forecast = Forecast(True, is_whole=True, processors=2, now_s=clock)
    log = Path("workflow.log")
    told: list[float] = []
    left_s: list[float] = []
    for file in range(1, FILES + 1):
        clock.now_s += 0.45 * slower * (1 + noise * (-1) ** file)
        compiled(file)
        said = forecast.progress_text(states(0), log)
        assert said.startswith(f"compiling: {file} of {FILES} files")
        assert (" left" in said) == (file >= FILES / 10)
        told.append(forecast.left_s(states(0)))
        left_s.append(clock.now_s)
    forecast.is_building = False
    for done in range(1, EXPERIMENTS + 1):
        clock.now_s += 2.2 * slower * (1 + noise * (-1) ** done)
        told.append(forecast.left_s(states(done)))
        left_s.append(clock.now_s)
    end_s = clock.now_s + 0.5 * slower * EXPERIMENTS
    late = len(told) // 5
    grown = [i for i in range(1, len(told)) if told[i] > told[i - 1]]
    assert len(grown) <= 2 and all(i < late for i in grown)
    for shown, at_s in list(zip(told, left_s, strict=True))[late:]:
        assert shown == pytest.approx(end_s - at_s, rel=0.6, abs=30)


def test_a_machine_that_becomes_slow_is_told_anew() -> None:
    clock = Clock()
    forecast = Forecast(False, is_whole=True, processors=2, now_s=clock)
    clock.now_s = 22
    before_s = forecast.left_s(states(10))
    clock.now_s = 2200
    assert forecast.left_s(states(11)) > 10 * before_s


def test_a_running_experiment_counts_by_its_runs() -> None:
    def left_s(*found: State) -> float:
        clock = Clock()
        forecast = Forecast(False, is_whole=True, processors=2, now_s=clock)
        clock.now_s = 60
        return forecast.left_s(found)

    half = State("a", "running", runs=50, total=100)
    assert left_s(State("a", "waiting")) > left_s(half) > left_s(State("a", "done"))


def test_steps_are_the_last_that_snakemake_told(folder: Path) -> None:
    log = folder / "log"
    forecast = Forecast(False)
    assert forecast.progress_text([], log) == ""
    log.write_text("1 of 12 steps (8%) done\nwords\n3 of 12 steps (25%) done\nwords\n")
    # A workflow of a part of the experiments has no forecast.
    assert forecast.progress_text([], log) == "3 of 12 steps done"
    whole = Forecast(False, is_whole=True)
    assert whole.progress_text(states(3), log).startswith("3 of 12 steps done, ")
    log.write_text("12 of 12 steps (100%) done\n")
    assert whole.progress_text(states(3), log) == "12 of 12 steps done"


def test_a_build_of_before_says_nothing() -> None:
    compiled(150)
    os.utime(BUILD_LOG, (0, 0))
    assert Forecast(True).progress_text([], Path("log")) == "compiling"


def test_the_time_that_is_left_is_told_no_finer_than_it_is_known() -> None:
    assert [spoken(s) for s in (5, 89, 200)] == [
        "less than a minute left",
        "about 1 min left",
        "about 3 min left",
    ]
