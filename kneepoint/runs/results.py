"""The schema of results: tables of runs and trials in Parquet; equal content gives equal bytes.

A table of another version of the schema is refused.
"""

import io
import itertools
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from kneepoint.common.errors import unusable
from kneepoint.common.files import write_whole
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

if TYPE_CHECKING:
    import pandas as pd

VERSION = 7
_VERSION_KEY = b"kneepoint_schema"

TRIAL_METRICS = ("throughput_mbps", "queueing_delay_p95_ms", "signal_delay_p95_ms", "power")


def required(kind: str, *names: str) -> list[pa.Field]:
    """Returns columns in which no value is missing."""
    return [pa.field(name, kind, nullable=False) for name in names]


# Flows and probes of runs whose traffic is measured by flows: see RunRecord.
_FLOW = pa.struct(
    [
        *required("string", "name", "controller"),
        *(pa.field(name, "float64") for name in FLOW_METRICS),
        *(pa.field(name, pa.list_(pa.float64())) for name in FLOW_SERIES),
    ]
)
_PROBE = pa.struct(
    [*required("string", "name"), *(pa.field(name, "float64") for name in PROBE_METRICS)]
)
_BATCH = 4096
"""The number of rows held in memory as Python objects at a time."""

RUNS_SCHEMA = pa.schema(
    [
        *required("string", "run_id", "study"),
        *required("int64", "trial", "run"),
        pa.field("row", "int64"),
        *required("string", "engine", "controller", "network", "parameters"),
        *required("int64", "seed"),
        *required("string", "status", "reason"),
        *required("float64", *RUN_METRICS),
        *(pa.field(name, "int64") for name in COUNTS),
        *(pa.field(name, "float64") for name in SHARES),
        # Null except in real time (scheduling delays) or for traffic measured by flows: RunRecord.
        pa.field("scheduling_delay_p99_us", "float64"),
        pa.field("scheduling_delays_us", pa.list_(pa.float64())),
        pa.field("traffic", "string"),
        pa.field("flows", pa.list_(_FLOW)),
        pa.field("probes", pa.list_(_PROBE)),
        pa.field("queue_by_interval_packets", pa.list_(pa.float64())),
    ]
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
        means: the mean of each of TRIAL_METRICS over measured runs; empty without any.
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
    return make_table((_run_row(study, run) for run in runs), RUNS_SCHEMA)


OBJECTIVES = Front.columns
"""Additional columns of the trials of a front."""
(VIOLATION,) = Bounded.columns
"""Additional column of trials whose study has a bound."""


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
    schema = pa.schema(
        [
            *required("string", "study"),
            *required("int64", "trial"),
            *required("string", "state"),
            *required("float64", "value"),
            *required("string", "reason"),
            *(
                pa.field(name, "int64" if kind is int else "float64", nullable=False)
                for name, kind in columns.items()
            ),
            *required("float64", *TRIAL_METRICS),
            *required("int64", "n_runs"),
            *required("float64", *further),
        ]
    )
    return make_table((trial_row(study, trial) for trial in trials), schema)


def make_table(rows: Iterable[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """Returns a table of rows; converts them in batches to bound the memory."""
    waiting, batches = iter(rows), []
    while some := list(itertools.islice(waiting, _BATCH)):
        batches.append(pa.RecordBatch.from_pylist(some, schema))
    return pa.Table.from_batches(batches, schema).combine_chunks()


def write_table(path: Path, table: pa.Table) -> None:
    """Writes a table atomically, with the version of the schema."""
    table = table.replace_schema_metadata({_VERSION_KEY: str(VERSION).encode()})
    buffer = io.BytesIO()
    pq.write_table(table, buffer, compression="zstd")
    write_whole(path, buffer.getvalue())


def read_table(path: Path) -> pa.Table:
    """Reads a table.

    Raises:
        KneepointError: the file is missing or damaged, or not a table of this schema's version.
    """
    try:
        table = pq.ParquetFile(io.BytesIO(path.read_bytes())).read()
        version = int((table.schema.metadata or {})[_VERSION_KEY])
    except OSError as error:
        raise unusable(path, error.strerror) from None
    except pa.ArrowInvalid as error:
        raise unusable(path, f"damaged: {error}") from None
    except (KeyError, ValueError):
        raise unusable(path, "not a table of results") from None
    if version != VERSION:
        raise unusable(path, f"has version {version} of the schema, not {VERSION}")
    return table


def read_frame(path: Path) -> "pd.DataFrame":
    """Reads a table as a frame; nullable integers have the type Int64.

    Raises:
        KneepointError: see read_table.
    """
    import pandas as pd  # slow to import, and searches never need it

    table = read_table(path)
    frame: pd.DataFrame = table.to_pandas(types_mapper={pa.int64(): pd.Int64Dtype()}.get)
    sure = [f.name for f in table.schema if f.type == pa.int64() and not f.nullable]
    return frame.astype(dict.fromkeys(sure, "int64"))


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
