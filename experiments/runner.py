"""Runs what the journal does not hold yet, and puts it there."""

from collections.abc import Callable, Iterator, Sequence

from common.errors import KneepointError
from engines.base import RunRecord, RunSpec
from experiments.executor import Executor
from experiments.journal import RunJournal
from experiments.results import FinishedRun, PlannedRun

_FAULTS_IN_A_ROW = 3
"""So many runs, one after the other, that the machine kept from ending: no other would."""


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
        spoils: Callable[[RunRecord], bool] | None = None,
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

    def run(self, specs: Sequence[RunSpec]) -> None:
        """Executes the runs that the journal lacks; when it returns, all of them are on disk there.

        Raises:
            KneepointError: a run cannot be executed at all, or the machine kept one from ending:
                nobody may then go on with what there is. All that did end is in the journal.
        """
        missing = {spec.run_id: spec for spec in specs if not self._is_known(spec.run_id)}
        self._on_progress(len(specs) - len(missing))
        if missing:
            self._execute(list(missing.values()))

    def finish(self, planned: Sequence[PlannedRun]) -> Iterator[FinishedRun]:
        """Runs at once, as `run` does; returns what came of each, read as it is asked for."""
        self.run([run.spec for run in planned])
        return self.recall(planned)

    def recall(self, planned: Sequence[PlannedRun]) -> Iterator[FinishedRun]:
        """Yields runs that have ended with what came of them, in their order."""
        for run in planned:
            record = self._journal.get(run.spec.run_id)
            assert record is not None, "it has been run"
            yield FinishedRun(run, record)

    def close(self) -> None:
        """Closes the executor."""
        if self._executor is not None:
            self._executor.close()

    def _is_known(self, run_id: str) -> bool:
        if self._spoils is None:
            return run_id in self._journal
        record = self._journal.get(run_id)
        return record is not None and not self._spoils(record)

    def _execute(self, specs: Sequence[RunSpec]) -> None:
        self._executor = self._executor or self._make_executor()
        faults: list[RunRecord] = []
        in_a_row = ended = 0
        for finished in self._executor.execute(specs):
            self._journal.add(finished)
            self._on_progress(len(finished))
            for record in finished:
                if record.status == "fault":
                    faults.append(record)
                    in_a_row += 1
                else:
                    in_a_row = 0
                    ended += 1
            if in_a_row >= _FAULTS_IN_A_ROW:
                break
        if faults:
            raise KneepointError(
                f"the machine kept {len(faults)} of {len(specs)} runs from ending, the last: "
                f"{faults[-1].reason}; put it right and start it again: the {ended} runs that "
                "ended are kept"
            )
