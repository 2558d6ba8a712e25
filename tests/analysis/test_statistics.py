import json
import math

import pandas as pd
import pytest

from analysis import repeatability, statistics
from analysis.metrics import METRICS, POWER, SIGNAL_DELAY
from analysis.results import StudyRuns
from tests.analysis import synthetic


def frame(**columns: list[object]) -> pd.DataFrame:
    return pd.DataFrame(columns)


def runs_of(powers: list[float], **more: object) -> pd.DataFrame:
    rows = [
        synthetic.run_row("fixed_window", {"window": 12}, power / 10, 100.0, run=i, **more)
        for i, power in enumerate(powers)
    ]
    return pd.DataFrame(rows)


def test_spread_worked_by_hand() -> None:
    found = statistics.spread(pd.Series([2.0, 4.0, 6.0]))
    half = 4.302653 * 2 / math.sqrt(3)
    assert found["n"] == 3
    assert found["mean"] == 4
    assert found["standard_deviation"] == 2
    assert found["cv"] == 0.5
    assert (found["low"], found["high"]) == pytest.approx((4 - half, 4 + half), rel=1e-6)
    assert (found["least"], found["greatest"]) == (2, 6)


def test_published_means_have_a_difference_and_z() -> None:
    runs = runs_of([10.0, 12.0, 14.0], setting="a", whose="emulator", label="A")
    published = frame(
        whose=["emulator", "emulator"],
        setting=["a", "a"],
        metric=[POWER, SIGNAL_DELAY],
        published_mean=[10.0, 100.0],
        published_standard_deviation=[2.0, math.nan],
        published_n=[3, 5],
        source=["x", "x"],
    )
    tables = {
        "repeatability_runs": runs[["whose", "setting", "label", *METRICS]],
        "repeatability_published": published,
    }
    found = repeatability.beside_published(tables)
    assert found["relative"].tolist() == pytest.approx([0.2, 0.0])
    assert found["z"][0] == pytest.approx(2 / math.sqrt(4 / 3 + 4 / 3))
    assert math.isnan(found["z"][1])


def test_chance_pools_the_variation_of_all_settings() -> None:
    runs = pd.concat(
        [
            runs_of([99.0, 101.0], setting="a"),  # cv sqrt(2) %
            runs_of([198.0, 200.0, 202.0], setting="b"),  # cv 1 %
            runs_of([7.0], setting="c"),  # says nothing
        ]
    )
    found = statistics.chance(runs, ["setting"])
    assert found.degrees == 3
    assert found.cv == pytest.approx(math.sqrt((1 * 2e-4 + 2 * 1e-4) / 3))
    assert found.margin(1, 1) == pytest.approx(3.182446 * math.sqrt(2) * found.cv, rel=1e-6)
    assert found.margin(4, 4) == pytest.approx(found.margin(1, 1) / 2)


def chance(margin: float) -> statistics.Chance:
    """So that two single runs may differ by `margin`."""
    return statistics.Chance(margin / (12.706205 * math.sqrt(2)), 1)


@pytest.mark.parametrize(
    ("values", "runs", "margin", "label", "ties"),
    [
        ([10.0, 12.0, math.nan, 11.9, 11.0], [1] * 5, 0.01, 1, (3,)),
        ([1.0, 2.0, 2.0], [1] * 3, 0.0, 1, (2,)),  # the first of equals
        ([-1.0, -1.005, -2.0], [1] * 3, 0.01, 0, (1,)),  # misfits
        ([12.0, 11.95, 11.95], [25, 25, 1], 0.01, 0, (2,)),  # a mean of more is known better
        ([10.0, 12.0, 11.9], [1] * 3, math.nan, 1, ()),  # nothing is known of chance
    ],
)
def test_best_and_its_ties(
    values: list[float], runs: list[int], margin: float, label: int, ties: tuple[int, ...]
) -> None:
    luck = chance(margin) if margin == margin else statistics.Chance()
    found = statistics.best(pd.Series(values), pd.Series(runs), luck)
    assert found is not None
    assert (found.label, found.value, found.ties) == (label, values[label], ties)
    assert found.runs == runs[label]
    assert found.margin == pytest.approx(margin / math.sqrt(runs[label]), nan_ok=True)


def test_best_of_nothing_is_none() -> None:
    nothing = pd.Series([math.nan])
    assert statistics.best(nothing, pd.Series([1]), chance(0.01)) is None


def test_history_marks_improvements() -> None:
    trials = frame(
        trial=[2, 0, 1, 3, 4],
        value=[3.0, 1.0, math.nan, 3.0, 0.0],
        reason=["", "", "machine", "", "NaN"],
    )
    past = statistics.history(trials)
    assert past["trial"].tolist() == [0, 1, 2, 3, 4]
    assert past["best_so_far"].tolist() == [1, 1, 3, 3, 3]
    assert past["improved"].tolist() == [True, False, True, False, False]
    least = statistics.history(trials, minimised=True)
    assert least["best_so_far"].tolist() == [1, 1, 1, 1, 0]
    assert past["failed"].tolist() == [False, True, False, False, True]


def test_beside_matches_controller_network_and_printed_constants() -> None:
    runs = pd.DataFrame(
        [
            synthetic.run_row("aimd", {"alpha": 0.1, "start": 2}, 2.0, 100.0),
            synthetic.run_row("aimd", {"alpha": 0.1, "start": 10}, 2.2, 100.0),
            synthetic.run_row("aimd", {"alpha": 0.2, "start": 2}, 9.0, 100.0),
            synthetic.run_row("reno", {"alpha": 0.1, "start": 2}, 9.0, 100.0),
            synthetic.run_row("aimd", {"alpha": 0.1, "start": 2}, 9.0, 100.0, network="elsewhere"),
        ]
    )
    published = pd.DataFrame(
        [
            {"alpha": 0.1, "power": 20.0, "throughput_mbps": 2.0},
            {"alpha": 0.7, "power": 20.0, "throughput_mbps": math.nan},
        ]
    ).rename(columns={"alpha": "constant_alpha"})
    published = published.assign(
        table="t", row=[0, 1], controller="aimd", network="contest", replayable=True
    )
    rows = statistics.beside(published, runs)
    assert rows["runs"].tolist() == [1, 0]
    assert rows["settings"].tolist() == [2, 0]
    assert rows["nearest"].tolist() == ["start 2", ""]
    assert rows["ours_power"][0] == pytest.approx(20)
    assert json.loads(rows["constants"][0]) == {"alpha": 0.1, "start": 2}
    assert math.isnan(rows["ours_power"][1])
    assert math.isnan(rows["ours_signal_delay_p95_ms"][1])


def test_a_table_has_the_runs_of_what_replays_it_and_no_other_values_of_what_it_leaves_open() -> (
    None
):
    def runs(*starts: int, **more: object) -> list[dict[str, object]]:
        return [synthetic.run_row("aimd", {"alpha": 1, "start": s}, 2, 100, **more) for s in starts]

    replay = synthetic.study("replay", runs(2), table="mine")
    beside = synthetic.study("beside", runs(2, 10), table="other", compare=("mine",))
    added = pd.DataFrame(runs(2, 2, 10, 30))

    def starts(*studies: StudyRuns) -> list[int]:
        found = statistics.runs_of("mine", synthetic.NETWORK, studies, added)
        return sorted(int(json.loads(each)["start"]) for each in found["constants"])

    assert starts(beside, replay) == [2, 2, 2, 2]
    assert starts(beside) == [2, 2, 2, 10, 10]
    assert statistics.runs_of("mine", "elsewhere", [replay], added).empty


def test_exclusions_group_failures_alike() -> None:
    runs = [
        synthetic.failed_row("aimd", {"alpha": 1}, "sends without end"),
        synthetic.failed_row("aimd", {"alpha": 1}, "sends without end"),
        synthetic.failed_row("aimd", {"alpha": 2}, "window is NaN"),
        synthetic.run_row("aimd", {"alpha": 3}, 1, 1),
    ]
    results = synthetic.MadeUp(studies=[synthetic.study("one", runs)])
    found = synthetic.analysed(results, "inventory")["exclusions"]
    assert found["runs"].tolist() == [2, 1]
    assert found["reason"].tolist() == ["sends without end", "window is NaN"]
