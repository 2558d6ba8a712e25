"""Figures within a page: text is text, shared definitions stand once, nothing looks different."""

import re
from pathlib import Path
from xml.etree import ElementTree

import matplotlib as mpl
import pytest

from reports.figures import style
from reports.inline_svg import Inliner


@pytest.fixture
def svg(tmp_path: "pytest.TempPathFactory") -> bytes:
    with style.house():
        figure = style.page(2)
        axes = figure.add_subplot()
        axes.scatter(
            range(40), range(40), c=[0.5] * 40, cmap=mpl.colormaps["Blues"], vmin=0, vmax=1
        )
        axes.set_title("AT&T, <LTE>")
        axes.set_ylabel("Delay (ms)")
        style.save(figure, tmp_path / "figure")  # type: ignore[operator]
    return (tmp_path / "figure.svg").read_bytes()  # type: ignore[operator, no-any-return]


def test_letters_are_text_of_their_size_and_place(svg: bytes) -> None:
    text = Inliner().inline(svg, "A figure")
    root = ElementTree.fromstring(text)
    found = {each.text: each for each in root.iter("text")}
    assert {"AT&T, <LTE>", "Delay (ms)"} < set(found)
    assert "rotate(-90)" in found["Delay (ms)"].attrib["transform"]
    assert "font-size:9.5px" in found["AT&T, <LTE>"].attrib["style"]
    assert 40 < float(found["AT&T, <LTE>"].attrib["textLength"]) < 70
    assert root.attrib["aria-label"] == "A figure" and root.attrib["role"] == "img"


def test_every_point_is_still_there_and_every_reference_leads_somewhere(svg: bytes) -> None:
    root = ElementTree.fromstring(Inliner().inline(svg, "A figure"))
    ids = {each.attrib["id"] for each in root.iter() if "id" in each.attrib}
    hrefs = [each.attrib["href"][1:] for each in root.iter("use")]
    assert set(hrefs) <= ids
    points = max(hrefs.count(target) for target in set(hrefs))
    assert points == 40
    clipped = re.findall(r"url\(#([^)]+)\)", ElementTree.tostring(root, encoding="unicode"))
    assert clipped and set(clipped) <= ids


def test_what_two_figures_share_is_defined_once(svg: bytes) -> None:
    inliner = Inliner()
    first, second = inliner.inline(svg, "One"), inliner.inline(svg, "Two")
    ids = re.findall(r' id="([^"]+)"', first + second)
    assert len(ids) == len(set(ids))
    assert len(second) < len(first) < 0.6 * len(svg)


def test_dots_are_as_wide_as_their_circles(tmp_path: Path) -> None:
    with style.house():
        figure = style.page(2)
        figure.add_subplot().scatter([1, 2, 3], [3, 1, 2], s=16, c="#17527f", linewidths=0)
        style.save(figure, tmp_path / "dots")
    svg = (tmp_path / "dots.svg").read_bytes()
    inliner = Inliner()
    for text in (inliner.inline(svg, "One"), inliner.inline(svg, "Two")):  # two: defined in one
        (dots,) = re.findall(r'<path d="((?:M[\d.]+ [\d.]+h0)+)" style="([^"]+)"', text)
        assert dots[0].count("h0") == 3
        assert "stroke:#17527f;stroke-width:4;stroke-linecap:round" in dots[1]


def test_lines_along_an_axis_have_one_coordinate(tmp_path: Path) -> None:
    with style.house():
        figure = style.page(2)
        figure.add_subplot().plot([0, 1, 2, 3], [5, 1, 4, 2], drawstyle="steps-post", color="red")
        style.save(figure, tmp_path / "steps")
    text = Inliner().inline((tmp_path / "steps.svg").read_bytes(), "Steps")
    (steps,) = re.findall(r'd="([^"]+)" clip-path="[^"]+" style="[^"]*stroke:#ff0000', text)
    assert re.fullmatch(r"M[\d.]+ [\d.]+(H[\d.]+V[\d.]+){3}", steps)
