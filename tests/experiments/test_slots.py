"""The number of a host's real-time slots, and their sharing by jobs."""

import fcntl
import json
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.engines.base import MachineFaultError, RunRecord, RunSpec
from kneepoint.runs import slots
from kneepoint.runs.slots import SlotExecutor, StoppedError, probe_file, slots_of
from tests.experiments.fakes import FakeEngine, FakeSettings, measure, run_spec

PATIENCE_S = 60
"""Time limit of waits (s)."""


def write(results: Path, content: str) -> None:
    probe_file(results).parent.mkdir()
    probe_file(results).write_text(content)


def test_host_that_was_never_probed_offers_one_slot_a_core(tmp_path: Path) -> None:
    assert slots_of(tmp_path, 3) == 3


def test_probed_host_offers_what_the_probe_found(tmp_path: Path) -> None:
    write(tmp_path, json.dumps({"slots": 16, "cores": 4, "levels": []}))
    assert slots_of(tmp_path, 3) == 16


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "3", "{}", '{"slots": 0}', '{"slots": "4"}', '{"slots": 2.5}']
)
def test_damaged_probe_is_named_with_its_remedy(tmp_path: Path, content: str) -> None:
    write(tmp_path, content)
    path = tmp_path / "probe/probe.json"
    with pytest.raises(KneepointError) as caught:
        slots_of(tmp_path, 3)
    assert str(caught.value) == (
        f"{path}: cannot be used (it lacks the number of slots); rebuild it: snakemake "
        f"--cores all --force {path} (and your --configfile, if you have one)"
    )


@dataclass(frozen=True)
class Settings(FakeSettings):
    """Real-time engines with a behaviour, or given engines."""

    behaviour: Callable[[RunSpec], RunRecord] = measure
    is_real_time: bool = True

    def open(self) -> FakeEngine:
        return FakeEngine(self.behaviour)


def execute(executor: SlotExecutor, specs: Sequence[RunSpec]) -> dict[str, RunRecord]:
    return {r.run_id: r for some in executor.execute(specs) for r in some}


SPECS = [run_spec(seed=seed) for seed in range(4)]


def test_jobs_share_the_slots_of_a_host_and_hear_that_time_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slots, "_TICK_S", 0.01)
    begun = threading.Event()

    def run(spec: RunSpec) -> RunRecord:
        begun.set()
        return measure(spec)

    waiting = SlotExecutor(Settings(behaviour=run), 1, tmp_path).execute(SPECS[:1])
    with (tmp_path / "0.lock").open("a") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        assert [next(waiting) for _ in range(20)] == [[]] * 20
        assert not begun.is_set()
    assert [some for some in waiting if some] == [[measure(SPECS[0])]]


def test_slot_of_a_job_that_was_killed_is_free(tmp_path: Path) -> None:
    program = f"""
import fcntl, sys
file = open({str(tmp_path / "0.lock")!r}, "a")
fcntl.flock(file, fcntl.LOCK_EX)
print("held", flush=True)
sys.stdin.read()
"""
    holder = subprocess.Popen(
        [sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(execute, SlotExecutor(Settings(), 1, tmp_path), SPECS[:1])
        holder.kill()
        holder.communicate()
        assert list(waiting.result(PATIENCE_S)) == [SPECS[0].run_id]


def test_run_that_meets_a_fault_costs_no_other(tmp_path: Path) -> None:
    def run(spec: RunSpec) -> RunRecord:
        if spec.seed == 1:
            raise MachineFaultError("the host was too busy", is_final=True)
        return measure(spec)

    records = execute(SlotExecutor(Settings(behaviour=run), 2, tmp_path), SPECS)
    assert [records[spec.run_id].status for spec in SPECS] == ["ok", "fault", "ok", "ok"]


@dataclass
class Endless(FakeEngine):
    """Runs until it is told to stop."""

    stopped: threading.Event = field(default_factory=threading.Event)

    def run(self, spec: RunSpec) -> RunRecord:
        self.ran.append(spec.run_id)
        self.stopped.wait(PATIENCE_S)
        raise MachineFaultError("the run was stopped")

    def stop(self) -> None:
        self.stopped.set()


def test_whoever_stops_waiting_ends_the_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slots, "_TICK_S", 0.01)
    engine = Endless()

    @dataclass(frozen=True)
    class One(FakeSettings):
        def open(self) -> FakeEngine:
            return engine

    waiting = SlotExecutor(One(), 1, tmp_path).execute(SPECS)
    while not engine.ran:
        assert next(waiting) == []
    waiting.close()  # type: ignore[attr-defined]
    assert engine.stopped.is_set()
    assert engine.ran == [SPECS[0].run_id]
    with (tmp_path / "0.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_run_does_not_begin_once_nobody_waits_for_it(tmp_path: Path) -> None:
    """The executor is stopped while the engine of a run is being made."""
    engine = FakeEngine()

    @dataclass(frozen=True)
    class Stopping(FakeSettings):
        def open(self) -> FakeEngine:
            executor._stop()
            return engine

    executor = SlotExecutor(Stopping(), 1, tmp_path)
    with pytest.raises(StoppedError):
        next(executor.execute(SPECS[:1]))
    assert engine.ran == []
