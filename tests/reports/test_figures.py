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
from tests.reports.panels import Tables


@pytest.fixture(scope="module")
def tables() -> Tables:
    return synthetic.analysed(synthetic.results())


SWEEP = "fixed_window-window-contest"


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
        style.add_tooltips(axes, rows, "x", "y", "{name}: {y:g}")
        axes.set_xlim(0, 3)
        style.write(figure, tmp_path / "told.svg")
    svg = (tmp_path / "told.svg").read_bytes()
    root = ElementTree.fromstring(Inliner().inline(svg, "Told"))
    space = "{http://www.w3.org/2000/svg}"
    values = list(root.iter(f"{space}circle"))
    assert [circle.findtext(f"{space}title") for circle in values] == ["a < b: 3", "c: 4"]
    centres = [(float(circle.attrib["cx"]), float(circle.attrib["cy"])) for circle in values]
    assert centres[0][0] < centres[1][0] and centres[0][1] > centres[1][1]


def test_a_scale_that_changes_has_marks_there() -> None:
    with style.house():
        for farthest, marked in ((8, 0), (60, 1)):
            _, axes = style.panel(2)
            style.difference_axis(axes, "x", farthest)
            breaks = [line for line in axes.lines if line.get_marker() is style.BREAK]
            assert len(breaks) == marked
            assert all(np.array_equal(line.get_xdata(), [-5, 5]) for line in breaks)
