import json
import shutil
from pathlib import Path

import pandas as pd
import pytest

from kneepoint.analysis import run
from kneepoint.analysis.over_time import RATES
from kneepoint.analysis.results import Results
from kneepoint.analysis.schema import STAGES, TABLES
from kneepoint.common.errors import KneepointError
from kneepoint.common.tables import TableFolder
from kneepoint.reports import build, draw, render
from kneepoint.reports.figures import PART_OF
from tests.analysis.workspace import make_workspace

pytestmark = pytest.mark.slow

CONFIG = Path("config/config.yaml")


def prepare(config: Path = CONFIG) -> None:
    """Makes every stage of the analysis and every figure, as the workflow does."""
    results = Results.of(config)
    for stage in STAGES:
        run.write_stage(results, stage)
    tables = TableFolder(results.folder, TABLES)
    for kind in PART_OF:
        draw.draw_kind(kind, tables, results.folder / "figures" / kind)


@pytest.fixture(scope="module")
def prepared(finished: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A workspace in which only the report is missing."""
    folder = tmp_path_factory.mktemp("prepared")
    make_workspace(folder, finished)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        prepare()
    return folder


@pytest.fixture
def ready(prepared: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The results folder of a copy of `prepared`, which is the current folder."""
    folder = shutil.copytree(prepared, tmp_path / "copy")
    config = folder / CONFIG
    config.write_text(config.read_text().replace(str(prepared), str(folder)))
    monkeypatch.chdir(folder)
    return folder / "results"


def test_build_writes_everything(ready: Path) -> None:
    build.build(CONFIG)
    assert (ready / "report.html").read_text().startswith("<!doctype html>")
    assert (ready / "report.pdf").read_bytes().startswith(b"%PDF")
    provenance = json.loads((ready / "provenance.json").read_text())
    names = [each["name"] for each in provenance["results"]]
    assert provenance["findings"]
    assert names[:2] == ["windows", "fit"]
    assert set(names[2:]) >= {"repeats/again", "added_runs"}
    written = {path.stem: pd.read_csv(path) for path in (ready / "tables").glob("*.csv")}
    assert {"audit", "search_trials", "repeatability"} <= set(written)
    assert set(written["series"]["quantity"]) == set(RATES)
    assert written["inventory"]["controllers"][0] == "fixed_window"


@pytest.mark.parametrize(
    "missing",
    ["held_out_gains.parquet", "figures/run-over-time/run-over-time-fixed_window.svg"],
)
def test_build_names_what_is_missing(ready: Path, missing: str) -> None:
    (ready / missing).unlink()
    with pytest.raises(KneepointError, match=f"{Path(missing).stem}.*snakemake"):
        build.build(CONFIG)


def everything_in(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.parametrize("step", ["to_pdf", "to_html"])
def test_report_that_cannot_be_finished_leaves_the_old_one_whole(
    ready: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    build.build(CONFIG)
    before = everything_in(ready)

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as broken:
        broken.setattr(render, step, fail)
        with pytest.raises(ZeroDivisionError):
            build.build(CONFIG)
    assert everything_in(ready) == before
    (ready / "tables/of-another-configuration.csv").write_text("")
    build.build(CONFIG)
    assert everything_in(ready).keys() == before.keys()
