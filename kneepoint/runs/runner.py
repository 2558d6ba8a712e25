"""Execution and recording of runs that are not in the journal."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from kneepoint.common.errors import KneepointError
from kneepoint.engines.base import EngineSettings, RunRecord, RunSpec
from kneepoint.runs.executor import Executor
from kneepoint.runs.journal import RunJournal
from kneepoint.runs.results import FinishedRun, PlannedRun

_FAULTS_IN_A_ROW = 3
"""The number of consecutive machine faults that ends a batch."""


@dataclass(frozen=True)
class Batch:
    """Runs that are executed before the plan continues.

    Args:
        runs: the runs.
        engine: engine that executes them; None: the experiment's.
        together: execute all at the same time and keep every record, even after a fault or on a
            busy host: these runs measure the host.
        anew: execute all runs, even those in the journal, for their other outputs.
        keeps_faults: keep faults as records, unless several of our controllers' runs meet one in
            succession.
        counts: whether these runs count towards the experiment's number of runs.
    """

    runs: Sequence[PlannedRun]
    engine: EngineSettings | None = None
    together: bool = False
    anew: bool = False
    keeps_faults: bool = False
    counts: bool = True


class Runner:
    """Takes the records of runs from the journal, and executes the runs that it lacks.

    Args:
        journal: the records of finished runs; new records are added at once.
        make_executor: makes the executor of a batch; batches on one engine share it.
        on_progress: called with the number of runs just finished or found in the journal; with 0
            while real-time runs are in progress, or when runs end that do not count.
        spoils: whether a record in the journal does not count, because the host was too busy.
        on_failure: called with the reason of each new failure of a controller.
    """

    def __init__(
        self,
        journal: RunJournal,
        make_executor: Callable[[Batch], Executor],
        on_progress: Callable[[int], None],
        spoils: Callable[[RunRecord], bool] | None = None,
        on_failure: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._journal = journal
        self._make_executor = make_executor
        self._on_progress = on_progress
        self._on_failure = on_failure
        self._spoils = spoils
        self._executors: dict[EngineSettings | None, Executor] = {}

    def finish(self, batch: Batch) -> Iterator[FinishedRun]:
        """Executes the runs of a batch that the journal lacks, and adds them to it.

        Returns:
            The result of each run, read lazily.

        Raises:
            KneepointError: a run cannot be executed, or a fault of the machine prevented a run from
                finishing. All finished runs are in the journal, but no result is made before all
                runs have finished.
        """
        missing = {
            run.spec.run_id: run.spec for run in batch.runs if not self._is_known(run, batch)
        }
        self._count(batch, len(batch.runs) - len(missing))
        faults: list[RunRecord] = []
        if missing:
            executor, is_shared = self._executor_of(batch)
            try:
                faults = self._execute(executor, batch, missing)
            finally:
                if not is_shared:
                    executor.close()
        return self.recall(batch.runs, faults)

    def recall(
        self, planned: Iterable[PlannedRun], faults: Iterable[RunRecord] = ()
    ) -> Iterator[FinishedRun]:
        """Yields finished runs with their results, in order.

        `faults` are records of runs that met a fault; the journal does not keep them.
        """
        unjournaled = {fault.run_id: fault for fault in faults}
        for run in planned:
            record = unjournaled.get(run.spec.run_id) or self._journal.get(run.spec.run_id)
            assert record is not None, "it has been run"
            yield FinishedRun(run, record)

    def close(self) -> None:
        """Closes the executors."""
        for executor in self._executors.values():
            executor.close()

    def _count(self, batch: Batch, runs: int) -> None:
        self._on_progress(runs if batch.counts else 0)

    def _is_known(self, run: PlannedRun, batch: Batch) -> bool:
        if batch.anew:
            return False
        if self._spoils is None or batch.together:
            return run.spec.run_id in self._journal
        record = self._journal.get(run.spec.run_id)
        return record is not None and not self._spoils(record)

    def _executor_of(self, batch: Batch) -> tuple[Executor, bool]:
        """Returns the executor of a batch, and whether other batches share it."""
        if batch.together:
            return self._make_executor(batch), False
        if batch.engine not in self._executors:
            self._executors[batch.engine] = self._make_executor(batch)
        return self._executors[batch.engine], True

    def _execute(
        self, executor: Executor, batch: Batch, missing: Mapping[str, RunSpec]
    ) -> list[RunRecord]:
        """Executes the missing runs; returns records of faults if the batch keeps them.

        Too many faults in succession end the batch. Entries must not end a contest: where faults
        are kept, only runs of our controllers count. In other batches, faults of several runs of
        one entry count once.
        """
        faults: list[RunRecord] = []
        keeps_faults = batch.together or batch.keeps_faults
        in_a_row: set[str] = set()
        ended = 0
        for finished in executor.execute(list(missing.values())):
            self._journal.add(finished)
            self._count(batch, len(finished))
            for record in finished:
                if record.status == "failed":
                    self._on_failure(record.reason)
                if record.status == "fault":
                    faults.append(record)
                    entry = missing[record.run_id].entry
                    if entry is None or not batch.keeps_faults:
                        in_a_row.add(entry.sha256 if entry else record.run_id)
                else:
                    in_a_row.clear()
                    ended += 1
            if len(in_a_row) >= _FAULTS_IN_A_ROW and not batch.together:
                keeps_faults = False
                break
        if faults and not keeps_faults:
            raise KneepointError(
                f"the machine prevented {len(faults)} of {len(missing)} runs from finishing, "
                f"the last: {faults[-1].reason}; fix this and run the command again: the "
                f"{ended} finished runs are kept"
            )
        return faults
