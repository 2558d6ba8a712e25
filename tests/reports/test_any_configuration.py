"""What the report says of a configuration that is unlike the shipped one.

Its table has a name without a report's number, its studies several networks, one is a grid over
three parameters. What is said is checked against the numbers made up.
"""

import json
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.labels import DASH
from analysis.results import HeldOutRuns, StudyRuns, published_frame
from experiments.published import load_table
from tests.analysis import synthetic
from tests.reports.told import Told, told

LAB, ROAD, SEA, MOOR = "lab", "road", "sea", "moor"
TITLES = {LAB: "The lab", ROAD: "The road", SEA: "The sea", MOOR: "The moor"}
UNITS = {
    ("my_window", "size"): "packets",
    ("hop_aimd", "step"): "packets/RTT",
    ("hop_aimd", "cut"): "",
    ("hop_aimd", "wait_us"): "us",
    ("late_threshold", "limit_ms"): "ms",
    ("late_threshold", "gain"): "",
}
ROAD_TABLE = """source: Ortega 2019, section 4
controller: late_threshold
network: road
columns:
  limit: {constant: limit_ms, unit: ms}
  gain: {constant: gain, unit: "1"}
  power: {metric: power, unit: Mbit/s/s}
"""


def _run(controller: str, constants: dict[str, float], power: float, **more: Any) -> dict[str, Any]:
    return synthetic.run_row(controller, constants, 3.0, 3000 / power, **more)


def _grid() -> StudyRuns:
    runs = [
        _run(
            "hop_aimd",
            {"step": step, "cut": cut, "wait_us": wait},
            20 + step - abs(cut - 0.5) + wait / 1000,
            network=LAB,
        )
        for step in (1, 2, 4)
        for cut in (0.25, 0.5, 0.75)
        for wait in (100, 200)
    ]
    return synthetic.study("steps", runs, title="Steps of the hop", networks=(LAB,))


def _search(name: str, networks: dict[str, float], trials: int = 40, **more: Any) -> StudyRuns:
    """A search of late_threshold: on each network power has its peak at a limit of 90 ms."""
    random = np.random.default_rng(5)
    runs = []
    for trial in range(trials):
        limit, gain = random.uniform(60, 120), random.uniform(0.5, 2)
        for network, peak in networks.items():
            power = peak * (1 - ((limit - 90) / 100) ** 2 - 0.01 * abs(gain - 1))
            constants = {"limit_ms": limit, "gain": gain}
            runs.append(_run("late_threshold", constants, power, trial=trial, network=network))
    made = synthetic.study(name, runs, networks=tuple(networks), sampler="tpe", **more)
    means = made.runs.groupby("trial")[["power", "throughput_mbps", "signal_delay_p95_ms"]].mean()
    kept = made.trials.drop_duplicates("trial").reset_index(drop=True)
    kept[means.columns] = means.to_numpy()
    kept["value"] = kept["power"]
    return replace(made, trials=kept.assign(n_runs=len(networks)))


def _sweep(network: str) -> StudyRuns:
    runs = [
        synthetic.run_row(
            "my_window", {"size": size}, *synthetic.fixed_window(size), network=network
        )
        for size in range(4, 44, 4)
    ]
    return synthetic.study(f"sizes_{network}", runs, title="Sizes", networks=(network,))


def _hold_out() -> HeldOutRuns:
    steps = [json.dumps({"step": step, "cut": 0.5, "wait_us": 200.0}) for step in (1.0, 4.0, 2.0)]
    settings = pd.DataFrame(
        {
            **{"trial": [0, 1, 2], "controller": "hop_aimd"},
            **{"origin": ["published", "tuned", "tuned"]},
            **{
                "best": True,
                "study": ["steps", "steps", "steps_again"],
                "table": ["t", None, None],
            },
            **{"row": [0, None, None], "constants": steps},
            **{"published_power": 20.0, "study_power": [20.0, 24.2, 22.2], "study_runs": 1},
        }
    ).astype({"row": "Int64"})
    networks = pd.DataFrame(
        {
            **{"network": [LAB, SEA, MOOR], "title": [TITLES[n] for n in (LAB, SEA, MOOR)]},
            **{"is_training": [True, False, False], "capacity_mbps": 5.0},
            **{"signal_delay_p95_ms": 30.0, "power": 150.0},
        }
    )
    runs = [
        _run("hop_aimd", {"step": 1.0 + trial}, 20.0 + trial, trial=trial, run=run, network=network)
        for trial in (0, 1, 2)
        for network in (LAB, SEA, MOOR)
        for run in range(2)
    ]
    return HeldOutRuns(settings, networks, pd.DataFrame(runs))


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Told:
    folder = tmp_path_factory.mktemp("config")
    (folder / "published").mkdir()
    (folder / "published/2019results.yaml").write_text(ROAD_TABLE)
    (folder / "published/2019results.csv").write_text("limit,gain,power\n80,1,20.0\n")
    table = load_table(folder / "config.yaml", "2019results")
    results = synthetic.MadeUp(
        networks=TITLES,
        units=UNITS,
        studies=(
            _grid(),
            _search("limits", {LAB: 30.0}),
            _search("limits_again", {LAB: 28.0}),
            _search("limits_of_both", {LAB: 30.0, ROAD: 10.0}),
            _search("limits_of_the_road", {ROAD: 10.0}),
            _sweep(SEA),
        ),
        published=published_frame([table]),
        sources={table.name: table.description},
        hold_out=_hold_out(),
    )
    return told(results)


def test_a_grid_over_three_constants_is_a_search(report: Told) -> None:
    (row,) = [row for row in report.rows("searches") if row[0].startswith("Steps of the hop")]
    assert row[2:5] == ("grid", "18", "step 4 packets/RTT, cut 0.5, wait 200 µs")
    assert report.rows("best-trials-steps")[0][1:5] == ("4", "0.5", "200", "24.2")
    figures = report.figures()
    assert "search-slices-steps" in figures and "search-history-steps" not in figures
    assert report.head("best-trials-steps")[1:4] == ["Step (packets/RTT)", "Cut", "Wait (µs)"]


def test_several_networks_are_told_apart(report: Told) -> None:
    rows = report.rows("networks-limits_of_both")
    assert [row[0] for row in rows] == ["The lab", "The road"]
    lab, road = (float(row[3]) for row in rows)
    assert lab == pytest.approx(30, abs=0.3)
    assert road == pytest.approx(10, abs=0.1)
    assert rows[0][5:7] == (DASH, DASH)
    assert rows[1][5:7] == ("20.00", "Ortega 2019, section 4")


def test_a_network_that_a_grid_searched_was_seen(report: Told) -> None:
    assert "on 2 other networks; in no search: 1" in report.text("held-out")
    places = {row[0]: row[-1] for row in report.rows("held-out-networks")}
    assert places["**The lab**"] if "**The lab**" in places else places["The lab"]
    assert places["The sea"] == "Sizes" and places["The moor"] == DASH
    for row in report.rows("held-out-standings"):
        assert row[1] == "2"  # runs on each network
        assert re.fullmatch(r"[\d.]+ \([\d.]+ to [\d.]+\)", row[3])
    best, _, published = (row[1:] for row in report.rows("held-out-profiles"))
    assert published[0] == "0.0 (0.0 to 0.0)"  # power 20 where the best has 22
    assert best[0] == published[-1] == "100.0 (100.0 to 100.0)"
