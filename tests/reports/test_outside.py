"""The settings that are to be run again."""

import json
import sys
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest

from experiments.results import write_table
from reports.metrics import POWER, THROUGHPUT
from reports.outside import main, outside
from reports.statistics import CONSTANT
from tests.reports import synthetic_real


def write(path: Path, frame: pd.DataFrame) -> None:
    stored = frame[[name for name in frame.columns if not name.startswith(CONSTANT)]]
    write_table(path, pa.Table.from_pandas(stored, preserve_index=False))


@pytest.fixture
def results(tmp_path: Path) -> Path:
    """Confirmed settings, of which the emulator misses one by 5 %, and one within the goal."""
    found = synthetic_real.confirmation()
    emulated = synthetic_real.runs(30, seed=4)
    emulated.loc[emulated["trial"] == 3, [THROUGHPUT, POWER]] *= 1.05
    emulated.loc[emulated["trial"] == 4, [THROUGHPUT, POWER]] *= 1.006
    settings = found.settings.assign(
        origins=found.settings["origins"].map(",".join), rows=found.settings["rows"].map(",".join)
    )
    for name, frame in (
        ("confirm/settings", settings[["trial", "controller", "constants", "origins", "rows"]]),
        ("confirm/runs", found.runs),
        ("agreement/runs", emulated),
    ):
        write(tmp_path / f"{name}.parquet", frame)
    return tmp_path


def test_outside_names_what_nothing_explains(results: Path) -> None:
    assert outside(results) == [3]


def test_outside_names_nothing_that_a_busier_host_explains(results: Path) -> None:
    runs = synthetic_real.confirmation().runs
    runs.loc[runs["trial"] == 3, "scheduling_delay_p99_us"] = 900.0
    write(results / "confirm/runs.parquet", runs)
    assert outside(results) == []


@pytest.mark.parametrize("missing", ["confirm/settings", "agreement/runs"])
def test_outside_names_nothing_without_results(results: Path, missing: str) -> None:
    (results / f"{missing}.parquet").unlink()
    assert outside(results) == []


def test_main_writes_a_list(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = results / "config.yaml"
    config.write_text(f"seed: 1\nresults: {results}\n")
    out = results / "again/outside.json"
    monkeypatch.setattr(sys, "argv", ["outside", "--config", str(config), "--out", str(out)])
    main()
    assert json.loads(out.read_text()) == [3]
