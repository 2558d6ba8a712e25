"""Statistics of runs, worked by hand; intervals of further runs, whose errors are counted."""

import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from kneepoint.analysis import statistics
from kneepoint.analysis.metrics import (
    POWER,
    QUEUEING_DELAY,
    SIGNAL_DELAY,
    THROUGHPUT,
)
from kneepoint.analysis.results import StudyRuns
from kneepoint.analysis.spread import (
    LEVEL,
    Selection,
    figures,
)
from kneepoint.stats import intervals
from tests.analysis import synthetic


def runs_of(powers: list[float], **more: Any) -> pd.DataFrame:
    made = (synthetic.run_row("fixed_window", {"window": 12}, p / 10, 100.0) for p in powers)
    return pd.DataFrame(made).assign(**more)


def test_spread_worked_by_hand() -> None:
    found = intervals.spread(pd.Series([2.0, 4.0, 6.0]))
    half = 4.302653 * 2 / math.sqrt(3)
    ends = {"low": 4 - half, "high": 4 + half, "least": 2, "greatest": 6}
    about = {"n": 3, "mean": 4, "standard_deviation": 2, "cv": 0.5}
    assert found == pytest.approx({**about, **ends}, rel=1e-6)


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
    known = intervals.Chance(margin / (12.706205 * math.sqrt(2)), 1)  # of two single runs
    luck = known if margin == margin else intervals.Chance()
    found = statistics.best(pd.Series(values), pd.Series(runs), luck)
    assert found is not None
    assert (found.label, found.value, found.ties) == (label, values[label], ties)
    assert found.runs == runs[label]
    assert found.margin == pytest.approx(margin / math.sqrt(runs[label]), nan_ok=True)
    assert statistics.best(pd.Series([math.nan]), pd.Series([1]), luck) is None


def test_history_marks_improvements() -> None:
    trials = pd.DataFrame(
        {
            "trial": [2, 0, 1, 3, 4],
            "value": [3.0, 1.0, math.nan, 3.0, 0.0],
            "reason": ["", "", "machine", "", "NaN"],
        }
    )
    past = statistics.history(trials)
    assert past["trial"].tolist() == [0, 1, 2, 3, 4]
    assert past["best_so_far"].tolist() == [1, 1, 3, 3, 3]
    assert past["improved"].tolist() == [True, False, True, False, False]
    assert past["failed"].tolist() == [False, True, False, False, True]
    least = statistics.history(trials, minimised=True)
    assert least["best_so_far"].tolist() == [1, 1, 1, 1, 0]


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
    place = {"table": "t", "controller": "aimd", "network": "contest", "replayable": True}
    published = pd.DataFrame({"row": [0, 1], "constant_alpha": [0.1, 0.7], "power": 20.0, **place})
    rows = statistics.beside(published.assign(throughput_mbps=[2.0, math.nan]), runs)
    assert rows["runs"].tolist() == [1, 0]
    assert rows["settings"].tolist() == [2, 0]
    assert rows["nearest"].tolist() == ["start 2", ""]
    assert rows["ours_power"].tolist() == pytest.approx([20, math.nan], nan_ok=True)
    assert json.loads(rows["constants"][0]) == {"alpha": 0.1, "start": 2}


def test_a_table_has_the_runs_of_what_replays_it_and_no_other_values_of_what_it_leaves_open() -> (
    None
):
    def runs(*starts: int) -> list[dict[str, object]]:
        return [synthetic.run_row("aimd", {"alpha": 1, "start": s}, 2, 100) for s in starts]

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
    failures = ((1, "sends without end"), (1, "sends without end"), (2, "window is NaN"))
    runs = [synthetic.failed_row("aimd", {"alpha": alpha}, reason) for alpha, reason in failures]
    runs.append(synthetic.run_row("aimd", {"alpha": 3}, 1, 1))
    results = synthetic.MadeUp(studies=[synthetic.study("one", runs)])
    found = synthetic.analysed(results, "inventory")["exclusions"]
    assert found["runs"].tolist() == [2, 1]
    assert found["reason"].tolist() == ["sends without end", "window is NaN"]


# Where one more run may lie -------------------------------------------------------------------


def drawn(draws: int, n: int) -> dict[str, np.ndarray]:
    """Runs that vary by 2 % of throughput and 5 % of delay, in whole milliseconds."""
    random = np.random.default_rng(1)
    throughput = 4 * (1 + 0.02 * random.standard_normal((draws, n)))
    delay = np.round(150 * (1 + 0.05 * random.standard_normal((draws, n))))
    power = 1e3 * throughput / delay
    return {THROUGHPUT: throughput, QUEUEING_DELAY: delay, SIGNAL_DELAY: delay, POWER: power}


def held(found: dict[str, np.ndarray], metric: str, values: np.ndarray) -> float:
    """In how many draws the interval holds the value."""
    is_held = (found[f"low_{metric}"] <= values) & (values <= found[f"high_{metric}"])
    return float(is_held.mean())


def test_one_run_predicts_nothing_and_none_says_nothing() -> None:
    one, none = figures(drawn(1, 1)), figures(drawn(1, 0))
    assert not math.isnan(one["ours_power"][0])
    assert all(math.isnan(one[f"{name}_power"][0]) for name in ("deviation", "low", "high"))
    assert all(math.isnan(each[0]) for each in none.values())


@pytest.mark.parametrize("n", [3, 10, 30])
def test_an_interval_holds_one_more_run_as_often_as_it_says(n: int) -> None:
    runs = drawn(4000, n + 1)
    found = figures({metric: values[:, 1:] for metric, values in runs.items()})
    for metric, values in runs.items():
        assert held(found, metric, values[:, 0]) == pytest.approx(LEVEL, abs=0.006), metric


@pytest.mark.parametrize(("delay", "ends"), [(73.0, [72.5, 73.5]), (0.0, [0.0, 0.5])])
def test_runs_that_tie_in_whole_milliseconds_leave_half_a_millisecond(
    delay: float, ends: list[float]
) -> None:
    found = figures({**drawn(1, 6), SIGNAL_DELAY: np.full((1, 6), delay)})
    assert [found[f"{end}_{SIGNAL_DELAY}"][0] for end in ("low", "high")] == pytest.approx(ends)


@pytest.mark.parametrize("extreme", ["best", "worst"])
def test_a_selected_run_is_compared_with_a_selected_run(extreme: str) -> None:
    of, runs = 5, drawn(4000, 35)
    tried = runs[POWER][:, :of]
    place = tried.argmax(axis=1) if extreme == "best" else tried.argmin(axis=1)
    ours = {metric: values[:, of:] for metric, values in runs.items()}
    single, found = figures(ours), figures(ours, Selection(extreme, of, of))  # type: ignore[arg-type]
    for metric, every in runs.items():
        values = every[np.arange(4000), place]
        bias, plain = (abs((f[f"ours_{metric}"] / values).mean() - 1) for f in (found, single))
        assert bias < plain / 4, metric
        assert held(found, metric, values) >= LEVEL - 0.005, metric
    narrow, wide = (each["high_power"] - each["low_power"] for each in (found, single))
    assert (narrow < wide).mean() > 0.9
