"""The loop's promises: any order, any interruption, the same bytes; no run twice, none dropped."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.common.tables import write
from kneepoint.engines.base import MachineFaultError, RunRecord, RunSpec, run_reliably
from kneepoint.runs.journal import RunJournal
from kneepoint.runs.results import FinishedRun, FinishedTrial, runs_table, trials_table
from kneepoint.runs.runner import Runner
from kneepoint.search.loop import ask_and_tell
from kneepoint.search.objective import find_best
from kneepoint.search.plan import StudyPlan
from kneepoint.search.samplers import make_asker
from kneepoint.search.study import runs_of as runs_of_trial
from tests.experiments.fakes import (
    FakeEngine,
    ShuffledExecutor,
    fault,
    followed,
    measure,
    network,
    plan,
    table,
)

TABLE = table(
    "printed",
    [
        {"window": w, "throughput_mbps": 0.25 * w, "signal_delay_p95_ms": 90 + w * w / 3}
        for w in (3, 9)
    ],
    columns={
        "window": {"parameter": "window", "unit": "packets"},
        "throughput_mbps": {"metric": "throughput_mbps", "unit": "Mbit/s"},
        "signal_delay_p95_ms": {"metric": "signal_delay_p95_ms", "unit": "ms"},
    },
)

STUDIES: dict[str, dict[str, Any]] = {
    "grid": {"space": {"window": {"values": [1, 5, 12, 40]}}, "runs_per_trial": 3},
    "table": {"table": "printed"},
    "ternary": {"space": {"window": {"low": 1, "high": 100}}, "sampler": {"kind": "ternary"}},
    "tpe": {
        "controller": "delay_threshold",
        "space": {"alpha": {"low": 0.1, "high": 10}, "beta": {"values": [1, 2, 4]}},
        "sampler": {"kind": "tpe", "trials": 26, "startup_trials": 8},
        "runs_per_trial": 2,
    },
    "race": {
        "controller": "delay_threshold",
        "space": {"alpha": {"low": 0.1, "high": 10}, "beta": {"low": 0.1, "high": 10}},
        "sampler": {"kind": "tpe", "trials": 24, "startup_trials": 8},
        "runs_per_trial": 4,
        "race": {},
    },
    "hyperband": {
        "controller": "delay_threshold",
        "space": {"alpha": {"low": 0.1, "high": 10}},
        "sampler": {"kind": "random", "trials": 12},
        "runs_per_trial": 9,
        "race": {"pruner": "hyperband", "first": 1},
    },
    "wilcoxon": {
        "space": {"window": {"low": 1, "high": 100}},
        "sampler": {"kind": "qmc", "trials": 12},
        "runs_per_trial": 6,
        "race": {"pruner": "wilcoxon"},
    },
    "median": {
        "controller": "delay_threshold",
        "space": {"alpha": {"low": 0.1, "high": 10}, "beta": {"low": 0.1, "high": 10}},
        "sampler": {"kind": "cmaes", "trials": 12},
        "runs_per_trial": 4,
        "race": {"pruner": "median"},
    },
    "front": {
        "controller": "delay_threshold",
        "space": {"alpha": {"low": 0.1, "high": 10}},
        "sampler": {"kind": "nsga2", "trials": 24, "population": 6},
        "objective": {"front": "mean"},
    },
    "bounded": {
        "space": {"window": {"low": 1, "high": 100}},
        "sampler": {"kind": "tpe", "trials": 24},
        "objective": {"throughput": "mean", "delay_ms": 110},
    },
    "fit": {
        "host": {"host_latency_us": {"low": 0, "high": 3000}},
        "objective": {"fit": "printed"},
        "sampler": {"kind": "golden"},
        "ask_ahead": 2,
    },
}


def study(name: str) -> StudyPlan:
    networks = (
        [network("wire"), network("air", uplink={"delay_ms": 30})]
        if name in ("tpe", "race", "front")
        else [network("wire")]
    )
    return plan({"printed": TABLE}, networks, **STUDIES[name])


class Killed(BaseException):
    """The process ends here."""


def search(
    folder: Path, planned: StudyPlan, engine: FakeEngine, order: int = 0
) -> list[FinishedTrial]:
    asker = make_asker(planned.study.sampler, planned.space, planned.points, planned.seed)
    return followed(folder, ask_and_tell(planned, asker, lambda _: None), engine, order)


def runs_of(folder: Path, planned: StudyPlan, trials: list[FinishedTrial]) -> list[FinishedRun]:
    with RunJournal(folder / "runs.jsonl") as journal:
        runner = Runner(journal, lambda _: ShuffledExecutor(FakeEngine()), lambda _: None)
        listed = [runs_of_trial(planned, trial) for trial in trials]
        return [run for runs in listed for run in runner.recall(runs)]


def tables(folder: Path, planned: StudyPlan, trials: list[FinishedTrial]) -> tuple[bytes, bytes]:
    runs = runs_of(folder, planned, trials)
    write(folder / "runs.parquet", runs_table(planned.name, runs))
    columns = dict.fromkeys(planned.space, float)
    further = planned.study.objective.columns
    write(folder / "trials.parquet", trials_table(planned.name, columns, trials, further))
    return (folder / "runs.parquet").read_bytes(), (folder / "trials.parquet").read_bytes()


@pytest.mark.parametrize("name", STUDIES)
def test_order_of_completion_makes_no_difference(tmp_path: Path, name: str) -> None:
    results = set()
    planned = study(name)
    for order in range(3):
        folder = tmp_path / str(order)
        trials = search(folder, planned, FakeEngine(), order)
        results.add(tables(folder, planned, trials))
    assert len(results) == 1
    assert search(folder, planned, again := FakeEngine()) == trials
    assert again.ran == [], "a finished study runs nothing again"


@pytest.mark.parametrize("name", STUDIES)
def test_study_that_is_killed_goes_on_as_if_it_had_not_been(tmp_path: Path, name: str) -> None:
    whole = FakeEngine()
    planned = study(name)
    reference = tables(tmp_path / "ref", planned, search(tmp_path / "ref", planned, whole))
    for after in range(0, len(whole.ran), 1 + len(whole.ran) // 6):
        folder = tmp_path / str(after)
        engine = FakeEngine()

        def die(spec: RunSpec, engine: FakeEngine = engine, after: int = after) -> RunRecord:
            if len(engine.ran) > after:
                raise Killed
            return measure(spec)

        engine.behaviour = die
        with pytest.raises(Killed):
            search(folder, planned, engine)
        rest = FakeEngine()
        assert tables(folder, planned, search(folder, planned, rest)) == reference
        finished = engine.ran[:-1]
        assert set(finished) | set(rest.ran) == set(whole.ran)
        assert len(set(finished) & set(rest.ran)) <= 2  # at most the runs not yet handed over


def test_ternary_finds_the_best_window(tmp_path: Path) -> None:
    trials = search(tmp_path, study("ternary"), FakeEngine())
    best = max(trials, key=lambda trial: trial.value)
    assert best.searched["parameter_window"] in (15, 16)  # sqrt(3 * 80)


def test_search_for_power_begins_with_the_declared_defaults(tmp_path: Path) -> None:
    planned = plan(
        {},
        [network("wire")],
        controller="delay_threshold",
        space={"alpha": {"low": 0.1, "high": 10}, "beta": {"low": 0.1, "high": 10}},
        sampler={"kind": "tpe", "trials": 3},
    )
    first, second, _ = search(tmp_path, planned, FakeEngine())
    assert dict(first.searched) == {"parameter_alpha": 1.0, "parameter_beta": 1.0}
    assert second.searched != first.searched


@pytest.mark.parametrize(
    "changes",
    [
        {"space": {"alpha": {"low": 2, "high": 10}}},
        {"space": {"alpha": {"low": 0.1, "high": 10}}, "objective": {"fit": "printed"}},
    ],
    ids=["default outside the range", "fit"],
)
def test_other_searches_begin_anywhere(changes: dict[str, Any]) -> None:
    known: dict[str, Any] = {
        "controller": "delay_threshold",
        "sampler": {"kind": "tpe", "trials": 3},
    }
    assert plan({"printed": TABLE}, [network("wire")], **known, **changes).start == ()


def test_fit_finds_the_hidden_latency(tmp_path: Path) -> None:
    planned = study("fit")
    trials = search(tmp_path, planned, FakeEngine())
    best = min(trials, key=lambda trial: trial.value)
    assert best.searched["host_latency_us"] == pytest.approx(500, abs=5)  # 90 = 80 + 0.02 * 500
    assert [run.planned.row for run in runs_of(tmp_path, planned, trials[:1])] == [0, 1]


def test_failed_run_scores_worst_and_keeps_its_reason(tmp_path: Path) -> None:
    def behaviour(spec: RunSpec) -> RunRecord:
        if spec.parameters["window"] == 5:
            return RunRecord(spec.run_id, "failed", "the window is not a number")
        return measure(spec)

    trials = search(tmp_path, study("grid"), FakeEngine(behaviour))
    assert [trial.value == 0 for trial in trials] == [False, True, False, False]
    assert trials[1].reason == "the window is not a number"


class Reliable(FakeEngine):
    """Runs with retries, like executors, but without their pauses."""

    def run(self, spec: RunSpec) -> RunRecord:
        return run_reliably(FakeEngine(self.behaviour, self.ran), spec, sleep=lambda _: None)


def test_fault_of_the_machine_ends_the_study_and_is_made_good_later(tmp_path: Path) -> None:
    planned = study("grid")

    def sometimes(spec: RunSpec) -> RunRecord:
        return fault(spec) if spec.parameters["window"] == 40 else measure(spec)

    engine = Reliable(sometimes)
    with pytest.raises(
        KneepointError, match=r"prevented 3 of 12 runs .*: the disk is full; .* 9 finished runs"
    ):
        search(tmp_path, planned, engine)
    repaired = FakeEngine()
    reference = tables(tmp_path / "ref", planned, search(tmp_path / "ref", planned, FakeEngine()))
    assert tables(tmp_path, planned, search(tmp_path, planned, repaired)) == reference
    assert len(repaired.ran) == 3


def test_fault_never_reaches_a_learning_sampler(tmp_path: Path) -> None:
    """A machine that fails for a while during the search does not change the search."""
    planned = study("tpe")
    reference = tables(tmp_path / "ref", planned, search(tmp_path / "ref", planned, FakeEngine()))
    for broken in (range(30, 45), range(50, 56), range(90, 104)):
        folder = tmp_path / str(broken.start)
        engine = FakeEngine()

        def sometimes(
            spec: RunSpec, engine: FakeEngine = engine, broken: range = broken
        ) -> RunRecord:
            return fault(spec) if len(engine.ran) in broken else measure(spec)

        engine.behaviour = sometimes
        with pytest.raises(KneepointError, match=r"the machine prevented .*the disk is full"):
            search(folder, planned, Reliable(sometimes, engine.ran))
        assert tables(folder, planned, search(folder, planned, FakeEngine())) == reference


def test_machine_that_lets_nothing_end_is_not_asked_for_everything(tmp_path: Path) -> None:
    planned = plan({}, space={"window": {"values": list(range(1, 65))}})
    engine = Reliable(fault)
    with pytest.raises(KneepointError, match=r"prevented [3-6] of 64 runs from finishing"):
        search(tmp_path, planned, engine)
    assert len(set(engine.ran)) <= 6


@pytest.mark.parametrize(
    ("faults", "fault_is", "status", "pauses_s", "tries"),
    [
        (2, {}, "ok", [0.5, 2], 3),  # it passes
        (9, {}, "fault", [0.5, 2, 8], 4),
        (9, {"blames_controller": True}, "failed", [], 4),  # without pauses
        (9, {"is_final": True}, "fault", [], 1),  # the engine has tried often enough
    ],
)
def test_only_faults_that_may_pass_are_waited_out(
    faults: int, fault_is: dict[str, bool], status: str, pauses_s: list[float], tries: int
) -> None:
    def behaviour(spec: RunSpec) -> RunRecord:
        if len(engine.ran) <= faults:
            raise MachineFaultError("crashed", **fault_is)
        return measure(spec)

    engine = FakeEngine(behaviour)
    spec = study("grid").runs_of(0, {"parameter_window": 5})[0].spec
    paused_s: list[float] = []
    record = run_reliably(engine, spec, sleep=paused_s.append)
    assert (record.status, paused_s) == (status, pauses_s)
    assert record == measure(spec) if status == "ok" else record.reason == "crashed"
    assert len(engine.ran) == tries


def test_race_stops_losers_and_runs_all_pairs_of_the_winner(tmp_path: Path) -> None:
    planned = study("race")
    trials = search(tmp_path, planned, FakeEngine())
    stopped = [trial for trial in trials if trial.is_stopped]
    assert stopped and len(planned.pairs) == 8
    for trial in trials:
        assert trial.is_stopped == (trial.n_runs < 8)
        assert trial.n_runs >= 2
    best = find_best(trials, minimise=False)
    assert best.n_runs == 8
    whole = plan(
        {}, planned.networks, **{**STUDIES["race"], "race": None, "sampler": planned.study.sampler}
    )
    unraced = search(tmp_path / "whole", whole, FakeEngine())
    assert sum(trial.n_runs for trial in trials) < 0.6 * sum(trial.n_runs for trial in unraced)
    assert best.value > 0.98 * find_best(unraced, minimise=False).value


def test_knee_is_beaten_by_no_trial(tmp_path: Path) -> None:
    trials = search(tmp_path, study("front"), FakeEngine())
    assert len({trial.objectives for trial in trials}) > 2
    knee = find_best(trials, minimise=False)
    throughput, delay = knee.objectives
    assert not any(
        other.objectives[0] >= throughput
        and other.objectives[1] <= delay
        and other.objectives != knee.objectives
        for other in trials
    )
    assert knee.value == pytest.approx(1000 * knee.objectives[0] / knee.objectives[1])


def test_bound_is_kept_and_used(tmp_path: Path) -> None:
    planned = study("bounded")
    best = find_best(search(tmp_path, planned, FakeEngine()), minimise=False)
    assert best.violation is not None and -0.1 < best.violation <= 0
    assert best.searched["parameter_window"] in (8, 9)  # 80 + w^2 / 3 <= 110


def test_search_begins_with_what_it_is_given(tmp_path: Path) -> None:
    planned = study("bounded")
    given = ({"parameter_window": 30}, {"parameter_window": 3})
    trials = search(tmp_path, replace(planned, given=given), FakeEngine())
    assert [dict(trial.searched) for trial in trials[:2]] == list(given)
