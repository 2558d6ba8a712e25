"""Opened results: their content, and errors of one line."""

import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from kneepoint import open_results
from kneepoint.analysis.schema import STAGES, TABLES, sealed_as
from kneepoint.common.errors import KneepointError
from kneepoint.common.made_by import sign
from kneepoint.common.notes import seal
from tests.analysis import synthetic
from tests.conftest import ROOT


@pytest.fixture
def results(workspace: Path) -> Path:
    synthetic.write_tables(workspace / "results")
    return workspace / "results"


def test_frames_are_named_and_described(results: Path) -> None:
    opened = open_results(results)
    about = opened.about().set_index("name")
    assert set(about.index) == {"runs", "trials", *TABLES}
    assert about["rows"]["runs"] == len(opened.runs)
    assert opened.runs["study"].value_counts()[["windows", "fit"]].tolist() == [2, 4]
    assert about["rows"]["audit"] == len(opened.table("audit"))
    assert about["row"].str.len().min() > 0
    units = opened.columns("runs").set_index("column")["unit"]
    assert units["signal_delay_p95_ms"] == "ms"
    declared = [column.name for column in TABLES["audit"].columns]
    assert list(opened.columns("audit")["column"]) == declared


def test_what_cannot_be_opened_is_refused_in_one_line(results: Path) -> None:
    for folder in ("nowhere", "config"):
        with pytest.raises(KneepointError, match=f"{folder}: .*`kneepoint report`"):
            open_results(folder)
    opened = open_results(results)
    with pytest.raises(KneepointError, match="'audits'; did you mean 'audit'"):
        opened.table("audits")
    (results / "audit.parquet").unlink()
    assert "audit" not in opened.tables
    with pytest.raises(KneepointError, match=r"audit\.parquet: .*snakemake .*audit\.parquet"):
        opened.table("audit")
    (results / "windows/made_by.json").unlink()
    with pytest.raises(KneepointError, match="windows: not finished; `kneepoint report`"):
        _ = opened.runs
    assert len(opened.table("sweeps"))


def test_what_has_changed_since_is_refused(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(results.parent)
    (stage,) = (name for name, each in STAGES.items() if "audit" in each.tables)
    seal(sealed_as(Path("results"), stage), [Path("results/audit.parquet")])
    opened = open_results("results")
    assert len(opened.table("audit")) and len(opened.runs)
    shutil.copy(results / "sweeps.parquet", results / "audit.parquet")
    shutil.copy(results / "fit/runs.parquet", results / "windows/runs.parquet")
    for name, path in (("audit", "results/audit.parquet"), ("runs", "windows/runs.parquet")):
        with pytest.raises(KneepointError, match=f"{path}: .*changed"):
            open_results("results").table(name)


def test_results_of_another_configuration_within_do_not_count(results: Path) -> None:
    before = open_results(results).runs
    shutil.copytree(results, results / "field")
    (results / "field/windows/made_by.json").unlink()  # not finished
    assert len(open_results(results).runs) == len(before)
    shutil.copytree(results, results.parent / "outer/field")
    with pytest.raises(KneepointError, match="outer: has no results"):
        open_results(results.parent / "outer")


def test_another_version_is_refused(results: Path) -> None:
    path = results / "fit/trials.parquet"
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({"kneepoint_schema": "5"}), path)
    sign(path.parent, "kneepoint.workflow.experiment", [path.name])
    with pytest.raises(KneepointError, match=r"fit/trials\.parquet: .*version 5"):
        _ = open_results(results).trials


def test_the_package_is_imported_without_pandas() -> None:
    asked = "import sys, kneepoint.cli; assert not {'pandas', 'pyarrow'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", asked], cwd=ROOT, check=True)
