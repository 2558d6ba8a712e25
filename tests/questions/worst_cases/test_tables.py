"""Worst cases, and tuning against them."""

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from kneepoint.analysis.results import Searched
from kneepoint.config.study import (
    Rival,
    Sampler,
    Setting,
    Study,
    WorstCase,
)
from kneepoint.questions.worst_cases import Hardening
from kneepoint.questions.worst_cases.tables import HardeningRuns
from kneepoint.runs.question import questions
from tests.analysis import synthetic
from tests.reports.told import told, told_by


@pytest.mark.parametrize(
    ("rival", "failed", "cells"),
    [
        ({}, False, ("the omniscient sender", "2", "25", "0.8", "40", "delay 90")),
        ({"against": Setting(controller="cubic")}, False, ("CUBIC", "2")),
        ({}, True, ("the omniscient sender", "2", "25", "failed")),
    ],
)
def test_worst_case_is_told_with_its_opponent_and_shown_unless_it_failed(
    rival: dict[str, Any], failed: bool, cells: tuple[str, ...]
) -> None:
    values = [0.5, 0.02, 0.25]
    runs = [synthetic.run_row("timely", {"beta": 0.5}, 4 * value, 100) for value in values]
    goal, delay_ms = WorstCase(worst_case=Rival(**rival)), Searched("network_delay_ms", 5, 100)
    study = synthetic.study("worst", runs, searched=[delay_ms], sampler="tpe", objective=goal)
    trials = study.trials.assign(value=values, constant_network_delay_ms=[5.0, 90.0, 40.0])
    logs = {} if failed else {"worst": synthetic.link_log()}
    studies = (replace(study, trials=trials),)
    report = told(synthetic.MadeUp(studies=studies, worst_case_logs=logs))
    (row,) = report.rows("worst-cases-found")
    assert row[2:][: len(cells)] == cells
    assert ("worst-case-worst" in report.figures()) == (not failed and "over_time" in questions())


def test_milder_worst_case_is_told_with_its_price() -> None:
    place = {"repeat": [0, 0, 1, 1, 2, 2], "round": [0, 1] * 3, "constants": "{}", "network": "{}"}
    powers = {"own": [0.8, 0.4] * 3, "worst_case": [0.1, 0.2, 0.2, 0.1, 0.1, 0.4]}
    about: dict[str, Any] = {"title": "A study", "controller": "timely", "networks": ("contest",)}
    study = Study.model_construct(**about, sampler=Sampler(kind="tpe", trials=60))
    wanted = Hardening(title="Hardened", tune="tune", worst_case="worst")
    frames = (pd.DataFrame(place | powers), pd.DataFrame([synthetic.run_row("timely", {}, 2, 100)]))
    hard = HardeningRuns("hard", wanted, study, study, *frames)
    report = told_by(synthetic.analysed(synthetic.MadeUp(hardened=(hard,))))
    assert "**2 of 3**" in report.text("rounds-hard")
    cells = ("0", "10.00", "10.00", "20.00", "80.0", "80.0", "80.0")
    assert report.rows("rounds-of-hard")[0] == cells
