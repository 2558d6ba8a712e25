"""The searches among studies."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from kneepoint.analysis.frames import records, select
from kneepoint.analysis.results import StudyRuns
from kneepoint.common.study_record import FailedTrials
from kneepoint.config.study import EMULATOR, Bounded, Fit, Formula
from kneepoint.questions.searches.tables import history, leaders
from tests.analysis import synthetic


def stage(results: synthetic.MadeUp) -> dict[str, pd.DataFrame]:
    return synthetic.analysed(results, "searches")


def of_studies(*studies: StudyRuns, **more: Any) -> dict[str, pd.DataFrame]:
    return stage(synthetic.MadeUp(studies=studies, **more))


@pytest.fixture(scope="module")
def found() -> dict[str, pd.DataFrame]:
    return stage(synthetic.results())


def test_searches_are_studies_that_learn(found: dict[str, pd.DataFrame]) -> None:
    window, threshold = records(found["searches"])
    assert (window["search"], threshold["search"]) == ("best_window", "delay_tpe")
    assert (window["searched"], threshold["searched"]) == (1, 3)
    assert (threshold["trials"], threshold["failed"]) == (120, 2)
    trials = select(found["search_trials"], search="delay_tpe")
    assert trials["value"].isna().sum() == trials["rank"].isna().sum() == 2
    (best,) = records(trials[trials["rank"] == 1])
    assert best["value"] == trials["value"].max()
    assert threshold["best_trial"] == best["trial"]


def test_brackets_begin_with_the_range_searched(found: dict[str, pd.DataFrame]) -> None:
    (only,) = records(select(found["search_parameters"], search="best_window"))
    assert (only["parameter"], only["best"]) == ("window", 16)
    trials = select(found["search_trials"], search="best_window")
    first, *_, last = records(trials.dropna(subset=["low"]))
    assert (first["low"], first["high"]) == (only["low"], only["high"])
    assert first["low"] < last["low"] < 16 < last["high"] < first["high"]


def test_a_fit_has_its_best_at_the_least() -> None:
    fit = synthetic.ternary_study(objective=Fit(fit=("001-fixed-window",)))
    fit = replace(fit, runs=fit.runs.assign(row=0))
    found = of_studies(fit, published=synthetic.published_rows()[:1])
    (search,) = records(found["searches"])
    assert search["best_value"] == fit.trials["value"].min()
    assert search["near"] >= 1
    steps = found["search_trials"].dropna(subset=["low"])
    assert steps["value"].min() == search["best_value"]


def test_a_search_over_two_networks_compares_with_what_was_published_for_each() -> None:
    tuned = synthetic.grid_study(sampler="tpe")
    there = tuned.runs.assign(network="far", power=tuned.runs["power"] / 2)
    both = synthetic.changed(tuned, networks=(synthetic.NETWORK, "far"))
    both = synthetic.chosen(replace(both, runs=pd.concat([tuned.runs, there], ignore_index=True)))
    found = stage(synthetic.results(studies=(both,)))
    (search,) = records(found["searches"])
    assert search["margin"] != search["margin"]
    here, far = records(found["search_networks"])
    assert here["power"] == 2 * far["power"] == 0.99 * tuned.trials["power"].max()
    assert (here["published_table"], here["published_report"]) == ("000-aimd-grid", "Report 000")
    assert here["gain"] == here["power"] / 18.6 - 1
    assert far["published_table"] is None


def listed(windows: Sequence[int], power: float = 1.0) -> StudyRuns:
    """A replay of a table's windows, without fresh seeds, with power times a factor."""
    study = synthetic.windows_study("listed", windows, table="004-fixed-window")
    runs = study.runs.assign(power=study.runs["power"] * power)
    trials = study.trials.assign(value=runs["power"], power=runs["power"])
    return synthetic.chosen(replace(study, runs=runs, trials=trials))


def test_failures_are_told_by_reason(found: dict[str, pd.DataFrame]) -> None:
    assert found["search_failures"].empty
    study = synthetic.tpe_study()
    failed = FailedTrials(3, {"it hangs": 1, "the window is not a number": 2})
    told = of_studies(replace(study, record=replace(study.record, failed=failed)))
    assert told["search_failures"][["failed", "reason", "count"]].to_numpy().tolist() == [
        [3, "it hangs", 1],
        [3, "the window is not a number", 2],
    ]


def test_a_study_of_which_nothing_succeeded_has_no_best() -> None:
    rows = [synthetic.failed_row("c", {"a": a}, "it hangs") for a in range(1, 10)]
    study = synthetic.study("none", rows, sampler="tpe")
    failed = FailedTrials(9, {"it hangs": 9})
    found = of_studies(replace(study, record=replace(study.record, failed=failed)))
    assert study.record.best is None
    assert found["searches"].empty
    assert records(found["search_failures"])[0]["trials"] == 9


def test_a_study_by_another_goal_than_power_is_a_search() -> None:
    goal = Formula(expression="throughput_mbps")
    found = of_studies(synthetic.chosen(synthetic.ternary_study(objective=goal)))
    assert found["searches"]["objective"].tolist() == ["expression"]
    grid = synthetic.windows_study(objective=Bounded(throughput="mean", delay_ms=200))
    assert of_studies(grid)["searches"]["search"].tolist() == ["windows"]


def test_history_marks_improvements() -> None:
    trials = pd.DataFrame(
        {
            "trial": [2, 0, 1, 3, 4],
            "value": [3.0, 1.0, math.nan, 3.0, 0.0],
            "reason": ["", "", "machine", "", "NaN"],
        }
    )
    past = history(trials)
    assert past["trial"].tolist() == [0, 1, 2, 3, 4]
    assert past["best_so_far"].tolist() == [1, 1, 3, 3, 3]
    assert past["improved"].tolist() == [True, False, True, False, False]
    assert past["failed"].tolist() == [False, True, False, False, True]
    least = history(trials, minimised=True)
    assert least["best_so_far"].tolist() == [1, 1, 1, 1, 0]


@pytest.mark.parametrize(("second", "equals"), [(43.09, 1), (42.9, 0)])
def test_an_equal_is_within_the_error_of_the_difference(second: float, equals: int) -> None:
    columns = ["search", "network", "power", "half_width", "fresh_runs"]
    rows = [
        ("second", "a", second, 0.17, 5),
        ("elsewhere", "b", 90.0, 0.17, 5),
        ("best", "a", 43.23, 0.17, 5),
        ("unsure", "a", 20.0, math.nan, 5),
        ("selected", "a", 99.0, 0.17, 0),
        ("single", "a", 99.0, 0.17, 5),
    ]
    networks = pd.DataFrame(rows, columns=columns)
    tuned = {"controller": "fixed_window", "engine": EMULATOR, "tunes": True, "networks": ("a",)}
    searches = pd.DataFrame(
        {**tuned, "search": name, "searched": 1 if name == "single" else 2}
        for name in networks["search"]
    )
    found = leaders({"searches": searches, "search_networks": networks})
    assert found["search"].tolist() == ["best", "second"][: 1 + equals]
    assert set(found["controller"]) == {"fixed_window"}
    nothing = {"searches": searches, "search_networks": networks.iloc[:0]}
    assert leaders(nothing).empty
