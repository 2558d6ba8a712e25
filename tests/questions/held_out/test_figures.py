"""Figures of held-out networks: a point for every row, and no text cut off."""

import math

import numpy as np
import pytest

from kneepoint.analysis import labels
from kneepoint.questions.held_out.figures import gained
from kneepoint.reports.figures import style
from tests.analysis import synthetic
from tests.reports.panels import Tables, drawn, require_points, texts


@pytest.fixture(scope="module")
def tables() -> Tables:
    return synthetic.analysed(synthetic.results())


def test_panels_have_every_point_of_their_rows(tables: Tables) -> None:
    settings, plane = tables["held_out_settings"], tables["held_out_power"]
    scores = gained(tables)
    tuned = settings[settings["trial"].isin(tables["held_out_gains"]["tuned_trial"])]
    assert set(100 * tuned["held_out"]) <= set(scores["tuned_held_out"])
    lines = [("tuned_training", "line"), ("tuned_held_out", "line")]
    require_points(drawn(tables, "held-out-gain-all"), scores, lines)
    there = plane.query("network == 'contest'")
    metrics = ("signal_delay_p95_ms", "throughput_mbps")
    require_points(drawn(tables, "plane-contest"), there, [metrics])


def test_cells_of_the_map_have_room_below_long_titles(tables: Tables) -> None:
    networks = tables["held_out_networks"]
    long = networks.assign(title=networks["title"] + " with a very long title" * 3)
    figure = drawn({**tables, "held_out_networks": long}, "held-out-map-all")
    style._lay_out(figure)
    cells_in = figure.axes[1].get_position().height * figure.get_figheight()
    assert cells_in / 4 > 0.1


def test_map_prints_every_cell_and_the_mean(tables: Tables) -> None:
    figure = drawn(tables, "held-out-map-all")
    assert [len(texts(figure, axes)) for axes in range(3)] == [4, 8, 4]
    first = [texts(figure, 0)[0], *texts(figure, 1)[:2], texts(figure, 2)[0]]
    assert first == ["17", "12", "7.2", "9.3"]  # sqrt(12 * 7.2)
    colours = np.asarray(figure.axes[1].collections[0].get_array()).reshape(4, 2)
    assert colours.max(axis=0).tolist() == [1, 1]


def test_gains_have_a_line_for_every_tuned_controller(tables: Tables) -> None:
    for axes in drawn(tables, "held-out-gain-all").axes[:1]:
        names = [label.get_text() for label in axes.get_yticklabels()]
        assert sorted(names) == sorted(map(labels.sentence, tables["held_out_gains"]["controller"]))


def test_plane_rings_the_knee_and_spares_single_runs_an_ellipse(tables: Tables) -> None:
    planes = tables["held_out_power"]
    at = planes["network"] == "contest"
    axes = drawn(tables, "plane-contest").axes[0]
    rings = [line for line in axes.lines if line.get_markersize() == 10]
    assert len(rings) == (at & planes["knee"]).sum()
    assert len(axes.patches) == (at & (planes["succeeded"] > 1)).sum()
    lone = {**tables, "held_out_power": planes.assign(covariance=math.nan)}
    assert not drawn(lone, "plane-contest").axes[0].patches


def test_controllers_are_named_in_the_plane_beside_their_points(tables: Tables) -> None:
    axes = drawn(tables, "plane-contest").axes[0]
    there = tables["held_out_power"].query("network == 'contest'").dropna(subset="on_front")
    named = tables["held_out_settings"].merge(there, on="trial")["controller"].map(labels.sentence)
    written = [text for text in axes.texts if text.get_text() != "omniscient"]
    assert sorted(text.get_text() for text in written) == sorted(set(named))
    assert axes.get_legend() is None and not axes.figure.legends
