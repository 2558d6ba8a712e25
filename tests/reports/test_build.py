import json
from pathlib import Path

import pytest

from analysis import run
from analysis.results import Results
from analysis.schema import STAGES
from common.errors import KneepointError
from reports import build, draw, render
from tests.analysis.test_results import ask_for_real_runs, run_for_real

CONFIG = Path("config/config.yaml")


def analyse(config: Path = CONFIG) -> None:
    """Every stage of the analysis, as the workflow runs them."""
    results = Results.of(config)
    for stage in STAGES:
        run.write_stage(results, stage)


@pytest.mark.usefixtures("workspace")
def test_build_writes_everything(workspace: Path) -> None:
    analyse()
    build.build(CONFIG)
    results = workspace / "results"
    assert (results / "report.html").read_text().startswith("<!doctype html>")
    assert (results / "report.pdf").read_bytes().startswith(b"%PDF")
    provenance = json.loads((results / "provenance.json").read_text())
    assert provenance["seed"] == 5
    assert [each["name"] for each in provenance["results"]] == ["windows", "fit", "repeats/again"]
    assert (results / "tables" / "reports-beside-ours.csv").is_file()
    assert (results / "tables" / "recovery.csv").is_file()
    assert (results / "figures" / "rate-over-time-fixed_window.svg").is_file()


def test_build_takes_in_what_was_done_for_real(workspace: Path) -> None:
    config = ask_for_real_runs(workspace)
    run_for_real(workspace / "results")
    analyse(config)
    build.build(config)
    provenance = json.loads((workspace / "results" / "provenance.json").read_text())
    assert [each["name"] for each in provenance["results"]][3:] == [
        *("real-windows", "repeats/real-again", "probe", "confirm", "calibration", "agreement"),
        "again",
    ]
    assert "Real mahimahi" in (workspace / "results" / "report.html").read_text()


def test_build_names_a_missing_table(workspace: Path) -> None:
    analyse()
    (workspace / "results" / "tuning.parquet").unlink()
    with pytest.raises(KneepointError, match=r"tuning\.parquet: No such file.*snakemake"):
        build.build(CONFIG)


def test_a_figure_is_drawn_by_itself(workspace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    analyse()
    out = workspace / "results/figures/rate-over-time.svg"
    monkeypatch.setattr("sys.argv", ["draw", "--config", str(CONFIG), "--out", str(out)])
    draw.main()
    assert out.read_text().startswith("<?xml")
    build.build(CONFIG)
    drawn = out.with_name("rate-over-time-fixed_window.svg")
    out = workspace / "again" / drawn.name
    monkeypatch.setattr("sys.argv", ["draw", "--config", str(CONFIG), "--out", str(out)])
    draw.main()
    assert out.read_bytes() == drawn.read_bytes()


def test_a_figure_that_there_is_not_is_refused(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    analyse()
    out = str(workspace / "power-curve.svg")
    monkeypatch.setattr("sys.argv", ["draw", "--config", str(CONFIG), "--out", out])
    with pytest.raises(
        KneepointError, match=r"no figure power-curve; there are: .*delay-over-time"
    ):
        draw.main()


def everything_in(folder: Path) -> dict[str, bytes]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


@pytest.mark.parametrize("step", ["to_pdf", "to_html"])
def test_report_that_cannot_be_finished_leaves_the_old_one_whole(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    analyse()
    build.build(CONFIG)
    before = everything_in(workspace / "results")

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as broken:
        broken.setattr(render, step, fail)
        with pytest.raises(ZeroDivisionError):
            build.build(CONFIG)
    assert everything_in(workspace / "results") == before
    (workspace / "results/figures/of-another-configuration.svg").write_text("")
    build.build(CONFIG)
    assert everything_in(workspace / "results").keys() == before.keys()
