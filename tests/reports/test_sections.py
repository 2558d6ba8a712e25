"""The sections on the emulator's results."""

import math
import re
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from kneepoint.analysis.frames import STEP
from kneepoint.analysis.labels import DASH
from kneepoint.analysis.metrics import METRICS, POWER, SIGNAL_DELAY, THROUGHPUT
from kneepoint.analysis.schema import TABLES
from kneepoint.reports.formats import listed_values, mid_sentence
from kneepoint.reports.rows import first_where
from tests.analysis import synthetic
from tests.reports.told import Told, told, told_by


@pytest.fixture(scope="module")
def report() -> Told:
    return told(synthetic.results())


def test_published_numbers_have_the_digits_printed_and_truncated_ones_are_told() -> None:
    published = synthetic.published_rows()
    grid, windows = published["table"] == "000-aimd-grid", published["table"] == "001-fixed-window"
    rate, delay = published[THROUGHPUT], published[SIGNAL_DELAY]
    power = 1e4 * rate / delay // 1 / 10
    steps = {STEP + THROUGHPUT: 0.001, STEP + SIGNAL_DELAY: 0.1, STEP + POWER: 0.1}
    made = published.assign(power=power.where(windows, published[POWER]), **steps)
    made.loc[grid, STEP + POWER] = 0.001
    best = power[windows].idxmax()
    made.loc[best, [THROUGHPUT, SIGNAL_DELAY, POWER]] = 2.28, 177.0, 12.8
    report = told(synthetic.results().but(published=made))
    assert report.rows("rows-000-aimd-grid")[0][3] == "18.600"
    assert report.rows("rows-001-fixed-window")[0][8] == f"{power[0]:.1f}"
    truncated = ["Truncated" in report.caption(f"rows-{n}-fixed-window") for n in ("001", "004")]
    assert truncated == [True, False]
    assert report.rows("grids")[0][6] == "18.600"
    assert report.rows("bests-fixed_window-window-contest")[0][3] == "12.8 (truncated)"
    assert report.rows("repeatability-ours")[1][8:12] == ("Report", "25", "11.60", DASH)


def test_searches_say_what_tuning_gained_and_what_holds(report: Told) -> None:
    (tuned,) = [row for row in report.rows("searches") if "TPE" in row[2]]
    assert tuned[6].startswith("22.00") and tuned[7].startswith("+22.2 ± ")
    assert len(report.rows("held-out-networks")) == 3
    first = report.rows("held-out-standings")[0]
    assert first[0] == "Delay threshold, tuned" and first[6:8] == ("1", "4")
    power = report.rows("held-out-power")
    assert power[0][:2] == ("Delay threshold, tuned", "26.89") and len(power) == 4


def test_settings_that_fail_everywhere_are_in_the_report() -> None:
    held = synthetic.hold_out()
    chosen = held.settings.query("best and controller == 'delay_threshold'")["trial"]
    runs = held.runs.copy()
    failed = runs["trial"].isin(chosen)
    runs.loc[failed, ["status", "reason"]] = "failed", "the window is nan"
    runs.loc[failed, list(METRICS)] = math.nan
    report = told(synthetic.results(hold_out=replace(held, runs=runs)))
    rows = [row for row in report.rows("held-out-power") if row[0].startswith("Delay threshold")]
    assert {row[0].rpartition(", ")[2] for row in rows} == {"published", "tuned"}
    # On the training network, power is from the search's fresh runs.
    assert {row[2:] for row in rows} == {("0", "0")}


def test_numbers_link_to_the_runs_that_made_them(report: Told) -> None:
    lines = report.block("runs").findall(".//tbody/tr")
    rows = {line.get("id"): cells for line, cells in zip(lines, report.rows("runs"), strict=True)}
    assert len(rows) == len(lines)
    links = [each for each in report.document.body.iter("a") if each.get("class") == "run"]
    assert {link.attrib["href"][1:] for link in links} <= set(rows)
    for row in report.block("best-trials-delay_tpe").findall(".//tbody/tr"):
        (link,) = row[0].findall("a")
        assert rows[link.attrib["href"][1:]][1:3] == ("delay_tpe", link.text)


def test_many_ties_are_told_by_their_range() -> None:
    assert listed_values([12.5, 3]) == "3 and 12.5"
    assert listed_values([9, 8, 7, 6, 5, 4, 31]) == "7 values, from 4 to 31"
    assert listed_values([]) == ""


def test_a_row_that_is_not_there_stays_missing_when_asked() -> None:
    row = first_where([{"name": "a"}], name="b")
    assert math.isnan(row["power"]) and not row


def test_no_title_begins_with_a_capital_article_within_a_sentence() -> None:
    assert mid_sentence("The report's link") == "the report's link"
    assert mid_sentence("Theta LTE") == "Theta LTE" and mid_sentence("A") == "a"


def test_a_column_of_verdicts_that_no_row_has_is_left_out(report: Told) -> None:
    head, (*_, total) = report.head("audit-counts"), report.rows("audit-counts")
    assert DASH not in total and "No evidence" not in head


@pytest.mark.parametrize("failed", [0, 2])
def test_failures_are_told_only_where_there_are_any(failed: int) -> None:
    tables: Any = synthetic.analysed(synthetic.results())
    line = {"study": "a", "controller": "x", "parameters": "{}", "status": "failed"}
    exclusions = pd.DataFrame([{**line, "reason": "nan", "runs": failed}][: failed and 1])
    columns = [column.name for column in TABLES["exclusions"].columns]
    report = told_by({**tables, "exclusions": exclusions.reindex(columns=columns)})
    assert ("failed" in report.text("exclusions")) == bool(failed)
    assert not re.search(r"\b0 of ", report.text())
