"""The results of a workflow as pandas frames, and the notebook of their analysis."""

import json
import os
from pathlib import Path

import nbformat
import pyarrow.parquet as pq
import pytest
from nbclient import NotebookClient

from kneepoint import open_results
from tests.conftest import ROOT
from tests.programs import run_module
from tests.workflow.conftest import Finished

pytestmark = pytest.mark.slow

NOTEBOOK = ROOT / "docs/notebooks/results.ipynb"


@pytest.fixture
def folder(finished_workflow: Finished) -> Path:
    return finished_workflow.checkout.folder / "results/one"


def test_every_run_and_trial_is_in_a_frame(folder: Path) -> None:
    results = open_results(folder)
    rows = {
        name: sum(pq.read_metadata(path).num_rows for path in folder.glob(f"**/{name}.parquet"))
        for name in ("runs", "trials")
    }
    assert rows == {"runs": len(results.runs), "trials": len(results.trials)}
    grid = results.runs[results.runs["study"] == "grid"]
    assert sorted(grid["parameter_window"].unique()) == [2, 10, 40]
    assert grid["parameter_alpha"].isna().all()
    assert {"parameter_window", "host_latency_us", "network_delay_ms"} <= set(results.trials)


def test_the_command_lists_what_is_there(folder: Path) -> None:
    said = run_module("kneepoint", "results", str(folder), "--json", cwd=ROOT)
    listed = {row["name"]: row for row in json.loads(said.stdout)}
    assert list(listed) == ["runs", "trials"]  # the analysis has not been run
    assert listed["runs"]["rows"] == len(open_results(folder).runs)


def test_the_notebook_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")]))
    notebook = nbformat.read(NOTEBOOK, as_version=4)  # type: ignore[no-untyped-call]
    assert not any(cell.get("outputs") for cell in notebook.cells)
    place = {"metadata": {"path": str(folder.parent)}}
    _, first, *_ = notebook.cells
    first.source = first.source.replace('open_results("results")', f'open_results("{folder.name}")')
    NotebookClient(notebook, timeout=300, kernel_name="python3", resources=place).execute()
    shown = [out.get("data", {}) for cell in notebook.cells for out in cell.get("outputs", [])]
    assert len([data for data in shown if "image/png" in data]) == 3
    assert "fixed_window" in "".join(data.get("text/plain", "") for data in shown)
