"""What the sections on the emulator's results say."""

import math
from dataclasses import replace
from html import unescape
from typing import Any

import pytest

from analysis import audit
from analysis.frames import Record
from analysis.labels import DASH, MINUS
from analysis.metrics import METRICS
from reports import words
from tests.analysis import synthetic
from tests.reports.told import Told, told


@pytest.fixture(scope="module")
def report() -> Told:
    return told(synthetic.results())


def test_audit_tells_what_is_contradicted_and_why(report: Told) -> None:
    said = report.text("audit")
    assert "The reports print 71 rows in 3 tables" in said
    assert "**1 of them is contradicted**" in said
    (line,) = report.rows("audit-contradicted")
    assert line[0] == "001 fixed window 40"
    assert line[-1].startswith("Its neighbours along window put its signal delay at")
    assert report.rows("audit-counts")[-1][:2] == ("all", "71")


LINE = {
    "comparison": "reports",
    "table": "001-windows",
    "row": 4,
    "runs": 5,
    "failed": 2,
    **{"published_throughput_mbps": 4.32, "ours_throughput_mbps": 4.5},
    **{"published_signal_delay_p95_ms": 190.0, "ours_signal_delay_p95_ms": 171.0},
    **{"published_power": 22.26, "ours_power": 26.3},
    **{"relative_signal_delay_p95_ms": -0.1, "relative_throughput_mbps": 0.0417},
}
DELAY = "signal_delay_p95_ms"


@pytest.mark.parametrize(
    ("pieces", "sentence"),
    [
        (
            [{"kind": "arithmetic", "metric": "power", "low": 22.65, "high": 22.82}],
            "Power is printed as 22.26, but 4.32 Mbit/s over 190 ms gives 22.65 to 22.82",
        ),
        (
            [
                {
                    **{"kind": "arithmetic", "metric": "power", "low": 22.65, "high": 22.82},
                    "remark": "any of the three may be the wrong one",
                }
            ],
            "Power is printed as 22.26, but 4.32 Mbit/s over 190 ms gives 22.65 to 22.82 (any of "
            "the three may be the wrong one)",
        ),
        (
            [{"kind": "arithmetic", "metric": DELAY, "low": 193.6, "high": 194.4}],
            "Signal delay is printed as 190, but 4.32 Mbit/s and a power of 22.26 give 194, and "
            "ours is 171 ms",
        ),
        (
            [{"kind": "truncation", "metric": "throughput_mbps", "low": 4.321, "high": 4.339}],
            "Its throughput may be truncated instead of rounded: a power of 22.26 and "
            "190 ms give 4.32 to 4.34",
        ),
        (
            [{"kind": "selected", "remark": "worst", "low": 2.0, "high": 30.0}],
            "Printed as the worst of many runs, and compared with the worst of 2 to 30 of ours",
        ),
        (
            [{"kind": "selected", "remark": "best", "low": 5.0, "high": 5.0}],
            "Printed as the best of many runs, and compared with the best of 5 of ours",
        ),
        (
            [{"kind": "host", "metric": DELAY, "low": 160.0, "high": 191.0}],
            "On hosts that the fit of the network's host does not rule out, a run would have a "
            "signal delay of 160 to 191 ms",
        ),
        (
            [{"kind": "spread", "metric": DELAY, "low": 160.0, "high": 191.0}],
            "Given our 5 runs, one more would have a signal delay of 160 to 191 ms",
        ),
        (
            [{"kind": "failed", "remark": "it sent nothing"}],
            "All its 2 runs failed: it sent nothing",
        ),
        (
            [{"kind": "elsewhere", "remark": "the lab"}],
            "No study ran it on its own network, but one did on the lab",
        ),
        (
            [{"kind": "repetition", "metric": DELAY, "other_row": 3}],
            "Its numbers are those of row 4",
        ),
        (
            [{"kind": "repetition", "metric": DELAY, "other_row": 3, "other_ours": 150.0}],
            "Its numbers are those of row 4, but our runs of the two have a signal delay of 171 ms "
            "and 150 ms",
        ),
        (
            [
                {
                    **{"kind": "conflict", "metric": "power", "other_published": 24.0},
                    **{"other_table": "004 & more", "other_row": 0},
                }
            ],
            "Power is 22.26 Mbit/s/s, but for the same parameters 24.00 Mbit/s/s in 004 & more "
            "row 1; ours is 26.30 Mbit/s/s",
        ),
        (
            [{"kind": "neighbours", "metric": DELAY, "along": "window", "high": 170.4}],
            "Its neighbours along window put its signal delay at 170 ms or less, not 190",
        ),
        (
            [{"kind": "neighbours", "metric": DELAY, "along": "throughput_mbps", "low": 210.0}],
            "Rows of similar throughput put its signal delay at 210 ms or more, not 190",
        ),
        (
            [{"kind": "replay", "metric": DELAY, "variation": 0.002, "usual": 0.01, "p": 0.0042}],
            "Signal delay is 190 ms, ours is 171 ms (-10 %; our 5 runs vary by 0.2 %, the table's "
            "other rows are off by 1.0 % in the median; that chance puts one so far off has "
            "p = 0.0042)",
        ),
        (
            [
                {"kind": "difference", "metric": "throughput_mbps"},
                {"kind": "difference", "metric": DELAY},
                {"kind": "unstated", "constants": ["keepalive_ms", "initial_window"]},
                {"kind": "remark", "remark": "its logs differ"},
            ],
            "Throughput +4.2 %, signal delay -10.0 %; the report does not state keepalive and "
            "initial window; its logs differ",
        ),
        (
            [{"kind": "fitted", "constants": ["host_latency_us"]}],
            "Host latency fitted to this table",
        ),
        ([{"kind": "no number"}], "The report prints no number"),
        ([{"kind": "no constants"}], "The report does not print its parameters"),
        ([{"kind": "no run"}], "No study ran it"),
        ([{"kind": "no such number"}], "Our runs have no such number"),
    ],
)
def test_evidence_in_words(pieces: list[Record], sentence: str) -> None:
    """Every kind of evidence has its sentence."""
    place = {name: LINE[name] for name in ("comparison", "table", "row")}
    table = [{**audit.NOTHING, **place, **piece} for piece in pieces]
    template = words.environment().get_template("evidence.xml.jinja")
    module: Any = template.make_module({"rows": {"audit_evidence": table}.get})
    plain = " ".join(unescape(str(module.evidence(LINE))).split())
    assert plain.replace(MINUS, "-") == sentence


def test_sections_say_what_was_gained_and_what_holds(report: Told) -> None:
    tuning, held = report.text("tuning"), report.text("held-out")
    assert "**Tuning raised the power of 1 of 2 controllers beyond chance**, by 22.7" in tuning
    assert "2.0\N{NO-BREAK SPACE}% more power than when rerun" in tuning
    powers = report.rows("tuning-powers")
    assert [row[0] for row in powers] == ["Fixed window", "Delay threshold", "AIMD RTT"]
    assert powers[0][-1].startswith("0.0 ± ")
    assert powers[1][-1].startswith("+22.7 ± ")
    assert powers[2][3:5] == (DASH, DASH)
    assert powers[2][-1] == DASH
    constants = report.rows("tuning-constants")
    assert constants[1][1] == "alpha 1, beta 10, RTT threshold 100 ms"
    assert "0 of 2 tuned settings do better" in held
    assert "1 worse (delay threshold)" in held
    assert "Delay threshold, tuned, first on the training network, is 4th of 4" in held
    assert len(report.rows("held-out-networks")) == 3
    assert report.rows("held-out-standings")[0][-3] == "+3"
    assert "0 of the former and 0 of the latter beyond chance" in held
    power = report.rows("held-out-power")
    assert power[0][:3] == ("Delay threshold, tuned", "3", "27") and len(power) == 4
    assert all(len(line) == 5 for line in power)  # the setting, its runs, and three networks


def test_sections_do_without_published_rows() -> None:
    held = synthetic.hold_out()
    tuned = held.settings[held.settings["origin"] == "tuned"]
    runs = held.runs[held.runs["trial"].isin(tuned["trial"])]
    report = told(synthetic.results(hold_out=replace(held, settings=tuned, runs=runs)))
    assert "No published row of these controllers was replayed." in report.text("tuning")
    assert "In the median" not in report.text("held-out")


def test_without_hold_out_there_are_no_such_sections() -> None:
    assert {"tuning", "held-out"}.isdisjoint(told(synthetic.results(hold_out=None)).names)


@pytest.mark.parametrize("origin", ["published", "tuned"])
def test_settings_that_fail_everywhere_are_in_the_report(origin: str) -> None:
    held = synthetic.hold_out()
    chosen = held.settings.query("best and origin == @origin")["trial"]
    runs = held.runs.copy()
    failed = runs["trial"].isin(chosen)
    runs.loc[failed, "status"], runs.loc[failed, "reason"] = "failed", "the window is nan"
    runs.loc[failed, list(METRICS)] = math.nan
    powers = told(synthetic.results(hold_out=replace(held, runs=runs))).rows("tuning-powers")
    said = {row[3 if origin == "published" else 5] for row in powers}
    assert "0.00" in said
    assert said <= {"0.00", "0.00 ± 0.00", DASH}


def test_numbers_link_to_the_runs_that_made_them(report: Told) -> None:
    (runs,) = (each for each in report.blocks("table") if each["name"] == "runs")
    rows = dict(zip(runs["names"], report.rows("runs"), strict=True))
    linked = [
        (piece["target"], piece["text"])
        for table in report.blocks("table")
        for row in table["rows"]
        for cell in row
        for piece in cell
        if piece["kind"] == "run"
    ]
    assert {target for target, _ in linked} <= set(rows)
    assert len(rows) == len(set(runs["names"]))
    (best,) = (each for each in report.blocks("table") if each["name"] == "best-trials-delay_tpe")
    for row in best["rows"]:
        (trial,) = (piece for piece in row[0] if piece["kind"] == "run")
        assert rows[trial["target"]][1:3] == ("delay_tpe", trial["text"])


def test_references_are_those_of_what_is_there(report: Told) -> None:
    said = report.text("references")
    assert "Optuna: a next-generation hyperparameter optimization framework" in said
    assert "doi:10.1145/3292500.3330701." in said
    assert "TIMELY" not in said and "NSGA-II" not in said and "CoDel" not in said


def test_many_ties_are_told_by_their_range() -> None:
    assert words.other_values([12.5, 3]) == "3 and 12.5"
    assert words.other_values([9, 8, 7, 6, 5, 4, 31]) == "7 other values, from 4 to 31,"
    assert words.other_values([]) == ""
