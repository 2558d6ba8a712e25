"""What the sections on the emulator's results say."""

import math
from dataclasses import replace

import pytest

from analysis.labels import DASH
from analysis.metrics import METRICS
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


def test_sections_say_what_was_gained_and_what_holds(report: Told) -> None:
    tuning, held = report.text("tuning"), report.text("held-out")
    assert "**Tuning raised the power of 1 of 2 beyond chance**, by 22.7" in tuning
    assert "2.0\N{NO-BREAK SPACE}% more power than when run again" in tuning
    powers = report.rows("tuning-powers")
    assert [row[0] for row in powers] == ["Fixed window", "Delay threshold", "AIMD RTT"]
    assert powers[0][-1].startswith("0.0 ± ")
    assert powers[1][-1].startswith("+22.7 ± ")
    assert powers[2][3:5] == (DASH, DASH)
    assert powers[2][-1] == DASH
    constants = report.rows("tuning-constants")
    assert constants[1][1] == "alpha 1, beta 10, RTT threshold 100 ms"
    assert "of 2 tuned settings, 0 do better" in held
    assert "1 worse (delay threshold)" in held
    assert "Delay threshold, tuned, first on the training network, is 4th of 4" in held
    assert len(report.rows("held-out-networks")) == 3
    assert report.rows("held-out-standings")[0][-2] == "+3"


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
