import math
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kneepoint.analysis import labels
from kneepoint.analysis.frames import records
from kneepoint.analysis.metrics import SHOWN
from kneepoint.questions.held_out import figures as held_out_figures
from kneepoint.questions.sweeps import tables as sweeps
from kneepoint.reports import draw
from kneepoint.reports.figures import style
from kneepoint.reports.inline_svg import Inliner
from tests.analysis import synthetic

Tables = dict[str, pd.DataFrame]


@pytest.fixture(scope="module")
def tables() -> Tables:
    return synthetic.analysed(synthetic.results())


def drawn(tables: Mapping[str, pd.DataFrame], name: str) -> Figure:
    with style.house():
        return draw.find(name, tables)()


SWEEP = "fixed_window-window-contest"


def places(axes: Axes) -> set[tuple[float, float]]:
    """Where a panel has points, or corners of lines."""
    found = [line.get_xydata() for line in axes.lines]
    found += [dots.get_offsets() for dots in axes.collections]
    points = np.vstack([np.asarray(each, dtype=float).reshape(-1, 2) for each in found])
    return {(float(x), float(y)) for x, y in points[~np.isnan(points).any(axis=1)]}


def joined(axes: Axes) -> list[list[tuple[float, float]]]:
    """The lines of two points in a panel, each from left to right."""
    lines = [np.asarray(line.get_xydata(), dtype=float).tolist() for line in axes.lines]
    return sorted(sorted(map(tuple, line)) for line in lines if len(line) == 2)


def pairs(rows: pd.DataFrame, x: str, y: str) -> set[tuple[float, float]]:
    """Where a panel should have points."""
    return set(rows[[x, y]].dropna().itertuples(index=False, name=None))


def texts(figure: Figure, axes: int = 0) -> list[str]:
    return [text.get_text() for text in figure.axes[axes].texts]


def test_panels_have_every_point_of_their_rows(tables: Tables) -> None:
    settings, plane = tables["held_out_settings"], tables["held_out_power"]
    of_reports = tables["audit"].query("comparison == 'reports'")
    ratios = {m: of_reports[f"ours_{m}"] / of_reports[f"published_{m}"] for m in SHOWN}
    off = {f"off_{m}": 100 * (ratio - 1) for m, ratio in ratios.items()}
    points, printed = tables["sweep_points"], sweeps.published_points(tables)
    delay, throughput = "signal_delay_p95_ms", "throughput_mbps"
    scores = held_out_figures.gained(tables)
    tuned = settings[settings["trial"].isin(tables["held_out_gains"]["tuned_trial"])]
    assert set(100 * tuned["held_out"]) <= set(scores["tuned_held_out"])
    for name, rows, panels in (
        (f"throughput-delay-{SWEEP}", points, [(delay, throughput)]),
        (f"throughput-delay-{SWEEP}", printed, [(delay, throughput)]),
        (f"power-curve-{SWEEP}", points, [("value", "power")]),
        (
            "published-against-ours-reports",
            of_reports.assign(**off),
            [(f"published_{m}", f"off_{m}") for m in SHOWN],
        ),
        (
            "held-out-gain-all",
            scores,
            [("tuned_training", "line"), ("tuned_held_out", "line")],
        ),
        ("plane-contest", plane.query("network == 'contest'"), [(delay, throughput)]),
    ):
        figure = drawn(tables, name)
        for axes, (x, y) in zip(figure.axes, panels, strict=False):
            assert pairs(rows, x, y) <= places(axes), name
    left, right = drawn(tables, f"throughput-delay-{SWEEP}").axes[0].get_xlim()
    assert left > right  # better is up and right


def test_power_curve_marks_the_best_and_what_ties(tables: Tables) -> None:
    figure = drawn(tables, f"power-curve-{SWEEP}")
    (sweep,) = records(tables["sweeps"])
    assert f"16: {sweep['power']:.2f}" in texts(figure, axes=1)
    (band,) = figure.axes[1].patches
    ends = band.get_extents().transformed(figure.axes[1].transData.inverted()).intervaly
    assert list(ends) == pytest.approx([sweep["power"] * (1 - sweep["margin"]), sweep["power"]])


def test_the_row_that_is_contradicted_is_named(tables: Tables) -> None:
    figure = drawn(tables, "published-against-ours-reports")
    assert [texts(figure, axes) for axes in range(3)] == [[], ["a"], []]
    names = figure.legends[-1].get_texts()
    assert [text.get_text() for text in names] == ["a  001 fixed window 40"]


def test_so_many_contradicted_rows_that_letters_run_out_have_none(tables: Tables) -> None:
    rows = tables["audit"]
    many = rows.assign(wrong="power", verdict="contradicted").loc[rows.index.repeat(30)]
    figure = drawn({**tables, "audit": many}, "published-against-ours-reports")
    assert [texts(figure, axes) for axes in range(3)] == [[], [], []]
    assert len(figure.legends) == 1
    crosses = np.asarray(figure.axes[2].collections[-1].get_offsets())
    assert many["published_power"].notna().sum() == len(crosses)


def test_the_best_so_far_is_in_its_panel_whatever_its_sign(tables: Tables) -> None:
    past = tables["search_trials"]
    for shift in (0.0, 2 * past["best_so_far"].max()):
        below = {name: past[name] - shift for name in ("value", "best_so_far")}
        figure = drawn({**tables, "search_trials": past.assign(**below)}, "searches-all")
        for axes in figure.axes:
            low, high = axes.get_ylim()
            best = np.asarray(axes.lines[0].get_ydata())
            assert low <= best.min() <= best.max() < high


def test_cells_of_the_map_have_room_below_long_titles(tables: Tables) -> None:
    networks = tables["held_out_networks"]
    long = networks.assign(title=networks["title"] + " with a very long title" * 3)
    figure = drawn({**tables, "held_out_networks": long}, "held-out-map-all")
    style._lay_out(figure)
    cells_in = figure.axes[1].get_position().height * figure.get_figheight()
    assert cells_in / 4 > 0.1


def test_a_folder_holds_the_figures_of_its_kind_and_nothing_older(
    tables: Tables, tmp_path: Path
) -> None:
    (tmp_path / "power-curve-of-a-removed-study.svg").write_text("")
    draw.draw_kind("power-curve", tables, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [f"power-curve-{SWEEP}.svg"]


def test_map_prints_every_cell_and_the_mean(tables: Tables) -> None:
    figure = drawn(tables, "held-out-map-all")
    assert [len(texts(figure, axes)) for axes in range(3)] == [4, 8, 4]
    first = [texts(figure, 0)[0], *texts(figure, 1)[:2], texts(figure, 2)[0]]
    assert first == ["17", "12", "7.2", "9.3"]  # sqrt(12 * 7.2)
    colours = np.asarray(figure.axes[1].collections[0].get_array()).reshape(4, 2)
    assert colours.max(axis=0).tolist() == [1, 1]


def test_points_say_what_they_show(tmp_path: Path) -> None:
    with style.house():
        figure = style.page(2)
        axes = figure.add_subplot()
        axes.plot([1, 2], [3, 4], "o")
        places = {"x": [1, 2, math.nan, 50], "y": [3, 4, 1, 3.5]}
        rows = pd.DataFrame({**places, "name": ["a < b", "c", "no place", "outside"]})
        style.tell(axes, rows, "x", "y", "{name}: {y:g}")
        axes.set_xlim(0, 3)
        style.write(figure, tmp_path / "told.svg")
    svg = (tmp_path / "told.svg").read_bytes()
    root = ElementTree.fromstring(Inliner().inline(svg, "Told"))
    space = "{http://www.w3.org/2000/svg}"
    values = list(root.iter(f"{space}circle"))
    assert [circle.findtext(f"{space}title") for circle in values] == ["a < b: 3", "c: 4"]
    centres = [(float(circle.attrib["cx"]), float(circle.attrib["cy"])) for circle in values]
    assert centres[0][0] < centres[1][0] and centres[0][1] > centres[1][1]


def test_first_page_shows_every_compared_row_at_the_number_that_counts(tables: Tables) -> None:
    audit = tables["audit"]
    (axes,) = drawn(tables, "at-a-glance-all").axes
    known = audit["relative_power"].notna() | audit["relative_throughput_mbps"].notna()
    of_reports = audit["comparison"] == "reports"
    lines = [line for line in axes.lines if not str(line.get_label()).startswith("_")]
    assert sum(np.size(line.get_xdata()) for line in lines) == (known & of_reports).sum()
    wrong = audit[audit["verdict"] == "contradicted"].iloc[0]
    (crosses,) = (line for line in lines if str(line.get_label()).startswith("contradicted"))
    assert crosses.get_xdata() == pytest.approx([100 * wrong[f"relative_{wrong['wrong']}"]])


def test_gains_have_a_line_for_every_tuned_controller(tables: Tables) -> None:
    for axes in drawn(tables, "held-out-gain-all").axes[:1]:
        names = [label.get_text() for label in axes.get_yticklabels()]
        assert sorted(names) == sorted(map(labels.sentence, tables["held_out_gains"]["controller"]))


def test_a_scale_that_changes_has_marks_there() -> None:
    with style.house():
        for farthest, marked in ((8, 0), (60, 1)):
            _, axes = style.panel(2)
            style.difference_axis(axes, "x", farthest)
            breaks = [line for line in axes.lines if line.get_marker() is style.BREAK]
            assert len(breaks) == marked
            assert all(np.array_equal(line.get_xdata(), [-5, 5]) for line in breaks)


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
