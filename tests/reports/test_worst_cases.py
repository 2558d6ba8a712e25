"""What the report says of worst cases and of tuning against them, on made-up numbers."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from analysis.results import HardeningRuns, Searched, StudyRuns
from experiments.models.settings import Hardening
from experiments.models.study import Rival, Sampler, Setting, Study, WorstCase
from tests.analysis import synthetic
from tests.reports.told import Told, told, told_by

VALUES = [0.5, 0.02, 0.25]


def worst_case(**more: Any) -> StudyRuns:
    runs = [synthetic.run_row("timely", {"beta": 0.5}, 4 * value, 100) for value in VALUES]
    goal = WorstCase(worst_case=Rival(**more))
    delay_ms = Searched("network_delay_ms", 5, 100)
    study = synthetic.study("worst", runs, searched=[delay_ms], sampler="tpe", objective=goal)
    trials = study.trials.assign(value=VALUES, constant_network_delay_ms=[5.0, 90.0, 40.0])
    return replace(study, trials=trials)


def made_up(study: StudyRuns, **logs: Any) -> Told:
    return told(synthetic.MadeUp(studies=(study,), worst_case_logs=logs))


def test_worst_case_is_told_and_shown_with_its_opponent() -> None:
    report = made_up(worst_case(), worst=synthetic.link_log())
    (row,) = report.rows("worst-cases-found")
    assert row[2:] == ("the omniscient sender", "2", "25", "0.8", "40", "delay 90")
    assert "worst-case-worst" in report.figures()
    report = made_up(worst_case(against=Setting(controller="cubic")), worst=synthetic.link_log())
    assert report.rows("worst-cases-found")[0][2:4] == ("CUBIC", "2")


def test_worst_case_that_fails_is_told_without_a_figure() -> None:
    report = made_up(worst_case())
    assert report.rows("worst-cases-found")[0][5] == "failed"
    assert "worst-case-worst" not in report.figures()


def hardening(worst: list[list[float]], own: list[list[float]]) -> Told:
    rounds = pd.DataFrame(
        {
            "repeat": np.repeat(range(len(worst)), len(worst[0])),
            "round": list(range(len(worst[0]))) * len(worst),
            "own": np.ravel(own),
            "worst_case": np.ravel(worst),
            "constants": "{}",
            "network": "{}",
        }
    )
    runs = pd.DataFrame([synthetic.run_row("timely", {"beta": 0.5}, 2, 100)])
    about: dict[str, Any] = {
        "title": "A study",
        "controller": "timely",
        "networks": (synthetic.NETWORK,),
    }
    study = Study.model_construct(**about, sampler=Sampler(kind="tpe", trials=60))
    wanted = Hardening(title="Hardened", tune="tune", worst_case="worst")
    hard = HardeningRuns("hard", wanted, study, study, rounds, runs)
    return told_by(synthetic.analysed(synthetic.MadeUp(hardenings=(hard,))))


def test_milder_worst_case_is_told_with_its_price() -> None:
    report = hardening([[0.1, 0.2], [0.2, 0.1], [0.1, 0.4]], [[0.8, 0.4]] * 3)
    assert "**2 of 3**" in report.text("rounds-hard")
    assert report.rows("rounds-of-hard")[0] == (
        *("0", "10.00", "10.00", "20.00"),
        *("80.0", "80.0", "80.0"),
    )
    assert "hardening-hard" in report.figures()
