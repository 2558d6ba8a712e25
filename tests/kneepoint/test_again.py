"""`kneepoint again`: a run of the results repeats to the last digit, or says why it cannot."""

import shutil
from contextlib import chdir
from pathlib import Path
from unittest.mock import patch

import pytest

from kneepoint.common.tables import read, write
from kneepoint.runs.results import RUNS
from kneepoint.workflow import experiment
from tests.kneepoint.conftest import answer, ask, refused


@pytest.fixture(scope="module")
def results(workspace: Path) -> Path:
    """The study of the workspace, carried out."""
    words = ["experiment", "--config", "config/config.yaml", "windows"]
    with chdir(workspace), patch("sys.argv", words):
        experiment.main()
    return workspace / "results/windows"


def test_run_repeats_to_the_last_digit(workspace: Path, results: Path) -> None:
    recorded = read(results / "runs.parquet", RUNS).to_pylist()[-1]
    found = answer(workspace, "again", recorded["run_id"][:12])
    assert found["run_id"] == recorded["run_id"] and found["same"]
    assert found["again"]["power"] == recorded["power"] > 0
    assert (found["study"], found["trial"]) == ("windows", recorded["trial"])
    result = ask(workspace, "again", recorded["run_id"][:12])
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.endswith("the same to the last digit\n")


def test_other_numbers_are_found(workspace: Path, results: Path, tmp_path: Path) -> None:
    kept = tmp_path / "runs.parquet"
    shutil.copy(results / "runs.parquet", kept)
    table = read(kept, RUNS)
    place = table.schema.get_field_index("power")
    doubled = [2 * power for power in table["power"].to_pylist()]
    write(results / "runs.parquet", table.set_column(place, table.schema.field(place), [doubled]))
    run_id = table["run_id"][0].as_py()
    assert "runs.parquet" in refused(workspace, "again", run_id)
    made_by = results / "made_by.json"
    made_by.rename(tmp_path / made_by.name)  # without it, no digest shows the change
    result = ask(workspace, "again", run_id)
    (tmp_path / made_by.name).rename(made_by)
    shutil.copy(kept, results / "runs.parquet")
    assert result.returncode == 1 and result.stdout.endswith("not the same\n")


@pytest.mark.parametrize(
    ("run_id", "words"), [("abc", ["abc: ", "6 digits"]), ("zzzzzz", ["results: ", "zzzzzz"])]
)
@pytest.mark.usefixtures("results")
def test_ids_of_no_run_are_refused(workspace: Path, run_id: str, words: list[str]) -> None:
    error = refused(workspace, "again", run_id)
    assert all(word in error for word in words)


def test_changed_network_is_named(workspace: Path, results: Path) -> None:
    described = workspace / ".kneepoint/networks/wire/network.json"
    kept = described.read_text()
    run_id = read(results / "runs.parquet", RUNS)["run_id"][0].as_py()
    described.write_text(kept.replace('"delay_ms": 20', '"delay_ms": 25'))
    error = refused(workspace, "again", run_id)
    described.write_text(kept)
    assert "of this run (see windows) has changed since" in error
