"""The results of experiments: tables of runs and trials."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa

from kneepoint.common.files import write_whole
from kneepoint.common.tables import Table, column, from_rows, real, struct, table, text, whole
from kneepoint.config.study import Bounded, Front
from kneepoint.engines.base import (
    COUNTS,
    FLOW_METRICS,
    FLOW_SERIES,
    PROBE_METRICS,
    RUN_METRICS,
    SHARES,
    RunRecord,
    RunSpec,
    canonical_json,
)

VERSION = 7
RESULTS = (b"kneepoint_schema", str(VERSION).encode())
"""The version of the tables of experiments: key and value of their metadata."""

TRIAL_METRICS = ("throughput_mbps", "queueing_delay_p95_ms", "signal_delay_p95_ms", "power")


def _metrics(names: Iterable[str]) -> Iterator[pa.Field]:
    for name in names:
        yield from real(name, unit="Mbit/s/s" if name == "power" else None)


_REALS = pa.list_(pa.float64())
# Flows and probes of runs whose traffic is measured by flows: see RunRecord.
_FLOW = struct(
    text("name", "controller"),
    real(*FLOW_METRICS, optional=True),
    column(_REALS, *FLOW_SERIES, optional=True),
)
_PROBE = struct(text("name"), real(*PROBE_METRICS, optional=True))

RUNS = table(
    "runs",
    "a run of an experiment; parameters are JSON; row: the replayed row of a published table",
    text("run_id", "study"),
    whole("trial", "run"),
    whole("row", optional=True),
    text("engine", "controller", "network", "parameters"),
    whole("seed"),
    text("status", "reason"),
    _metrics(RUN_METRICS),
    whole(*COUNTS, optional=True),
    real(*SHARES, optional=True),
    # Missing except in real time (scheduling delays) or for traffic measured by flows: see
    # RunRecord.
    real("scheduling_delay_p99_us", optional=True),
    column(_REALS, "scheduling_delays_us", optional=True),
    text("traffic", optional=True),
    column(pa.list_(_FLOW), "flows", optional=True),
    column(pa.list_(_PROBE), "probes", optional=True),
    column(_REALS, "queue_by_interval_packets", optional=True),
    version=RESULTS,
)


@dataclass(frozen=True)
class PlannedRun:
    """A run and its place: trial, number within the trial, row of a published table."""

    trial: int
    run: int
    row: int | None
    spec: RunSpec


@dataclass(frozen=True)
class FinishedRun:
    """A planned run and its result."""

    planned: PlannedRun
    record: RunRecord


@dataclass(frozen=True)
class FinishedTrial:
    """A finished trial; its runs are in the journal.

    Args:
        number: number in the study.
        searched: its searched values by column.
        value: the objective's value.
        reason: why a run failed; "" if all succeeded.
        means: the mean of each of TRIAL_METRICS over measured runs; empty without such runs.
        n_runs: number of runs.
        objectives: values of both objectives of a front.
        violation: the excess over the study's bound; None without a bound.
        is_stopped: whether the trial lost a race; `value` then covers the runs before it stopped.
        reports: the values that the trial reported in a race.
    """

    number: int
    searched: Mapping[str, float]
    value: float
    reason: str
    means: Mapping[str, float]
    n_runs: int
    objectives: tuple[float, ...] = ()
    violation: float | None = None
    is_stopped: bool = False
    reports: Sequence[float] = ()


def means_of(runs: Iterable[FinishedRun]) -> dict[str, float]:
    """Returns a trial's means (see FinishedTrial)."""
    measured = [run.record for run in runs if run.record.status == "ok"]
    if not measured:
        return {}
    return {
        name: math.fsum(getattr(record, name) for record in measured) / len(measured)
        for name in TRIAL_METRICS
    }


def runs_table(study: str, runs: Iterable[FinishedRun]) -> pa.Table:
    """Returns one row per run, in the order given."""
    return from_rows(RUNS, (_run_row(study, run) for run in runs))


OBJECTIVES = Front.columns
"""Additional columns of the trials of a front."""
(VIOLATION,) = Bounded.columns
"""Additional column of trials whose study has a bound."""


def _trials(searched: Iterable[pa.Field] = (), further: Iterable[str] = ()) -> Table:
    return table(
        "trials",
        "a trial of a study; other columns are the values that it searches, and values of its "
        "objective; metrics are means over the trial's runs",
        text("study"),
        whole("trial"),
        text("state"),
        real("value"),
        text("reason"),
        searched,
        _metrics(TRIAL_METRICS),
        whole("n_runs"),
        real(*further),
        version=RESULTS,
        is_open=True,
    )


TRIALS = _trials()
"""The columns that trials have in every study."""


def trials_table(
    study: str,
    columns: Mapping[str, type],
    trials: Iterable[FinishedTrial],
    further: Sequence[str] = (),
) -> pa.Table:
    """Returns one row per trial, in the order given.

    Args:
        study: name of the study.
        columns: name and type (int or float) of each searched column.
        trials: the trials.
        further: additional columns of this study's objective: OBJECTIVES or VIOLATION.
    """
    each = (whole(name) if kind is int else real(name) for name, kind in columns.items())
    schema = _trials(chain.from_iterable(each), further)
    return from_rows(schema, (trial_row(study, trial) for trial in trials))


def write_summary(path: Path, summary: Mapping[str, Any]) -> None:
    """Writes a JSON object such as study.json."""
    content = {"kneepoint_schema": VERSION, **summary}
    write_whole(path, json.dumps(content, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


_OF_RECORD = (
    *SHARES,
    *("scheduling_delay_p99_us", "scheduling_delays_us"),
    *("flows", "probes", "queue_by_interval_packets"),
)


def _run_row(study: str, run: FinishedRun) -> dict[str, Any]:
    spec, record = run.planned.spec, run.record
    return {
        "run_id": spec.run_id,
        "study": study,
        "trial": run.planned.trial,
        "run": run.planned.run,
        "row": run.planned.row,
        "engine": spec.engine,
        "controller": spec.controller,
        "network": spec.network.name,
        "parameters": canonical_json(dict(spec.parameters)),
        "seed": spec.seed,
        "status": record.status,
        "reason": record.reason,
        **{name: _or_nan(getattr(record, name)) for name in RUN_METRICS},
        **{name: getattr(record, name) for name in (*COUNTS, *_OF_RECORD)},
        "traffic": spec.traffic.name if spec.traffic.measures_flows else None,
    }


def trial_row(study: str, trial: FinishedTrial) -> dict[str, Any]:
    """Returns a trial's row of trials.parquet, with the columns of every objective."""
    return {
        "study": study,
        "trial": trial.number,
        "state": "PRUNED" if trial.is_stopped else "COMPLETE",
        "value": trial.value,
        "reason": trial.reason,
        **trial.searched,
        **(trial.means or dict.fromkeys(TRIAL_METRICS, math.nan)),
        "n_runs": trial.n_runs,
        **dict(zip(OBJECTIVES, trial.objectives, strict=False)),
        VIOLATION: trial.violation,
    }


def _or_nan(value: float | None) -> float:
    return math.nan if value is None else value
