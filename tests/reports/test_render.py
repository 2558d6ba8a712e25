import re
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pytest

from kneepoint.reports import draw, render
from kneepoint.reports.blocks import MAX_ROWS
from kneepoint.reports.document import Document, document
from kneepoint.reports.templating import literal, templates_in
from tests.analysis import synthetic
from tests.reports.test_document import NASTY
from tests.reports.told import Told, figure, table, told, told_by

END = ["appendix", "method", "exclusions", "references", "provenance"]
BLANK = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 50"/>'


@pytest.fixture(scope="module")
def report() -> Told:
    return told(synthetic.results())


@pytest.fixture(scope="module")
def drawn(
    report: Told, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Document, Mapping[str, Path]]:
    folder = tmp_path_factory.mktemp("figures")
    for name, drawing in draw.available(synthetic.analysed(synthetic.results())).items():
        draw.save(drawing, folder / f"{name}.svg")
    return report.document, svgs(folder)


def svgs(folder: Path) -> dict[str, Path]:
    return {path.stem: path for path in folder.glob("*.svg")}


def blank(content: Document, folder: Path) -> dict[str, Path]:
    """A placeholder for every figure."""
    for name in Told(content).figures():
        (folder / f"{name}.svg").write_text(BLANK)
    return svgs(folder)


class Page(HTMLParser):
    """Collects the references of a page, and their possible targets."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.references: list[str] = []
        self.ids: list[str] = []
        self.alternatives: list[str] = []
        self.text = ""
        self.in_script = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("link", "iframe", "object", "img")
        assert tag != "script" or not attrs, "only the script that is in the page"
        self.in_script = tag == "script"
        found = {name: value or "" for name, value in attrs}
        self.references += [
            found[name] for name in ("src", "href", "srcset", "data") & found.keys()
        ]
        self.ids += [found["id"]] if "id" in found else []
        self.alternatives += [found["aria-label"]] if tag == "svg" else []

    def handle_data(self, data: str) -> None:
        if self.in_script:
            assert data.strip() == (render.TEMPLATES / "report.js").read_text().strip()
        else:
            self.text += data

    def handle_endtag(self, tag: str) -> None:
        self.in_script &= tag != "script"


def test_html_is_one_file_with_everything_that_refers_to_nothing_outside(
    report: Told, drawn: tuple[Document, Mapping[str, Path]]
) -> None:
    html = render.to_html(*drawn)
    page = Page(html)
    assert "127.0.0.1" not in html
    inside = ("#", "data:image/png;base64,")
    assert [r for r in page.references if not r.startswith(inside)] == []
    assert not re.search(r"url\((?!#)", html)
    assert "@import" not in html
    assert {r[1:] for r in page.references if r.startswith("#")} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))
    assert {*report.names, *report.tables(), *report.figures()} <= set(page.ids)
    assert sorted(report.figures()) == sorted(drawn[1])
    assert html.count("<svg ") == len(report.figures())


def test_titles_are_shown_as_they_are_written(tmp_path: Path) -> None:
    """A user's words in text, heads, tables and figures."""
    results = synthetic.results()
    (repeats,) = results.repeats
    published = repeats.config.published
    printed = tuple(each.model_copy(update={"source": NASTY}) for each in published)
    titled = results.but(
        studies=[synthetic.changed(s, title=f"{NASTY} {s.name}") for s in results.studies],
        repeats=[replace(repeats, config=repeats.config.model_copy(update={"published": printed}))],
        sources={
            name: source.model_copy(update={"source": f"{NASTY} {name}", "remark": NASTY})
            for name, source in results.sources.items()
        },
        networks={name: f"{NASTY} {name}" for name in synthetic.TITLES},
    )
    tables = synthetic.analysed(titled)
    content = told_by(tables).document
    drawn = blank(content, tmp_path)
    page = Page(render.to_html(content, drawn))
    for title in tables["searches"]["title"]:
        assert page.text.count(title) > 1
    assert any(each.endswith(f"{NASTY} delay_tpe") for each in page.alternatives)
    for written in (f"{NASTY} {synthetic.NETWORK}", f"{NASTY} 001-fixed-window"):
        assert written in page.text
    assert page.text.count("<b>") == page.text.count(NASTY)
    assert render.to_pdf(content, drawn).startswith(b"%PDF")
    draw.save(draw.find("held-out-map", tables), tmp_path / "map.svg")  # it contains titles


def test_signs_of_every_language_come_out_as_they_are(tmp_path: Path) -> None:
    text = str(literal(NASTY))
    content = document(
        f"{text}{table('t', {NASTY: NASTY}, title=NASTY)}",
        NASTY,
        subtitle=NASTY,
        authors=(NASTY,),
        made_of="v",
    )
    page = Page(render.to_html(content, {}))
    assert page.text.count(NASTY) == 8  # the title is there twice
    said = words_of(render.to_pdf(content, {}), tmp_path)
    assert said.count("".join(NASTY.split())) == 7


def words_of(pdf: bytes, folder: Path) -> str:
    """Returns the text of a PDF without spaces."""
    (folder / "report.pdf").write_bytes(pdf)
    program = shutil.which("pdftotext")
    if program is None:
        pytest.skip("NOT TESTED: no pdftotext")
    call = [program, "-layout", str(folder / "report.pdf"), "-"]
    return "".join(subprocess.run(call, check=True, capture_output=True, text=True).stdout.split())


def test_layout_of_the_pdf_converges(
    drawn: tuple[Document, Mapping[str, Path]], capsys: pytest.CaptureFixture[str]
) -> None:
    """Otherwise all headings and pages would have the last numbers."""
    render.to_pdf(*drawn)
    assert capsys.readouterr().err == ""


def test_figures_of_the_pdf_stand_within_their_part(tmp_path: Path) -> None:
    parts = [
        f'<h2 id="p{part}">Part {part}</h2>\n\nText.\n\n'
        + "".join(figure(f"{part}{n}", f"Of {part}{n}") for n in "123")
        for part in "12"
    ]
    content = document("\n\n".join([*parts, '<h2 id="p3">Part 3</h2>\n\nText.']), "T")
    said = words_of(render.to_pdf(content, blank(content, tmp_path)), tmp_path)
    first, second = said.split("Part2")
    second, _ = second.split("Part3")
    assert [re.findall(r"Of(\d+)", each) for each in (first, second)] == [
        ["11", "12", "13"],
        ["21", "22", "23"],
    ]


@pytest.mark.parametrize("height", [40, 60, 80])
def test_pages_of_the_pdf_are_full_whatever_the_height_of_figures(
    tmp_path: Path, height: int
) -> None:
    """A page without room for the next figure continues with the text after the figure."""
    text = f"Text. {'More of it. ' * 70}"
    sections = [f'<h3 id="s{n}">S</h3>\n\n{text}\n\n{figure(str(n), f"Of {n}")}' for n in range(9)]
    content = document("\n\n".join(['<h2 id="p">Part</h2>', *sections]), "T")
    figures = blank(content, tmp_path)
    for path in figures.values():
        ink = f'<rect width="100" height="{height}"/>'
        path.write_text(BLANK.replace("100 50", f"100 {height}").replace("/>", f">{ink}</svg>"))
    full = fullness(render.to_pdf(content, figures), tmp_path)
    assert len(full) > 4 and min(full[:-1]) > 0.6


def fullness(pdf: bytes, folder: Path) -> list[float]:
    """Returns for each page the share of its height outside gaps of more than a twentieth."""
    program = shutil.which("pdftoppm")
    if program is None:
        pytest.skip("NOT TESTED: no pdftoppm")
    (folder / "report.pdf").write_bytes(pdf)
    call = [program, "-r", "50", "-gray", "-png", str(folder / "report.pdf"), str(folder / "page")]
    subprocess.run(call, check=True)
    found = []
    for path in sorted(folder.glob("page-*.png")):
        pixels: Any = plt.imread(path)
        top, bottom = (int(share * len(pixels)) for share in (0.081, 0.929))  # the margins
        rows = (pixels[top:bottom] < 0.8).any(axis=1)
        gaps = np.diff([-1, *np.flatnonzero(rows), len(rows)]) - 1
        found.append(1 - gaps[gaps > 0.05 * len(rows)].sum() / len(rows))
    return found


def test_pdf_is_the_same_bytes_each_time(drawn: tuple[Document, Mapping[str, Path]]) -> None:
    pdf = render.to_pdf(*drawn)
    assert pdf.startswith(b"%PDF-")
    assert pdf == render.to_pdf(*drawn)
    assert b"CreationDate" not in pdf


def test_report_has_the_parts_that_have_results(report: Told) -> None:
    names = """glance published audit found one-parameter two-parameters search-results
    elsewhere held-out behaviour one-run trust repeatability"""
    assert report.names == [*names.split(), *END]


@pytest.mark.parametrize("studies", [0, 1])
def test_a_report_of_one_study_or_none_has_its_sections_only(studies: int, tmp_path: Path) -> None:
    report = told(synthetic.MadeUp(studies=[synthetic.windows_study()][:studies]))
    assert report.names == ["glance", *["found", "one-parameter"][: 2 * studies], *END]
    folder = blank(report.document, tmp_path)
    assert render.to_html(report.document, folder)
    assert render.to_pdf(report.document, folder)


def test_of_a_long_table_paper_has_the_first_rows(tmp_path: Path) -> None:
    rows = [{"a": f"r{n}."} for n in range(MAX_ROWS + 1)]
    content = document(table("t", *rows) + table("u", *rows[1:]), "Rows")
    html = render.to_html(content, {})
    assert html.count(f'data-first="{MAX_ROWS}"') == 1 and f"r{MAX_ROWS}." in html
    said = words_of(render.to_pdf(content, {}), tmp_path)
    assert f"first{MAX_ROWS}of{MAX_ROWS + 1}rows" in said and said.count("rows;") == 1
    assert said.count(f"r{MAX_ROWS}.") == said.count("r0.") == 1


def test_pdf_leaves_supplements_to_the_page(tmp_path: Path) -> None:
    more = table("more", {"a": "only in the page"}, on_paper=False)
    template = templates_in(Path()).from_string('See {{ ref("more") }} and {{ ref("t") }}.')
    text = f"{template.render()}{more}{table('t')}"
    content = document(text, "Supplements")
    page = Page(render.to_html(content, {}))
    assert "only in the page" in page.text and "#more" in page.references
    said = words_of(render.to_pdf(content, {}), tmp_path)
    assert "SeeTableS1andTable1." in said and "onlyinthepage" not in said
