"""`kneepoint study`: its output and its exit status."""

from dataclasses import replace
from pathlib import Path

from kneepoint.cli.study import text_of
from kneepoint.common.study_record import BestTrial, FailedTrials, StudyRecord
from kneepoint.config.study import Formula
from kneepoint.engines.base import RunRecord, RunSpec
from kneepoint.runs.results import FinishedTrial
from kneepoint.search.study import failures, search_and_repeat
from kneepoint.workflow.states import outcome_of
from tests.experiments.fakes import FakeEngine, followed, measure
from tests.search.test_loop import study

HANGS = "hangs: the controller used 30 s of CPU time in one call"
FRESH = BestTrial(6, 5.99, {"parameter_limit_ms": 138.9}, {}, 6.39, 5.82, 6.16, 30)
RECORD = StudyRecord("Own", "mean power", 1, 20, FRESH)


def test_it_states_the_best_with_fresh_seeds_and_never_the_luckiest_value() -> None:
    text = text_of(RECORD)
    assert "5.99 [5.82, 6.16]" in text and "30 runs" in text and "138.9" in text
    assert "6.39" not in text


def test_a_value_of_the_search_is_named_so() -> None:
    text = text_of(replace(RECORD, best=BestTrial(6, 0.012, {}, {})))
    assert "0.012 in its search" in text


def test_means_of_logarithms_are_told_as_geometric_means() -> None:
    text = text_of(replace(RECORD, objective="mean_log power"))
    assert "399.4 [337, 473.4]" in text and "geometric mean power" in text


def test_failures_are_counted_with_their_reasons() -> None:
    text = text_of(replace(RECORD, failed=FailedTrials(9, {"nan": 2, HANGS: 7})))
    assert "9 of them failed" in text and HANGS in text and "5.99" in text


def test_without_a_success_there_is_no_best() -> None:
    failed = replace(RECORD, best=None, failed=FailedTrials(20, {HANGS: 20}))
    assert not failed.has_succeeded and RECORD.has_succeeded
    assert "20 of them failed" in text_of(failed) and "best" not in text_of(failed)


def test_a_replay_chooses_no_best() -> None:
    text = text_of(replace(RECORD, table="001-aimd"))
    assert "20 rows of 001-aimd" in text and "best" not in text


def failing(spec: RunSpec) -> RunRecord:
    return RunRecord(spec.run_id, "failed", HANGS)


def sometimes(spec: RunSpec) -> RunRecord:
    return failing(spec) if spec.parameters["alpha"] > 2 else measure(spec)


def test_study_json_counts_trials_that_failed(tmp_path: Path) -> None:
    outcome, best = followed(
        tmp_path, search_and_repeat(tmp_path, study("tpe")), FakeEngine(sometimes)
    )
    outcome.write(tmp_path)
    record = StudyRecord.load(tmp_path / "study.json")
    assert record.best == best and best and best.parameters["alpha"] <= 2
    assert 0 < record.failed.trials < record.n_trials
    assert record.failed.reasons == {HANGS: record.failed.trials}
    assert f"{record.failed.trials} failed" in outcome.message and HANGS in outcome.message


def test_nothing_is_repeated_of_a_study_without_a_success(tmp_path: Path) -> None:
    engine = FakeEngine(failing)
    planned = study("tpe")
    outcome, best = followed(tmp_path, search_and_repeat(tmp_path, planned), engine)
    outcome.write(tmp_path)
    record = StudyRecord.load(tmp_path / "study.json")
    assert best is None and record.best is None and not record.has_succeeded
    assert record.failed.trials == record.n_trials
    assert len(engine.ran) == planned.total
    assert outcome_of(tmp_path / "study.json", 0.0) == (None, record.n_trials, HANGS)


def test_failures_count_each_trial_once() -> None:
    trials = [FinishedTrial(n, {}, 0.0, reason, {}, 1) for n, reason in enumerate(("a", "", "b"))]
    assert failures([*trials, *trials[2:]]) == FailedTrials(3, {"a": 1, "b": 2})


def test_an_expression_is_stated_by_itself(tmp_path: Path) -> None:
    planned = study("ternary")
    goal = Formula(expression="log(throughput_mbps) - 0.5 * log(signal_delay_p95_ms)")
    wanted = replace(planned, study=planned.study.model_copy(update={"objective": goal}))
    _, best = followed(tmp_path, search_and_repeat(tmp_path, wanted), FakeEngine())
    assert best and best.runs and best.low is not None and best.high is not None
    assert best.in_search is not None and abs(best.value - best.in_search) < 0.1
    assert best.low <= best.value <= best.high
    powers = [each["power"] for each in best.networks.values()]
    assert best.value < 0 < min(powers)
