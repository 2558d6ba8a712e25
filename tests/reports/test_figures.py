import math
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from kneepoint.reports import draw
from kneepoint.reports.figures import style
from kneepoint.reports.inline_svg import Inliner
from tests.analysis import synthetic
from tests.reports.panels import Tables, drawn


@pytest.fixture(scope="module")
def tables() -> Tables:
    return synthetic.analysed(synthetic.results())


SWEEP = "fixed_window-window-contest"


def test_the_best_so_far_is_in_its_panel_whatever_its_sign(tables: Tables) -> None:
    past = tables["search_trials"]
    for shift in (0.0, 2 * past["best_so_far"].max()):
        below = {name: past[name] - shift for name in ("value", "best_so_far")}
        figure = drawn({**tables, "search_trials": past.assign(**below)}, "searches-all")
        for axes in figure.axes:
            low, high = axes.get_ylim()
            best = np.asarray(axes.lines[0].get_ydata())
            assert low <= best.min() <= best.max() < high


def test_a_folder_holds_the_figures_of_its_kind_and_nothing_older(
    tables: Tables, tmp_path: Path
) -> None:
    (tmp_path / "power-curve-of-a-removed-study.svg").write_text("")
    draw.draw_kind("power-curve", tables, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == [f"power-curve-{SWEEP}.svg"]


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


def test_a_scale_that_changes_has_marks_there() -> None:
    with style.house():
        for farthest, marked in ((8, 0), (60, 1)):
            _, axes = style.panel(2)
            style.difference_axis(axes, "x", farthest)
            breaks = [line for line in axes.lines if line.get_marker() is style.BREAK]
            assert len(breaks) == marked
            assert all(np.array_equal(line.get_xdata(), [-5, 5]) for line in breaks)


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
