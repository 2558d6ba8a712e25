"""A folder as the workflow leaves it: configuration, results, and what lists the controllers."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from kneepoint.runs.results import (
    RUNS_SCHEMA,
    FinishedTrial,
    trials_table,
    write_table,
)
from tests.analysis import synthetic
from tests.analysis.test_logs import EVENTS, HEADER
from tests.experiments.listing import LISTING
from tests.study_json import study_json

FLOW = "# kneepoint flow log, version 1: ...\n1000000 0 ack 0 50 4\n1500000 0 ack 1 90 2\n"

FILES = {
    "config.yaml": """
        seed: 5
        results: {results}
        studies: [windows, fit]
        repeats: [again]""",
    "networks/contest.yaml": """
        title: A constant link
        uplink: {{constant_mbps: 5}}
        downlink: {{constant_mbps: 5}}
        duration_s: 10""",
    "studies/windows.yaml": """
        title: Fixed windows
        controller: fixed_window
        networks: [contest]
        table: 007-windows""",
    "studies/fit.yaml": """
        title: Host latency
        controller: fixed_window
        networks: [contest]
        host: {{host_latency_us: {{low: 0, high: 3000}}}}
        objective: {{fit: 007-windows}}
        sampler: {{kind: golden}}""",
    "repeats/again.yaml": """
        title: Window 12 again
        network: contest
        repeats: 3
        settings:
          - {{controller: fixed_window, parameters: {{window: 12}}}}
          - {{controller: fixed_window, parameters: {{window: 15}}}}
        published:
          - {{setting: 0, metric: power, mean: 12.8, step: 0.1, source: "Report 007"}}""",
    "published/007-windows.yaml": """
        source: Report 007, Table 1
        controller: fixed_window
        columns:
          window: {{parameter: window, unit: packets}}
          throughput_kbps: {{metric: throughput_mbps, unit: kbit/s}}
          delay_ms: {{metric: signal_delay_p95_ms, unit: ms}}""",
    "published/007-windows.csv": """\
window,throughput_kbps,delay_ms
6,1306,129
12,2274,182
,3000,
""",
}


def write_runs(path: Path, rows: Sequence[Mapping[str, object]], name: str) -> None:
    """Writes a table of runs; columns that the schema lacks are left out."""
    known = set(RUNS_SCHEMA.names)
    plain = [{key: row.get(key) for key in known} | {"study": name} for row in rows]
    write_table(path, pa.Table.from_pylist(plain, schema=RUNS_SCHEMA))


def lines_of(keys: Mapping[str, object]) -> str:
    """Further lines of config.yaml."""
    return "".join(f"\n        {key}: {json.dumps(value)}" for key, value in keys.items())


def make_workspace(folder: Path) -> None:
    """Writes a configuration, its results, and an emulator that can only list."""
    results = folder / "results"
    for name, text in FILES.items():
        path = folder / "config" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if name.endswith(".csv") else text.format(results=results))
    with (folder / "config/config.yaml").open("a") as config:
        config.write(lines_of(synthetic.of_questions("keys")))
    emulate = folder / "build" / "emulate"
    emulate.parent.mkdir()
    emulate.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps(LISTING)}\nEND\n")
    emulate.chmod(0o755)

    def run(window: int, **place: object) -> dict[str, object]:
        measured = synthetic.fixed_window(window)
        return synthetic.run_row("fixed_window", {"window": window}, *measured, **place)

    windows = [run(window, trial=row, row=row) for row, window in enumerate((6, 12))]
    fit = [{**each, "trial": trial} for trial in (0, 1) for each in windows]
    again = [run(w, trial=n, run=k, row=None) for n, w in enumerate((12, 15)) for k in range(3)]
    for name, runs in {"windows": windows, "fit": fit, "repeats/again": again}.items():
        write_runs(results / name / "runs.parquet", runs, Path(name).name)
    write_runs(results / "added_runs" / "runs.parquet", [], "added_runs")
    for name, column, values in (
        ("windows", "parameter_window", (6, 12)),
        ("fit", "host_latency_us", (900, 1100)),
    ):
        trials = [FinishedTrial(i, {column: v}, 10.0 + i, "", {}, 0) for i, v in enumerate(values)]
        write_table(results / name / "trials.parquet", trials_table(name, {column: int}, trials))
        (results / name / "study.json").write_text(study_json(seed=77))
    settings = pa.table({"host": pa.array([], pa.string())})
    write_table(results / "added_runs" / "settings.parquet", settings)
    (results / "showcase").mkdir()
    (results / "showcase" / "uplink.log").write_text(HEADER + EVENTS)
    (results / "showcase" / "flow.log").write_text(FLOW)
