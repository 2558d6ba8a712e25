"""Inline figures of a page: text stays text, ids are unique, and the look is unchanged."""

import re
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import pandas as pd
import pytest

from kneepoint.reports.figures import style
from kneepoint.reports.inline_svg import Inliner


@pytest.fixture
def svg(tmp_path: Path) -> bytes:
    with style.house():
        figure = style.page(2)
        axes = figure.add_subplot()
        axes.scatter(
            range(40), range(40), c=[0.5] * 40, cmap=mpl.colormaps["Blues"], vmin=0, vmax=1
        )
        axes.set_title("AT&T, <LTE>")
        axes.set_ylabel("Delay (ms)")
        rows = pd.DataFrame({"x": [1, 2], "y": [1, 2]})
        style.add_tooltips(axes, rows, "x", "y", "a point", ["a" * 64, "b" * 64])
        style.write(figure, tmp_path / "figure.svg")
    return (tmp_path / "figure.svg").read_bytes()


def elements(text: str, name: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(text).iter(f"{{http://www.w3.org/2000/svg}}{name}"))


def test_text_is_text_in_the_font_of_the_page(svg: bytes) -> None:
    text = Inliner().inline(svg, 'A "figure"')
    assert {"AT&T, <LTE>", "Delay (ms)"} < {each.text for each in elements(text, "text")}
    assert "STIX" not in text
    root = ElementTree.fromstring(text)
    assert root.attrib["aria-label"] == 'A "figure"' and root.attrib["role"] == "img"


@pytest.mark.parametrize("kind", ["cells", "colours"])
def test_a_figure_that_the_page_colours_in_a_way_of_its_own_has_that_class(
    kind: str, tmp_path: Path
) -> None:
    figure = style.page(2)
    figure.set_gid(kind)
    style.write(figure, tmp_path / "figure.svg")
    text = Inliner().inline((tmp_path / "figure.svg").read_bytes(), "A figure")
    assert kind in [each.attrib.get("class") for each in elements(text, "g")]


def test_a_heat_map_takes_the_pages_paper_and_ink_around_its_cells(tmp_path: Path) -> None:
    values = pd.DataFrame([[0.0, 1.0]])
    with style.house():
        figure, axes = style.panel(2)
        style.heat_map(axes, values, values.map(str), (0, 1))
        axes.set_title("Cells")
        style.write(figure, tmp_path / "figure.svg")
    text = Inliner().inline((tmp_path / "figure.svg").read_bytes(), "Cells")
    styles = dict(re.findall(r"\.([\w-]+)\{([^}]*)\}", text))
    paper = styles[elements(text, "path")[0].attrib["class"]]
    (title,) = (each for each in elements(text, "text") if each.text == "Cells")
    assert "--figure-paper" in paper and "--figure-ink" in styles[title.attrib["class"]]
    inside = [styles[e.attrib["class"]] for e in elements(text, "text") if e.text in ("0.0", "1.0")]
    assert len(inside) == 2 and not any("--figure-ink" in each for each in inside)


def test_every_point_is_still_there_and_every_reference_leads_to_one_place(svg: bytes) -> None:
    inliner = Inliner()
    first, second = inliner.inline(svg, "One"), inliner.inline(svg, "Two")
    ids = re.findall(r' id="([^"]+)"', first + second)
    assert len(ids) == len(set(ids))
    used = re.findall(r'(?:href="#|url\(#)([^")]+)', first + second)
    assert used and set(used) <= set(ids)
    targets = [each.attrib["href"] for each in elements(second, "use")]
    assert max(targets.count(target) for target in targets) == 40
    assert len(second) < 0.7 * len(svg)


def test_a_staircase_goes_where_it_went(tmp_path: Path) -> None:
    heights = [1, 3, 3, 2, 5, 5, 1]
    with style.house():
        figure = style.page(2)
        axes = figure.add_subplot()
        axes.plot(range(7), heights, drawstyle="steps-post", gid="stairs")
        style.write(figure, tmp_path / "figure.svg")
    svg = (tmp_path / "figure.svg").read_bytes()
    paths = [each.attrib["d"] for each in elements(Inliner().inline(svg, "Stairs"), "path")]
    staircase = next(path for path in paths if path.count("V") >= 4)
    x, y, corners = "", "", []
    for command, words in re.findall(r"([MLHV])([^A-Za-z]*)", staircase):
        place = words.split()
        x = place[0] if command != "V" else x
        y = place[-1] if command != "H" else y
        corners.append((float(x), float(y)))
    plain = next(
        each.attrib["d"]
        for each in elements(svg.decode(), "path")
        if each.attrib["d"].count("L") > 8
    )
    numbers = [round(float(word) + 1e-9, 1) for word in re.findall(r"[\d.]+", plain)]
    assert corners == [
        pytest.approx(pair, abs=0.06) for pair in zip(numbers[::2], numbers[1::2], strict=True)
    ]
