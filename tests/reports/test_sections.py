"""What the sections on the emulator's results say."""

import math
from dataclasses import replace
from typing import Any

import pytest

from analysis.frames import STEP, Record
from analysis.labels import DASH, MINUS
from analysis.metrics import METRICS, POWER, SIGNAL_DELAY, THROUGHPUT
from analysis.schema import TABLES
from reports import words
from reports.document import document
from tests.analysis import synthetic
from tests.reports.told import Told, told


@pytest.fixture(scope="module")
def report() -> Told:
    return told(synthetic.results())


def test_audit_counts_add_up_and_the_evidence_is_listed(report: Told) -> None:
    counts = [int(cell.replace(DASH, "0")) for cell in report.rows("audit-counts")[-1][1:-1]]
    rows, agree, *verdicts = counts
    assert rows == 71 == sum(verdicts)
    assert f"**Of {rows} published rows, {agree} agree" in report.text("audit")
    lines = report.rows("audit-contradicted")
    assert [line[0] for line in lines if line[0]] == ["001 fixed window 40"]
    assert lines[0][2] == "Signal delay" and "neighbours" in lines[0][6]


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
    assert "Truncated, not rounded: power of " in report.caption("rows-001-fixed-window")
    assert "Truncated" not in report.caption("rows-004-fixed-window")
    assert report.rows("grids")[0][6] == "18.600"
    assert report.rows("bests-fixed_window-window-contest")[0][3] == "12.8 (truncated)"
    assert report.rows("repeatability-ours")[1][8:11] == ("25", "11.60", DASH)


PLACE = {"comparison": "reports", "table": "001-windows", "row": 4}
LINE = {
    **PLACE,
    **{"name": "001 window 40", "runs": 5},
    **{"published_throughput_mbps": 4.32, "ours_throughput_mbps": 4.5},
    **{"published_signal_delay_p95_ms": 190.0, "ours_signal_delay_p95_ms": 171.0},
    **{"published_power": 22.26, "ours_power": 26.3},
    **{"relative_signal_delay_p95_ms": -0.1, "relative_throughput_mbps": 0.0417},
    **{"relative_power": 0.18},
}
DELAY = "signal_delay_p95_ms"


@pytest.mark.parametrize(
    ("piece", "cells"),
    [
        (
            {"kind": "arithmetic", "metric": "power", "low": 22.65, "high": 22.82, "remark": "any"},
            ("Power", "22.26", "26.30", "18.0 %", "22.65 to 22.82", "any"),
        ),
        (
            {
                **{"kind": "conflict", "metric": "power", "other_published": 24.0},
                **{"other_table": "004 & more", "other_row": 0},
            },
            ("Power", "22.26", "26.30", "18.0 %", "24.0", "004 & more row 1"),
        ),
        (
            {"kind": "replay", "metric": DELAY, "variation": 0.002, "usual": 0.01, "p": 0.0042},
            ("Signal delay", "190", "171", "-10.0 %", DASH, "p 0.0042"),
        ),
        (
            {"kind": "selected", "metric": DELAY, "low": 2, "high": 30, "remark": "best"},
            ("Signal delay", "190", "171", "-10.0 %", "2 to 30 runs", "best"),
        ),
        ({"kind": "no run"}, (DASH, DASH, DASH, DASH, DASH, "")),
    ],
)
def test_evidence_is_a_row_of_numbers(piece: Record, cells: tuple[str, ...]) -> None:
    nothing = dict.fromkeys(column.name for column in TABLES["audit_evidence"].columns)
    tables = {"audit_evidence": [{**nothing, "constants": (), **PLACE, **piece}]}
    template = words.environment().get_template("parts/published.md.jinja")
    shared = {"rows": tables.get, "audited": []}
    shared |= {"printed_in": lambda *place: place[-1]}
    module: Any = template.make_module(shared)
    said = Told(document(str(module.evidence("x", "X", "", [LINE])), "T"))
    ((name, runs, metric, published, ours, difference, check, value, note),) = said.rows("audit-x")
    assert (name, runs) == ("001 window 40", "5") and check
    found = (metric, published, ours, difference, value, note)
    plain = [each.replace(MINUS, "-").replace("\N{NO-BREAK SPACE}", " ") for each in found]
    assert [each.removeprefix("+") for each in plain] == list(cells)


def test_searches_say_what_tuning_gained_and_what_holds(report: Told) -> None:
    found = {row[0]: row for row in report.rows("searches")}
    tuned = next(row for title, row in found.items() if "TPE" in row[2])
    assert tuned[6].startswith("+22.7 ± ")
    powers = report.rows("tuning-powers")
    assert [row[0] for row in powers] == ["Fixed window", "Delay threshold", "AIMD RTT"]
    assert powers[2][3:6] == (DASH, DASH, DASH)
    assert powers[1][5] == "alpha 1, beta 10, RTT threshold 100 ms"
    held = report.text("held-out")
    assert "0 of 2 controllers did better" in held and "1 worse; 0 and 0 of them" in held
    assert len(report.rows("held-out-networks")) == 3
    first = report.rows("held-out-standings")[0]
    assert first[0] == "Delay threshold, tuned" and first[6:8] == ("1", "4")
    power = report.rows("held-out-power")
    assert power[0][:2] == ("Delay threshold, tuned", "27") and len(power) == 4


@pytest.mark.parametrize("origin", ["published", "tuned"])
def test_settings_that_fail_everywhere_are_in_the_report(origin: str) -> None:
    held = synthetic.hold_out()
    chosen = held.settings.query("best and origin == @origin")["trial"]
    runs = held.runs.copy()
    failed = runs["trial"].isin(chosen)
    runs.loc[failed, "status"], runs.loc[failed, "reason"] = "failed", "the window is nan"
    runs.loc[failed, list(METRICS)] = math.nan
    powers = told(synthetic.results(hold_out=replace(held, runs=runs))).rows("tuning-powers")
    said = {row[3 if origin == "published" else 6] for row in powers}
    assert "0.00" in said
    assert said <= {"0.00", "0.00 ± 0.00", DASH}


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
    assert words.other_values([12.5, 3]) == "3 and 12.5"
    assert words.other_values([9, 8, 7, 6, 5, 4, 31]) == "7 values, from 4 to 31"
    assert words.other_values([]) == ""


def test_a_row_that_is_not_there_stays_missing_when_asked() -> None:
    row = words.the([{"name": "a"}], name="b")
    assert math.isnan(row["power"]) and not row
