"""The report's text and figures on real mahimahi."""

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from kneepoint.analysis import labels
from kneepoint.analysis.metrics import POWER, THROUGHPUT
from kneepoint.config.study import MAHIMAHI
from kneepoint.reports import build, render
from kneepoint.runs import settings
from tests.analysis import synthetic
from tests.analysis.real_runs import ask_for_real_runs, run_for_real
from tests.questions.real import made_up
from tests.questions.test_together import with_all
from tests.reports.panels import drawn, places
from tests.reports.test_build import prepare
from tests.reports.test_render import Page, blank
from tests.reports.told import Told, told

REAL = ["agreement", "confirmation"]


@pytest.fixture(scope="module")
def report() -> Told:
    return told(made_up.results())


@pytest.fixture(scope="module")
def analysed() -> dict[str, pd.DataFrame]:
    return synthetic.analysed(made_up.results())


def test_tables_have_what_was_run_for_real(report: Told, analysed: dict[str, pd.DataFrame]) -> None:
    assert analysed["inventory"].set_index("name")["busy"]["confirm"] == 1
    rows = report.rows("agreement-settings")
    assert {row[4] for row in rows if row[0]} <= {"2", "3"} and len(rows) == 7 * 4


def test_text_has_no_number_that_is_none(report: Told) -> None:
    captions = [report.caption(name) for name in report.figures()]
    cells = [cell for table in report.tables() for row in report.rows(table) for cell in row]
    for text in (report.text(), *captions, *cells):
        assert not {"nan", "None"} & set(text.split())


@pytest.mark.parametrize(
    ("left_out", "sections"),
    [
        ((), REAL),
        (("confirmation", "agreement", "calibration", "spread"), ["agreement"]),
    ],
)
def test_report_takes_in_what_is_there(
    left_out: tuple[str, ...], sections: list[str], tmp_path: Path
) -> None:
    parts = {**synthetic.of_questions("real_parts"), **dict.fromkeys(left_out)}
    report = told(synthetic.MadeUp(published=synthetic.published_rows(), **parts))
    assert [name for name in report.names if name in REAL] == sections
    folder = blank(report.document, tmp_path)
    page = Page(render.to_html(report.document, folder))
    assert {r[1:] for r in page.references if r.startswith("#")} <= set(page.ids)
    assert render.to_pdf(report.document, folder)


def test_report_without_real_runs_says_how_to_make_them() -> None:
    study = synthetic.ternary_study().config.model_copy(update={"engine": MAHIMAHI})
    fit = {"windows": [5], "host": {"host_latency_us": {"values": [0, 100]}}}
    confirm = {"network": synthetic.NETWORK, "calibration": fit}
    own = settings.model().model_validate({"seed": 1, "confirm": confirm})
    wanted = replace(synthetic.WORKFLOW, studies={"real-best-window": study}, settings=own)
    said = told(synthetic.MadeUp(workflow=wanted)).text("exclusions")
    assert all(f"`{each}`" in said for each in ("real-best-window", "confirm", "make confirm"))


@pytest.mark.parametrize(("factor", "why"), [(1.05, "not reproduced"), (1.0, labels.DASH)])
def test_further_runs_tell_chance_from_what_lasts(factor: float, why: str) -> None:
    """The emulator is off by 5 %; three further runs of the setting agree with it, or do not."""
    emulated = made_up.runs(30, seed=4)
    emulated.loc[emulated["trial"] == 3, [THROUGHPUT, POWER]] *= 1.05
    again = made_up.runs(3, seed=5, factor=factor)
    parts = {"agreement": emulated, "again": again[again["trial"] == 3]}
    report = told(synthetic.MadeUp(**{**synthetic.of_questions("real_parts"), **parts}))
    (row,) = (
        each
        for each in report.records("agreement-outside")
        if (each["Setting"], each["Metric"]) == ("delay threshold 10", "Throughput")
    )
    assert row.get("Explained by", labels.DASH) == why
    assert float(row["Rerun"]) == pytest.approx(3.85 * factor, rel=0.01)


def test_figure_has_every_setting(analysed: dict[str, pd.DataFrame]) -> None:
    throughput, delay = drawn(analysed, "agreement-real").axes
    names = [text.get_text() for text in throughput.get_yticklabels()]
    assert names[:3] == ["Fixed window 5", "Fixed window 12", "Fixed window 40"] and len(names) == 7
    for axes in (throughput, delay):
        assert {(0.0, float(at)) for at in range(7)} <= places(axes)


@pytest.mark.slow
@with_all("calibration", "probe")
def test_build_takes_in_what_was_done_for_real(workspace: Path) -> None:
    config = ask_for_real_runs(workspace)
    run_for_real(workspace / "results")
    prepare(config)
    build.build(config)
    provenance = json.loads((workspace / "results" / "provenance.json").read_text())
    names = "real-windows repeats/real-again probe confirm calibration agreement again"
    assert {*names.split()} <= {each["name"] for each in provenance["results"]}
    assert 'id="agreement"' in (workspace / "results" / "report.html").read_text()
