"""The sweeps and grids among studies."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from kneepoint.analysis.frames import records, select
from kneepoint.analysis.results import StudyRuns
from kneepoint.config.study import Bounded, Formula
from kneepoint.questions.sweeps.tables import grids, published_points
from tests.analysis import synthetic


def stage(results: synthetic.MadeUp) -> dict[str, pd.DataFrame]:
    return synthetic.analysed(results, "sweeps")


def of_studies(*studies: StudyRuns, **more: Any) -> dict[str, pd.DataFrame]:
    return stage(synthetic.MadeUp(studies=studies, **more))


@pytest.fixture(scope="module")
def found() -> dict[str, pd.DataFrame]:
    return stage(synthetic.results())


def test_sweeps_join_the_studies_of_one_parameter(found: dict[str, pd.DataFrame]) -> None:
    (sweep,) = records(found["sweeps"])
    about = [sweep[name] for name in ("controller", "parameter", "unit", "sweep", "studies")]
    assert about == ["fixed_window", "window", "packets", "fixed_window-window-contest", 3]
    points = found["sweep_points"]
    assert published_points(found).empty, "without an audit"
    assert points.loc[points["best"], "value"].tolist() == [sweep["best_value"]] == [16]
    assert points["tied"].any() and not (points["best"] & points["tied"]).any()


def test_a_search_by_another_goal_than_power_is_no_sweep() -> None:
    goal = Formula(expression="throughput_mbps")
    found = of_studies(synthetic.chosen(synthetic.ternary_study(objective=goal)))
    assert "sweeps" not in found or found["sweeps"].empty


def test_a_grid_by_another_goal_than_power_is_no_sweep() -> None:
    goal = Bounded(throughput="mean", delay_ms=200)
    found = of_studies(synthetic.windows_study(objective=goal))
    assert found["sweeps"].empty


def listed(windows: Sequence[int], power: float = 1.0) -> StudyRuns:
    """A replay of a table's windows, without fresh seeds, with power times a factor."""
    study = synthetic.windows_study("listed", windows, table="004-fixed-window")
    runs = study.runs.assign(power=study.runs["power"] * power)
    trials = study.trials.assign(value=runs["power"], power=runs["power"])
    return synthetic.chosen(replace(study, runs=runs, trials=trials))


@pytest.mark.parametrize(
    ("power", "best", "is_fresh"), [(0.99, 16, True), (0.995, 16, True), (1.5, 15, False)]
)
def test_a_listed_value_is_the_best_only_beyond_chance(
    power: float, best: int, is_fresh: bool
) -> None:
    studies = (synthetic.ternary_study(), listed([15, 60], power))
    (sweep,) = records(of_studies(*studies, repeats=(synthetic.repeats(),))["sweeps"])
    assert (sweep["best_value"], sweep["fresh"]) == (best, is_fresh)


def test_a_sweep_of_lists_says_that_its_best_is_not_fresh() -> None:
    (sweep,) = records(of_studies(listed(range(3, 30, 3)))["sweeps"])
    assert (sweep["best_value"], sweep["fresh"]) == (15, False)


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
    assert effects[["parameter", "value"]].to_numpy().tolist() == [
        ["initial_window", 2],
        ["initial_window", 10],
    ]
    least, most = effects["relative"]
    assert least == pytest.approx(-most) and most > 0
    first = records(found["grid_cells"])[0]
    assert first["published"] == 18.6
    assert first["relative"] == pytest.approx(first["ours"] / 18.6 - 1)
    assert first["agrees"] == (abs(first["relative"]) <= 0.06)


def test_a_grid_of_two_states_its_best_with_fresh_seeds() -> None:
    rows = [
        synthetic.run_row("c", {"a": a, "b": b}, a + b / 100, 100.0) for a in (1, 2) for b in (1, 2)
    ]
    found = of_studies(synthetic.study("pairs", rows))
    (grid,) = records(grids(found))
    assert (grid["best_y"], grid["best_x"]) == (2, 2)
    assert grid["best_power"] == pytest.approx(0.99 * 20.2)
    (cell,) = records(select(found["grid_cells"], best=True))
    assert cell["ours"] == grid["best_power"]


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
