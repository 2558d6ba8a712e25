"""Searches, sweeps and grids that are found in studies."""

from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from analysis.frames import records, select
from analysis.results import StudyRuns
from analysis.sweeps import grids, published_points
from experiments.models.study import Fit
from tests.analysis import synthetic


def stage(results: synthetic.MadeUp) -> dict[str, pd.DataFrame]:
    return synthetic.analysed(results, "audit", "sweeps", "searches")


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
    (only,) = records(select(found["search_constants"], search="best_window"))
    assert (only["constant"], only["best"]) == ("window", 16)
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
    assert found["sweeps"].empty


def test_a_search_over_two_networks_compares_with_what_was_published_for_each() -> None:
    tuned = synthetic.grid_study(sampler="tpe")
    there = tuned.runs.assign(network="far", power=tuned.runs["power"] / 2)
    both = synthetic.changed(tuned, networks=(synthetic.NETWORK, "far"))
    both = replace(both, runs=pd.concat([tuned.runs, there], ignore_index=True))
    found = stage(synthetic.results(studies=(both,)))
    (search,) = records(found["searches"])
    assert search["margin"] != search["margin"]
    here, far = records(found["search_networks"])
    assert here["power"] == 2 * far["power"] == tuned.trials["power"].max()
    assert (here["published_table"], here["published_report"]) == ("000-aimd-grid", "Report 000")
    assert here["gain"] == here["power"] / 18.6 - 1
    assert far["published_table"] is None


# Sweeps and grids -----------------------------------------------------------------------------


def test_sweeps_join_the_studies_of_one_constant(found: dict[str, pd.DataFrame]) -> None:
    (sweep,) = records(found["sweeps"])
    about = [sweep[name] for name in ("controller", "constant", "unit", "sweep", "studies")]
    assert about == ["fixed_window", "window", "packets", "fixed_window-window-contest", 3]
    points, published = found["sweep_points"], published_points(found)
    assert published["table"].value_counts().to_dict() == {
        "001-fixed-window": 18,
        "004-fixed-window": 33,
    }
    assert (sweep["best_value"], sweep["power"]) == (16, points["power"].max())
    assert points.loc[points["best"], "value"].tolist() == [16]
    assert points["tied"].any() and not (points["best"] & points["tied"]).any()


def test_sweeps_keep_apart_what_was_held_at_other_values() -> None:
    def study(name: str, keepalive_ms: int) -> StudyRuns:
        held = {"keepalive_ms": keepalive_ms}
        runs = [synthetic.run_row("c", {"window": w, **held}, w, 100.0) for w in range(1, 9)]
        return synthetic.study(name, runs)

    sweeps = of_studies(study("a", 80), study("b", 1000), synthetic.tpe_study())["sweeps"]
    assert sweeps["values"].tolist() == [8, 8]
    assert sweeps["sweep"].is_unique


def test_grids_average_over_what_the_table_leaves_unsaid(found: dict[str, pd.DataFrame]) -> None:
    (grid,) = records(grids(found))
    about = [grid[name] for name in ("x", "y", "cells", "table")]
    assert about == ["additive_increase", "decrease_factor", 20, "000-aimd-grid"]
    effects = found["grid_effects"]
    assert effects[["constant", "value"]].to_numpy().tolist() == [
        ["initial_window", 2],
        ["initial_window", 10],
    ]
    least, most = effects["relative"]
    assert least == pytest.approx(-most) and most > 0
    first = records(found["grid_cells"])[0]
    assert first["published"] == 18.6
    assert first["relative"] == pytest.approx(first["ours"] / 18.6 - 1)
    assert first["agrees"] == (abs(first["relative"]) <= 0.06)


def test_grids_need_every_pair() -> None:
    rows = [synthetic.run_row("c", {"a": a, "b": a}, a, 100.0) for a in (1, 2, 3)]
    assert of_studies(synthetic.study("line", rows))["grid_cells"].empty


def test_grids_over_two_networks_are_apart() -> None:
    rows = [
        synthetic.run_row("c", {"a": a, "b": b}, a + b, delay, network=network)
        for network, delay in (("near", 100.0), ("far", 200.0))
        for a in (1, 2)
        for b in (1, 2, 3)
    ]
    study = synthetic.study("pairs", rows, networks=("near", "far"))
    found = grids(of_studies(study, units={("c", "a"): "us"}))
    columns = ["grid", "network", "best_power", "y_unit"]
    assert found[columns].to_numpy().tolist() == [
        ["pairs-near", "near", 50.0, "µs"],
        ["pairs-far", "far", 25.0, "µs"],
    ]
