"""The skeleton of `kneepoint new-report` runs unchanged, and its fit reaches its networks."""

import json
import os
import re
import subprocess
from pathlib import Path

import pandas as pd
import pytest
import yaml

from docs.schemas import FOLDER as SCHEMAS
from kneepoint.reports.parts import PARTS, TRUSTED
from kneepoint.runs.load import load_workflow
from tests.conftest import ROOT
from tests.programs import run_kneepoint
from tests.reports.consistency import contradictions
from tests.workflow.conftest import Checkout

pytestmark = pytest.mark.slow


def new_report(*words: str, cwd: Path = ROOT) -> "subprocess.CompletedProcess[str]":
    return run_kneepoint("new-report", *words, cwd=cwd)


@pytest.fixture(scope="module")
def report(checkout: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a new report, which has been made."""
    into = tmp_path_factory.mktemp("my reports")
    shipped = "config/networks/synthetic-fast.yaml"  # the checkout has its own configuration
    (checkout.folder / shipped).write_bytes((ROOT / shipped).read_bytes())
    result = new_report("mine", "--into", str(into), "--json")
    assert (result.returncode, result.stderr) == (0, "")
    assert json.loads(result.stdout)["run"] == f"cd '{into}/mine' && kneepoint report"
    checkout.run("--cores", "2", "--configfile", str(into / "mine/config.yaml"))
    return into / "mine"


def test_it_ends_in_a_report_with_the_audit_of_its_table(report: Path) -> None:
    audit = pd.read_parquet(report / "results/audit.parquet").set_index("parameter_window")
    expected = {5: "fitted", 10: "fitted", 20: "fitted", 30: "contradicted", 50: "fitted"}
    assert dict(audit["verdict"]) == expected
    assert audit["wrong"][30] == "power"
    assert contradictions(report / "results/report.html") == []
    html = (report / "results/report.html").read_text()
    assert "Example report" in html
    for own in ("The windows of mine", "Your Name", "<em>Markdown</em>", "Introduction</h2>"):
        assert own in html
    tuned = json.loads((report / "results/tune-own/study.json").read_bytes())
    assert tuned["controller"] == "mine_window" and "OwnWindow" in html
    searches = pd.read_parquet(report / "results/searches.parquet").set_index("search")
    assert searches["best_value"]["tune-own"] == tuned["best"]["value"]
    assert f"{abs(tuned['best']['value']):.4f}" in html
    assert pd.read_parquet(report / "results/sweeps.parquet").empty  # its objective is not power
    held = pd.read_parquet(report / "results/hold_out/runs.parquet")
    assert set(held["network"]) == {"mine", "mine-held-out", "synthetic-fast"}
    assert "A link that no study has seen" in html
    assert (report / "results/report.pdf").stat().st_size > 10_000


def test_tables_and_reports_that_are_not_what_was_written_are_made_again(
    report: Path, checkout: Checkout
) -> None:
    """All look older than their inputs."""
    results = report / "results"
    exported, figure = results / "tables/audit.csv", next(results.glob("figures/*/*.svg"))
    files = [exported, figure, results / "report.html", results / "audit.parquet"]
    right = {path: path.read_bytes() for path in files}
    command = ("--cores", "2", "--configfile", str(report / "config.yaml"))
    assert "Nothing to be done" in checkout.run("--dry-run", *command)
    for path in files:
        path.write_bytes(right[path][:100])
        os.utime(path, (1, 1))
    checkout.run(*command)
    for path in (exported, figure, results / "audit.parquet"):
        assert path.read_bytes() == right[path], path
    assert len((results / "report.html").read_bytes()) > 1000
    assert "Nothing to be done" in checkout.run("--dry-run", *command)


def test_snakemakes_report_has_figures_and_tables_by_part(report: Path, checkout: Checkout) -> None:
    page = report / "workflow.html"
    config = ("--configfile", str(report / "config.yaml"))
    checkout.run("--cores", "1", *config, "--report", str(page))
    results = re.search(r"var results = (\{.*\})", page.read_text())
    assert results
    shown = json.loads(results[1])
    names = {Path(path).name for path in shown}
    assert {"report.html", "report.pdf", "provenance.json", "audit.csv"} <= names
    figure = shown["results/figures/published-against-ours/published-against-ours-reports.svg"]
    assert figure["data_uri"].startswith("data:image/svg+xml")
    assert figure["labels"]["question"].endswith("?")
    assert "kneepoint plot published-against-ours-reports" in re.sub(
        "<[^>]+>", "", figure["caption"]
    )
    text = page.read_text()
    present = [part for number, part in enumerate(PARTS, 1) if f'"{number}. {part}"' in text]
    assert present == [part for part in PARTS if part != TRUSTED]  # no experiment ran again


def test_the_host_of_its_networks_is_what_the_study_found(report: Path, checkout: Checkout) -> None:
    def prepared(name: str) -> int:
        path = report / f".kneepoint/networks/{name}/network.json"
        latency_us: int = json.loads(path.read_bytes())["host_latency_us"]
        return latency_us

    found = json.loads((report / "results/fit-host/study.json").read_bytes())["best"]["searched"]
    assert found == {"host_latency_us": 600}
    assert [prepared(name) for name in ("mine", "mine-held-out", "mine-unfitted")] == [600, 600, 0]
    config = ("--configfile", str(report / "config.yaml"))
    assert "Nothing to be done" in checkout.run("--cores", "1", *config)
    study = report / "studies/fit-host.yaml"
    before = study.read_text()
    content = yaml.safe_load(before)
    content["host"]["host_latency_us"]["values"] = [0, 1000]
    study.write_text(yaml.safe_dump(content))
    checkout.run("--cores", "1", *config, "--", ".kneepoint/networks/mine/network.json")
    assert prepared("mine") == 1000
    study.write_text(before)


def test_its_files_name_their_schemas(report: Path) -> None:
    named = 0
    made = {*report.rglob(".kneepoint/**/*.yaml"), *report.rglob("profiles/*/*.yaml")}
    for path in set(report.rglob("*.yaml")) - made:
        first = path.read_text().splitlines()[0]
        prefix = "# yaml-language-server: $schema="
        assert first.startswith(prefix), path
        schema = (path.parent / first.removeprefix(prefix)).resolve()
        assert schema.parent == SCHEMAS
        assert schema.is_file()
        named += 1
    assert named == 10
    load_workflow(report / "config.yaml")


def test_nothing_is_overwritten(report: Path) -> None:
    before = {path: path.read_bytes() for path in report.rglob("*.*") if path.is_file()}
    result = new_report("mine", "--into", str(report.parent))
    assert result.returncode == 2
    assert result.stderr == f"error: {report}: exists already; choose another name or folder\n"
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("My",), "new-report 'My': invalid name; use lower-case letters, digits, - and _ only"),
        (("../x",), "invalid name"),
        (("mine", "--into", "{{x}}"), "brace"),
        (("mine", "--into", "file"), "file"),
    ],
)
def test_a_mistake_leaves_nothing_behind(
    tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    (tmp_path / "file").touch()
    result = new_report(*words, cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr.startswith("error: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    left = {path.name for path in tmp_path.rglob("*") if not path.is_dir()}
    assert left == {"file"}
