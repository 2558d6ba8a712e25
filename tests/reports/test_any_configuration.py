"""What the report says of a configuration that is unlike the shipped one.

Its tables have names without numbers, its studies several networks, one is a grid over three
constants, and three controllers are tuned. Tables are checked against the numbers made up.
"""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.frames import CONSTANT
from analysis.labels import DASH, MINUS
from analysis.results import HeldOutRuns, Searched, StudyRuns, published_frame
from experiments.models.study import Fit
from experiments.published import PublishedTable, load_table
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
COLUMNS = """
columns:
  throughput: {metric: throughput_mbps, unit: Mbit/s}
  delay: {metric: signal_delay_p95_ms, unit: ms}
  power: {metric: power, unit: Mbit/s/s}
  size: {constant: size, unit: packets}
"""
TABLES = {
    "windows-of-nguyen": (
        f"""source: Nguyen 2024, Table 1
report: Nguyen 2024
controller: my_window
network: lab
selected: best
{COLUMNS}""",
        """size,throughput,delay,power
5,1.20,100,12.00
10,2.00,120,16.67
15,2.50,200,17.86
20,2.33,191,12.12
25,3.00,180,16.67
30,3.20,200,16.00
""",
    ),
    "2019results": (
        """source: Ortega 2019, section 4
controller: late_threshold
network: road
columns:
  limit: {constant: limit_ms, unit: ms}
  gain: {constant: gain, unit: "1"}
  power: {metric: power, unit: Mbit/s/s}
""",
        "limit,gain,power\n80,1,20.0\n",
    ),
    "bench-7": (
        f"source: our bench\nkind: measured\ncontroller: my_window\nnetwork: lab\n{COLUMNS}",
        "size,throughput,delay,power\n5,1.20,100,12.00\n",
    ),
}
REPLAYS = {  # size: throughput, and the delay of each of three runs; none where the run failed
    5: (1.20, (100, 100, 100)),
    10: (2.00, (120, 120, 120)),
    15: (2.50, (139, 140, 141)),  # 140, which power follows from: the delay 200 is wrong
    20: (2.33, (191, 192, 193)),  # 12.12 is 12.129, cut off
    25: (3.00, (160, 165, 182)),  # 180 is between our runs
    30: None,
}
"""Where the replays of windows-of-nguyen are."""


def _run(controller: str, constants: dict[str, float], power: float, **more: Any) -> dict[str, Any]:
    return synthetic.run_row(controller, constants, 3.0, 3000 / power, **more)


def _windows() -> StudyRuns:
    runs: list[dict[str, Any]] = []
    for trial, (size, numbers) in enumerate(REPLAYS.items()):
        for run in range(3):
            at = {"trial": trial, "run": run, "network": LAB}
            if numbers is None:
                failed = synthetic.failed_row("my_window", {"size": size}, "it sent nothing")
                runs.append({**failed, **at})
            else:
                throughput, delays = numbers
                constants = {"size": size}
                runs.append(
                    synthetic.run_row("my_window", constants, throughput, delays[run], **at)
                )
    return synthetic.study(
        "windows", runs, networks=(LAB,), table="windows-of-nguyen", compare=("bench-7",)
    )


def _added_runs() -> pd.DataFrame:
    """More runs of two rows; that the first is reproduced rests on one of them."""
    delays = {20: (2.33, [187.0, *[191.0] * 8]), 25: (3.0, range(160, 187, 3))}
    runs = [
        synthetic.run_row("my_window", {"size": size}, rate, delay, network=LAB)
        for size, (rate, each) in delays.items()
        for delay in each
    ]
    return pd.DataFrame(runs).assign(host="")


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


def _fit() -> StudyRuns:
    """A fit whose best is the least latency searched, though the network's is 600 us."""
    latencies = (300.0, 600.0, 900.0, 1200.0)
    printed = {5: (1.2, 100), 10: (2, 120), 15: (2.5, 200), 20: (2.33, 191), 25: (3, 180)}
    printed[30] = 3.2, 200
    runs = [
        synthetic.run_row(
            *("my_window", {"size": size}, numbers[0], numbers[1] * (0.7 + latency / 1000)),
            network=LAB,
            row=row,
            trial=trial,
        )
        for trial, latency in enumerate(latencies)
        for row, (size, numbers) in enumerate(printed.items())
    ]
    made = synthetic.study(
        "host",
        runs,
        searched=[Searched("host_latency_us", 300, 1200, least=0)],
        networks=(LAB,),
        objective=Fit(fit=("windows-of-nguyen",)),
    )
    trials = made.trials.drop_duplicates("trial").reset_index(drop=True)
    trials = trials.assign(value=[0.1, 0.2, 0.3, 0.4], constant_host_latency_us=latencies)
    return replace(made, trials=trials.drop(columns=CONSTANT + "size"))


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


def _tables(folder: Path) -> list[PublishedTable]:
    (folder / "published").mkdir()
    for name, (description, numbers) in TABLES.items():
        (folder / "published" / f"{name}.yaml").write_text(description)
        (folder / "published" / f"{name}.csv").write_text(numbers)
    return [load_table(folder / "config.yaml", name) for name in sorted(TABLES)]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Told:
    tables = _tables(tmp_path_factory.mktemp("config"))
    results = synthetic.MadeUp(
        networks=TITLES,
        units=UNITS,
        hosts={name: {"host_latency_us": 600.0} for name in TITLES},
        studies=(
            _windows(),
            _grid(),
            _search("limits", {LAB: 30.0}),
            _search("limits_again", {LAB: 28.0}),
            _search("limits_of_both", {LAB: 30.0, ROAD: 10.0}),
            _search("limits_of_the_road", {ROAD: 10.0}),
            _sweep(SEA),
            _fit(),
        ),
        published=published_frame(tables),
        sources={table.name: table.description for table in tables},
        hold_out=_hold_out(),
        added_runs=_added_runs(),
    )
    return told(results)


def test_tables_of_any_name_are_audited_under_their_reports_names(report: Told) -> None:
    assert report.rows("audit-counts")[-1][:2] == ("all", "6")
    assert {row[0] for row in report.rows("audit-contradicted")} == {"Nguyen 2024 my window 15", ""}
    assert [row[0] for row in report.rows("agreement-measured")] == ["bench-7"]
    assert "published-against-ours-reports" in report.figures("audit")


def test_the_number_that_is_wrong_is_blamed(report: Told) -> None:
    lines = [row[2:6] + row[7:] for row in report.rows("audit-contradicted")]
    ours = ("Signal delay", "200", "139", f"{MINUS}30.5\N{NO-BREAK SPACE}%")
    assert (*ours, "140", "") in lines
    assert (*ours, DASH, "") in lines  # far from ours
    assert lines[-1][-2:] == ("2 to 30 runs", "best")


def test_rows_are_told_by_what_keeps_them_from_agreement(report: Told) -> None:
    spread = report.rows("audit-within-our-spread")
    assert spread[0][0].endswith("25")
    (low, high) = next(
        re.findall(r"(\d+) to (\d+)", row[7])[0] for row in spread if "one more run" in row[6]
    )
    assert int(low) < 160
    assert 182 < int(high) < 220
    ((name, runs, verdict, share),) = report.rows("audit-unclear")
    assert (name, runs, verdict) == ("Nguyen 2024 my window 20", "12", "reproduced")
    assert 50 < float(share.split("\N{NO-BREAK SPACE}")[0]) < 95
    failed = report.rows("audit-not-comparable")[0]
    assert failed[0].endswith("30") and failed[-1] == "it sent nothing"
    verdicts = [row[-1] for row in report.rows("rows-windows-of-nguyen")]
    assert verdicts[:2] == ["reproduced", "reproduced"]
    assert verdicts[3] == "reproduced"  # whose power is cut off
    assert "best of many runs" in report.caption("rows-windows-of-nguyen")


def test_a_fit_whose_result_was_not_used_fits_nothing(report: Told) -> None:
    assert "fitted" not in {row[-1] for row in report.rows("rows-windows-of-nguyen")}
    ((_, table, _, trials, best, *_),) = report.rows("fits")
    assert (table, trials, best) == ("`windows-of-nguyen`", "4", "host latency 300 µs")
    ((*_, verdict),) = report.rows("certainty-host")
    assert verdict == "at the edge of its range"


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
