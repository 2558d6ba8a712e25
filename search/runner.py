"""Runs what the journal does not hold yet, and puts it there."""

from collections.abc import Callable, Mapping, Sequence

from search.engines.base import RunRecord, RunSpec
from search.executor import Executor
from search.journal import RunJournal
from search.results import FinishedRun, PlannedRun


class Runner:
    """Gets the records of runs: from the journal, or from an executor, which is made when needed.

    Args:
        journal: what is known, and where finished runs go at once.
        make_executor: makes the executor.
        on_progress: called with a number of runs that have just been dealt with; while runs go on
            in real time, with 0 now and then.
        spoils: tells of a record that it does not count, though it is known.
    """

    def __init__(
        self,
        journal: RunJournal,
        make_executor: Callable[[], Executor],
        on_progress: Callable[[int], None],
        spoils: Callable[[RunRecord], bool] = lambda _: False,
    ) -> None:
        self._journal = journal
        self._make_executor = make_executor
        self._on_progress = on_progress
        self._spoils = spoils
        self._executor: Executor | None = None

    @property
    def has_executed(self) -> bool:
        """Whether anything had to be run so far."""
        return self._executor is not None

    def run(self, specs: Sequence[RunSpec]) -> Mapping[str, RunRecord]:
        """Returns the record of every run by run_id; all but machine faults are on disk then.

        Raises:
            KneepointError: a run cannot be executed at all.
        """
        records: dict[str, RunRecord] = {}
        missing: dict[str, RunSpec] = {}
        for spec in specs:
            record = self._journal.get(spec.run_id)
            if record is None or self._spoils(record):
                missing[spec.run_id] = spec
            else:
                records[spec.run_id] = record
        self._on_progress(len(specs) - len(missing))
        if missing:
            self._executor = self._executor or self._make_executor()
            for finished in self._executor.execute(list(missing.values())):
                self._journal.add(finished)
                records |= {record.run_id: record for record in finished}
                self._on_progress(len(finished))
        return records

    def finish(self, planned: Sequence[PlannedRun]) -> list[FinishedRun]:
        """Returns planned runs with what came of them, in their order; raises as `run` does."""
        records = self.run([run.spec for run in planned])
        return [FinishedRun(run, records[run.spec.run_id]) for run in planned]

    def close(self) -> None:
        """Closes the executor."""
        if self._executor is not None:
            self._executor.close()
