"""Figures of searches."""

import numpy as np
import pandas as pd
import pytest

from tests.analysis import synthetic
from tests.reports.panels import Tables, drawn


@pytest.fixture(scope="module")
def tables() -> Tables:
    return synthetic.analysed(synthetic.results())


def test_the_best_so_far_is_in_its_panel_whatever_its_sign(tables: Tables) -> None:
    past = tables["search_trials"]
    for shift in (0.0, 2 * past["best_so_far"].max()):
        below = {name: past[name] - shift for name in ("value", "best_so_far")}
        figure = drawn({**tables, "search_trials": past.assign(**below)}, "searches-all")
        for axes in figure.axes:
            low, high = axes.get_ylim()
            best = np.asarray(axes.lines[0].get_ydata())
            assert low <= best.min() <= best.max() < high


def test_a_search_on_another_network_has_a_scale_of_its_own(tables: Tables) -> None:
    searches, trials = tables["searches"], tables["search_trials"]
    is_tuned = searches["objective"].eq("mean") & ~searches["sampler"].isin(["grid", "list"])
    name = searches[is_tuned]["search"].iloc[0]
    values = ["value", "best_so_far"]
    other, less = searches[searches["search"] == name], trials[trials["search"] == name].copy()
    less[values] /= 50
    other = other.assign(best_value=other["best_value"] / 50)
    extended = {
        **tables,
        "searches": pd.concat(
            [searches, other.assign(search="far", network_titles=[["Far"]])], ignore_index=True
        ),
        "search_trials": pd.concat([trials, less.assign(search="far")], ignore_index=True),
    }
    tops = [axes.get_ylim()[1] for axes in drawn(extended, "searches-all").axes]
    assert tops[-1] < tops[0] / 10
