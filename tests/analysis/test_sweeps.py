"""Sweeps and grids that are found in studies."""

import pandas as pd
import pytest

from analysis.results import StudyRuns
from analysis.sweeps import grids, published_points
from experiments.models.study import Fit
from tests.analysis import synthetic


def stage(results: synthetic.MadeUp) -> dict[str, pd.DataFrame]:
    return synthetic.analysed(results, "audit", "sweeps")


def test_sweeps_join_the_studies_of_one_constant() -> None:
    found = stage(synthetic.results())
    (sweep,) = found["sweeps"].to_dict("records")
    assert (sweep["controller"], sweep["constant"], sweep["unit"]) == (
        *("fixed_window", "window"),
        "packets",
    )
    assert (sweep["sweep"], sweep["studies"]) == ("fixed_window-window-contest", 3)
    points, published = found["sweep_points"], published_points(found)
    assert published["table"].unique().tolist() == ["001-fixed-window", "004-fixed-window"]
    assert len(published) == 18 + 33
    assert sweep["best_value"] == 16
    assert sweep["power"] == points["power"].max()
    assert points.loc[points["best"], "value"].tolist() == [16]
    assert not (points["best"] & points["tied"]).any()
    assert points["tied"].any()


def test_sweeps_keep_apart_what_was_held_at_other_values() -> None:
    def study(name: str, keepalive_ms: int) -> StudyRuns:
        runs = [
            synthetic.run_row("c", {"window": w, "keepalive_ms": keepalive_ms}, w, 100.0)
            for w in range(1, 9)
        ]
        return synthetic.study(name, runs)

    found = stage(synthetic.MadeUp(studies=(study("a", 80), study("b", 1000))))
    assert found["sweeps"]["values"].tolist() == [8, 8]
    assert found["sweeps"]["sweep"].is_unique


def test_sweeps_leave_fits_and_searches_of_several_constants_out() -> None:
    fit = synthetic.windows_study(objective=Fit(fit=("001-fixed-window",)))
    assert stage(synthetic.MadeUp(studies=(fit, synthetic.tpe_study())))["sweeps"].empty


def test_grids_average_over_what_the_table_leaves_unsaid() -> None:
    found = stage(synthetic.results())
    (grid,) = grids(found).to_dict("records")
    assert (grid["x"], grid["y"]) == ("additive_increase", "decrease_factor")
    assert (grid["rows"], grid["columns"]) == (4, 5)
    assert grid["table"] == "000-aimd-grid"
    effects = found["grid_effects"]
    assert set(effects["constant"]) == {"initial_window"}
    assert effects["value"].unique().tolist() == [2, 10]
    mean = effects.groupby("value")["relative"].mean()
    assert effects["mean"].tolist() == mean[effects["value"]].tolist()
    first = found["grid_cells"].iloc[0]
    assert first["published"] == 18.6
    assert first["relative"] == pytest.approx(first["ours"] / 18.6 - 1)
    assert first["agrees"] == (abs(first["relative"]) <= 0.06)


def test_grids_need_every_pair() -> None:
    rows = [synthetic.run_row("c", {"a": a, "b": a}, a, 100.0) for a in (1, 2, 3)]
    assert stage(synthetic.MadeUp(studies=(synthetic.study("line", rows),)))["grid_cells"].empty


def test_grids_over_two_networks_are_apart() -> None:
    rows = [
        synthetic.run_row("c", {"a": a, "b": b}, a + b, delay, network=network)
        for network, delay in (("near", 100.0), ("far", 200.0))
        for a in (1, 2)
        for b in (1, 2, 3)
    ]
    study = synthetic.study("pairs", rows, networks=("near", "far"))
    found = grids(stage(synthetic.MadeUp(studies=(study,), units={("c", "a"): "us"})))
    assert found["grid"].tolist() == ["pairs-near", "pairs-far"]
    assert found["network"].tolist() == ["near", "far"]
    assert found["best_power"].tolist() == [50.0, 25.0]
    assert found["y_unit"].tolist() == ["µs", "µs"]
