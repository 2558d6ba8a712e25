"""A folder as the workflow leaves it: a small configuration, and the results of its runs."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path

from kneepoint.runs.load import load_workflow
from kneepoint.runs.registry import experiments_of
from tests.analysis import synthetic
from tests.experiments.listing import LISTING
from tests.experiments.wire import command, prepare_named

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
        host: {{host_latency_us: {{values: [900, 1100]}}}}
        objective: {{fit: 007-windows}}
        sampler: {{kind: grid}}""",
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


def lines_of(keys: Mapping[str, object]) -> str:
    """Further lines of config.yaml."""
    return "".join(f"\n        {key}: {json.dumps(value)}" for key, value in keys.items())


def write_config(folder: Path) -> None:
    """Writes the configuration, whose results are in the folder."""
    for name, text in FILES.items():
        path = folder / "config" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text if name.endswith(".csv") else text.format(results=folder / "results"))
    with (folder / "config/config.yaml").open("a") as config:
        config.write(lines_of(synthetic.of_questions("keys")))


def finish(folder: Path) -> None:
    """Writes a configuration and carries out its emulated experiments, in a second or two."""
    write_config(folder)
    prepare_named(folder, "contest", folder / "networks/contest")
    for name, each in experiments_of(load_workflow(folder / "config/config.yaml")).items():
        assert each.needs_confirm or command(folder, name) == 0, name


def make_workspace(folder: Path, finished: Path) -> None:
    """Copies the output of `finish`, beside an emulator that can only list controllers."""
    write_config(folder)
    shutil.copytree(finished / "results", folder / "results")
    emulate = folder / "build" / "emulate"
    emulate.parent.mkdir()
    emulate.write_text(f"#!/bin/sh\ncat <<'END'\n{json.dumps(LISTING)}\nEND\n")
    emulate.chmod(0o755)
