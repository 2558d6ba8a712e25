"""The table of worst cases."""

from dataclasses import replace
from typing import Any

import pytest

from kneepoint.analysis.results import Searched
from kneepoint.config.study import Rival, Setting, WorstCase
from kneepoint.runs.question import questions
from tests.analysis import synthetic
from tests.reports.told import told


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
    trials = study.trials.assign(value=values, parameter_network_delay_ms=[5.0, 90.0, 40.0])
    logs = {} if failed else {"worst": synthetic.link_log()}
    studies = (replace(study, trials=trials),)
    report = told(synthetic.MadeUp(studies=studies, worst_case_logs=logs))
    (row,) = report.rows("worst-cases-found")
    assert row[2:][: len(cells)] == cells
    assert ("worst-case-worst" in report.figures()) == (not failed and "over_time" in questions())
