"""The tables of tuning against worst cases."""

from typing import Any

import pandas as pd

from kneepoint.config.study import Sampler, Study
from kneepoint.questions.hardening import Hardening
from kneepoint.questions.hardening.tables import HardeningRuns
from tests.analysis import synthetic
from tests.reports.told import told_by


def test_milder_worst_case_is_told_with_its_price() -> None:
    place = {"repeat": [0, 0, 1, 1, 2, 2], "round": [0, 1] * 3, "parameters": "{}", "network": "{}"}
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
