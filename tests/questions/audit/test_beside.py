"""Our runs beside published rows, and the interval of one further run."""

import json
import math

import pandas as pd
import pytest

from kneepoint.analysis.results import StudyRuns
from kneepoint.questions.audit.beside import beside, runs_of
from tests.analysis import synthetic


def test_beside_matches_controller_network_and_printed_parameters() -> None:
    runs = pd.DataFrame(
        [
            synthetic.run_row("aimd", {"alpha": 0.1, "start": 2}, 2.0, 100.0),
            synthetic.run_row("aimd", {"alpha": 0.1, "start": 10}, 2.2, 100.0),
            synthetic.run_row("aimd", {"alpha": 0.2, "start": 2}, 9.0, 100.0),
            synthetic.run_row("reno", {"alpha": 0.1, "start": 2}, 9.0, 100.0),
            synthetic.run_row("aimd", {"alpha": 0.1, "start": 2}, 9.0, 100.0, network="elsewhere"),
        ]
    )
    place = {"table": "t", "controller": "aimd", "network": "contest", "replayable": True}
    published = pd.DataFrame({"row": [0, 1], "parameter_alpha": [0.1, 0.7], "power": 20.0, **place})
    rows = beside(published.assign(throughput_mbps=[2.0, math.nan]), runs)
    assert rows["runs"].tolist() == [1, 0]
    assert rows["settings"].tolist() == [2, 0]
    assert rows["nearest"].tolist() == ["start 2", ""]
    assert rows["ours_power"].tolist() == pytest.approx([20, math.nan], nan_ok=True)
    assert json.loads(rows["parameters"][0]) == {"alpha": 0.1, "start": 2}


def test_a_table_has_the_runs_of_what_replays_it_and_no_other_values_of_what_it_leaves_open() -> (
    None
):
    def runs(*starts: int) -> list[dict[str, object]]:
        return [synthetic.run_row("aimd", {"alpha": 1, "start": s}, 2, 100) for s in starts]

    replay = synthetic.study("replay", runs(2), table="mine")
    other = synthetic.study("beside", runs(2, 10), table="other", compare=("mine",))
    added = pd.DataFrame(runs(2, 2, 10, 30))

    def starts(*studies: StudyRuns) -> list[int]:
        found = runs_of("mine", synthetic.NETWORK, studies, added)
        return sorted(int(json.loads(each)["start"]) for each in found["parameters"])

    assert starts(other, replay) == [2, 2, 2, 2]
    assert starts(other) == [2, 2, 2, 10, 10]
    assert runs_of("mine", "elsewhere", [replay], added).empty
