"""Searches that are found in studies."""

from dataclasses import replace

import pandas as pd
import pytest

from analysis.frames import records, select
from experiments.models.study import Fit
from tests.analysis import synthetic


def stage(results: synthetic.MadeUp) -> dict[str, pd.DataFrame]:
    return synthetic.analysed(results, "searches")


@pytest.fixture(scope="module")
def found() -> dict[str, pd.DataFrame]:
    return stage(synthetic.results())


def test_searches_are_studies_that_learn(found: dict[str, pd.DataFrame]) -> None:
    window, threshold = records(found["searches"])
    assert (window["search"], threshold["search"]) == ("best_window", "delay_tpe")
    assert (window["searched"], threshold["searched"]) == (1, 3)
    assert (threshold["trials"], threshold["failed"]) == (120, 2)
    constants = select(found["search_constants"], search="best_window")
    assert constants[["constant", "best"]].to_numpy().tolist() == [["window", 16]]
    trials = select(found["search_trials"], search="delay_tpe")
    assert trials["value"].isna().sum() == trials["rank"].isna().sum() == 2
    best = trials[trials["rank"] == 1]
    assert best["value"].tolist() == [trials["value"].max()]
    assert threshold["best_trial"] == best["trial"].iloc[0]


def test_brackets_begin_with_the_range_searched(found: dict[str, pd.DataFrame]) -> None:
    (only,) = records(select(found["search_constants"], search="best_window"))
    trials = select(found["search_trials"], search="best_window")
    brackets = trials.dropna(subset=["low"])
    first, last = brackets.iloc[0], brackets.iloc[-1]
    assert (first["low"], first["high"]) == (only["low"], only["high"])
    assert first["low"] < last["low"] < 16 < last["high"] < first["high"]


def test_a_fit_has_its_best_at_the_least() -> None:
    fit = synthetic.ternary_study(objective=Fit(fit=("001-fixed-window",)))
    fit = replace(fit, runs=fit.runs.assign(row=0))
    found = stage(synthetic.MadeUp(studies=(fit,), published=synthetic.published_rows()[:1]))
    (search,) = records(found["searches"])
    assert search["best_value"] == fit.trials["value"].min()
    assert search["near"] >= 1
    steps = found["search_trials"].dropna(subset=["low"])
    assert steps["value"].min() == search["best_value"]


def test_a_search_over_two_networks_compares_with_what_was_published_for_each() -> None:
    tuned = synthetic.grid_study(sampler="tpe")
    there = tuned.runs.assign(network="far", power=tuned.runs["power"] / 2)
    runs = pd.concat([tuned.runs, there], ignore_index=True)
    both = synthetic.changed(tuned, networks=(synthetic.NETWORK, "far"))
    both = replace(both, runs=runs)
    found = stage(synthetic.results(studies=(both,)))
    (search,) = records(found["searches"])
    assert search["margin"] != search["margin"]
    here, far = records(found["search_networks"])
    assert here["power"] == 2 * far["power"] == tuned.trials["power"].max()
    assert (here["published_table"], here["published_report"]) == ("000-aimd-grid", "Report 000")
    assert here["gain"] == here["power"] / 18.6 - 1
    assert far["published_table"] is None
