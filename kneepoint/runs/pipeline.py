"""The pipeline of every experiment: it executes the runs that a planner lists.

A planner is a module with a function `plan(job, name)`. Its plan yields batches of runs and
receives their results: a list of runs is one batch, and a search yields the next batch after the
results of the previous batch. The pipeline executes, journals and resumes the runs on any engine,
writes the tables, and records their provenance.
"""

from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa

from kneepoint.common.tables import write
from kneepoint.engines.base import EngineSettings
from kneepoint.runs.job import Job
from kneepoint.runs.results import FinishedRun, PlannedRun, runs_table, write_summary
from kneepoint.runs.runner import Batch, Runner

RUNS = "runs.parquet"
R = TypeVar("R")


@dataclass(frozen=True)
class Outcome:
    """The output of an experiment.

    Args:
        runs: the rows of runs.parquet, in order; all have been executed.
        message: one-line summary for the terminal.
        tables: other tables by the name of their file.
        summaries: JSON objects by the name of their file.
        logs: names of other files, which the runs wrote.
    """

    runs: Iterable[PlannedRun]
    message: str
    tables: Mapping[str, pa.Table] = field(default_factory=dict)
    summaries: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    logs: Sequence[str] = ()

    def write(self, folder: Path) -> None:
        """Writes the tables and summaries."""
        for name, table in self.tables.items():
            write(folder / name, table)
        for name, summary in self.summaries.items():
            write_summary(folder / name, summary)


Steps = Generator[Batch, Iterator[FinishedRun], Outcome]
"""Yields batches and receives the finished runs of each, in order."""


@dataclass(frozen=True)
class Plan:
    """An experiment ready to run: engine, number of runs (None: open) and steps."""

    engine: EngineSettings
    total: int | None
    steps: Steps


def plan_list(
    engine: EngineSettings,
    planned: Sequence[PlannedRun],
    message: str,
    tables: Mapping[str, pa.Table] | None = None,
) -> Plan:
    """Returns the plan of an experiment whose runs are all known in advance."""

    def steps() -> Steps:
        yield Batch(planned)
        return Outcome(planned, message, tables or {})

    return Plan(engine, len(planned), steps())


def follow(steps: Generator[Batch, Iterator[FinishedRun], R], runner: Runner) -> R:
    """Executes the plan's batches; returns the plan's outcome."""
    try:
        batch = next(steps)
        while True:
            batch = steps.send(runner.finish(batch))
    except StopIteration as end:
        result: R = end.value
        return result


def carry_out(job: Job, name: str, planner: str, plan: Plan) -> None:
    """Executes the planned runs that the journal lacks, and writes the results.

    Args:
        job: configuration, engines and folders.
        name: name of the experiment.
        planner: module that made the plan; its code's digest goes into the provenance.
        plan: the plan.

    Raises:
        KneepointError: a run could not be executed; no table is written.
    """
    with job.runner(name, plan.engine, plan.total) as (runner, progress):
        outcome = follow(plan.steps, runner)
        runs = runs_table(name, runner.recall(outcome.runs))
        write(job.out_dir / RUNS, runs)
        outcome.write(job.out_dir)
        ran = runs.column("controller").unique().to_pylist()
        files = (RUNS, *outcome.tables, *outcome.summaries, *outcome.logs)
        job.sign(planner, plan.engine, ran, files)
        progress.end(outcome.message)
