"""A runner's executors: one for each engine, until it is closed."""

from dataclasses import replace
from pathlib import Path

from kneepoint.engines.base import RunRecord, RunSpec
from kneepoint.runs.journal import RunJournal
from kneepoint.runs.results import PlannedRun
from kneepoint.runs.runner import Batch, Runner
from tests.experiments.fakes import FakeEngine, FakeSettings, ShuffledExecutor, measure, run_spec


def test_engines_share_no_executor_and_only_what_counts_is_counted(tmp_path: Path) -> None:
    guide = FakeSettings(engine="guide")
    made: list[Batch] = []
    closed: list[int] = []
    counted: list[int] = []

    class Closing(ShuffledExecutor):
        def close(self) -> None:
            closed.append(1)

    def make(batch: Batch) -> ShuffledExecutor:
        made.append(batch)
        return Closing(FakeEngine())

    with RunJournal(tmp_path / "runs.jsonl") as journal:
        runner = Runner(journal, make, counted.append)
        for seed in range(12):
            own = [PlannedRun(seed, 0, None, run_spec(seed=seed))]
            guides = [replace(own[0], spec=run_spec(seed=seed, engine="guide"))]
            assert len(list(runner.finish(Batch(guides, guide, counts=False)))) == 1
            assert len(list(runner.finish(Batch(own)))) == 1
        assert [batch.engine for batch in made] == [guide, None]
        assert sum(counted) == 12 and not closed
        list(runner.finish(Batch(own, together=True, anew=True)))
        assert (
            len(made) == 3 and len(closed) == 1
        )  # batches that measure the host do not share an executor
        runner.close()
    assert len(closed) == 3


def test_failures_are_told_as_they_happen(tmp_path: Path) -> None:
    def behaviour(spec: RunSpec) -> RunRecord:
        return RunRecord(spec.run_id, "failed", "it hangs") if spec.seed % 2 else measure(spec)

    told: list[str] = []
    executor = ShuffledExecutor(FakeEngine(behaviour))
    planned = [PlannedRun(seed, 0, None, run_spec(seed=seed)) for seed in range(6)]
    with RunJournal(tmp_path / "runs.jsonl") as journal:
        for expected in (3, 3):  # failures in the journal are not reported again
            runner = Runner(journal, lambda _: executor, lambda _: None, on_failure=told.append)
            list(runner.finish(Batch(planned)))
            assert told == ["it hangs"] * expected
