"""The artifact: its claims, its crate, and its errors."""

import csv
import io
import json
import shutil
import subprocess
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from rocrate.rocrate import ROCrate

from kneepoint.analysis.frames import select
from kneepoint.analysis.results import Results
from kneepoint.common.errors import KneepointError
from kneepoint.common.files import sha256_of
from kneepoint.common.made_by import sign
from kneepoint.config.study import Formula
from kneepoint.reports import parts
from kneepoint.reports.provenance import gather
from kneepoint.runs.audit_table import AGREEING
from kneepoint.runs.registry import experiments_of
from kneepoint.tools.artifact.archive import write_artifact
from kneepoint.tools.artifact.claims import COLUMNS, claims
from tests.analysis import synthetic
from tests.questions.test_together import with_all

CONFIG = Path("config/config.yaml")


@pytest.fixture
def results(workspace: Path) -> Path:
    """Finished results with a report, in the current folder."""
    folder = workspace / "results"
    synthetic.write_tables(folder)
    found = Results.of(CONFIG)
    for name in experiments_of(found.workflow):
        (folder / name).mkdir(parents=True, exist_ok=True)
        if not (folder / name / "runs.parquet").exists():
            shutil.copy(folder / "windows/runs.parquet", folder / name)
        sign(folder / name, "kneepoint.runs.run", ["runs.parquet"])
    (folder / "report.html").write_text("<!doctype html>")
    (folder / "report.pdf").write_bytes(b"%PDF")
    (folder / "provenance.json").write_text(json.dumps(gather(found)))
    return folder


@with_all("audit", "held_out", "sweeps")
def test_claims_are_those_of_the_tables() -> None:
    tables = synthetic.analysed(synthetic.results())
    found = claims(tables, "config/config.yaml")
    assert list(found.columns) == list(COLUMNS)
    assert found["id"].is_unique
    assert found["command"].str.startswith("kneepoint ").all()
    assert found["low"].le(found["high"]).all()
    assert found["value"].between(found["low"], found["high"]).mean() > 0.9
    audit = tables["audit"]
    agreeing = audit[audit["verdict"].isin(AGREEING) & audit["low_power"].notna()]
    audited = select(found, table="audit")
    assert 0 < len(audited) <= len(agreeing)
    assert set(audited["value"]) <= {value for metric in audit for value in agreeing[metric]}
    for table, part in set(zip(found["table"], found["part"], strict=True)):
        assert parts.part_of_table(table) == part
    gains = tables["held_out_gains"]
    sure = gains[(gains["seeds_low"] > 0) | (gains["seeds_high"] < 0)]
    assert len(select(found, table="held_out_gains")) == len(sure) > 0
    best = select(tables["sweeps"], sweep=tables["sweeps"]["sweep"].iloc[0])["best_value"].iloc[0]
    assert best in set(select(found, table="sweeps")["value"])


@with_all("searches")
def test_a_search_of_one_parameter_claims_its_best() -> None:
    goal = Formula(expression="throughput_mbps / signal_delay_p95_ms")
    runs = synthetic.ternary_study(objective=goal)
    trials = runs.trials.assign(value=[-5.0 + each for each in range(len(runs.trials))])
    study = synthetic.chosen(replace(runs, trials=trials))
    best = study.record.best
    tables = synthetic.analysed(synthetic.MadeUp(studies=(study,)))
    claimed = claims(tables, "config/config.yaml").set_index("table")["value"]
    assert best and claimed["searches"] == best.value
    assert claimed["search_parameters"] == best.parameters["window"]


def test_artifact_describes_everything_with_its_digest(results: Path, tmp_path: Path) -> None:
    """roc-validator, if it is installed, checks the requirements of RO-Crate 1.1."""
    write_artifact(CONFIG, tmp_path / "one.zip")
    write_artifact(CONFIG, tmp_path / "two.zip")
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
        archive.extractall(tmp_path / "crate")
    assert {
        *("results/report.html", "results/report.pdf", "results/provenance.json", "claims.csv"),
        *("results/windows/runs.parquet", "results/inventory.parquet", "config/config.yaml"),
        *("config/published/007-windows.csv", "LICENSE", "CITATION.cff", "README.md"),
    } <= set(files)
    assert files["results/inventory.parquet"] == (results / "inventory.parquet").read_bytes()
    rows = list(csv.DictReader(io.StringIO(files["claims.csv"].decode())))
    readme = files["README.md"].decode()
    assert rows
    assert all(f"`{row['command']}`" in readme for row in rows)
    assert str(tmp_path) not in readme
    crate = ROCrate(tmp_path / "crate")
    described = {each.id: each["sha256"] for each in crate.root_dataset["hasPart"]}
    del files["ro-crate-metadata.json"]
    assert described == {name: sha256_of(content) for name, content in files.items()}
    action = crate.get("#rerun")
    assert action["description"] == "kneepoint report --config config/config.yaml"
    assert {each.id for each in action["object"]} >= {"config/config.yaml"}
    validator = shutil.which("rocrate-validator")
    if validator:
        words = ["-y", "validate", "-p", "ro-crate-1.1", "-l", "required", tmp_path / "one.zip"]
        done = subprocess.run(
            [validator, *map(str, words)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout


def test_without_a_report_of_these_results_it_is_refused(results: Path, tmp_path: Path) -> None:
    runs = results / "windows/runs.parquet"
    before = {path: path.read_bytes() for path in (CONFIG, runs)}
    for path, change in (
        (CONFIG, lambda: CONFIG.write_text(CONFIG.read_text() + "\n# changed\n")),
        (runs, lambda: shutil.copy(results / "fit/runs.parquet", runs)),
        (runs.parent, (runs.parent / "made_by.json").unlink),
        (results / "report.pdf", (results / "report.pdf").unlink),
    ):
        change()
        with pytest.raises(KneepointError, match=f"{path}: .*; `kneepoint report`"):
            write_artifact(CONFIG, tmp_path / "no.zip")
        assert not (tmp_path / "no.zip").exists()
        for known, content in before.items():
            known.write_bytes(content)
