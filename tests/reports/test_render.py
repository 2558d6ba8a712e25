import json
import math
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import typst
from markupsafe import Markup, escape

from reports import document, draw, render
from reports.document import Json
from tests.analysis import synthetic
from tests.reports.told import Told, told, told_by

END = ["exclusions", "references", "provenance"]
NASTY = '<b> & "quotes" #set $x$ [a] *b* _c_ `d` {e} \\ @f // ~'


@pytest.fixture(scope="module")
def tables() -> dict[str, pd.DataFrame]:
    return synthetic.analysed(synthetic.results())


@pytest.fixture(scope="module")
def report(tables: dict[str, pd.DataFrame]) -> Told:
    return told_by(tables)


@pytest.fixture(scope="module")
def drawn(
    report: Told, tables: dict[str, pd.DataFrame], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Json, Mapping[str, Path]]:
    folder = tmp_path_factory.mktemp("figures")
    for name, drawing in draw.available(tables).items():
        draw.save(drawing, folder / name)
    return report.document, svgs(folder)


def small(xml: str, title: str = "T") -> Json:
    head = Markup('<report title="{}" subtitle="{}"><abstract>See <ref to="part"/>.</abstract>')
    section = '<section name="part"><title>P</title>'
    whole = head.format(title, title) + Markup(f"{section}{xml}</section></report>")
    return document.document(whole, title)


def svgs(folder: Path) -> dict[str, Path]:
    return {path.stem: path for path in folder.glob("*.svg")}


def blank(content: Json, folder: Path) -> dict[str, Path]:
    """Something in the place of every figure."""
    for name in Told(content).figures():
        (folder / f"{name}.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
    return svgs(folder)


class Page(HTMLParser):
    """Collects what a page refers to and what can be referred to."""

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
        for name, value in attrs:
            if name in ("src", "href", "srcset", "data"):
                self.references.append(value or "")
            if tag == "svg" and name == "aria-label":
                self.alternatives.append(value or "")
            if name == "id":
                self.ids.append(value or "")

    def handle_data(self, data: str) -> None:
        if self.in_script:
            assert data.strip() == (render.TEMPLATES / "report.js").read_text().strip()
        else:
            self.text += data

    def handle_endtag(self, tag: str) -> None:
        self.in_script &= tag != "script"


def test_html_is_one_file_that_refers_to_nothing_outside(
    drawn: tuple[Json, Mapping[str, Path]],
) -> None:
    html = render.to_html(*drawn)
    page = Page(html)
    assert [r for r in page.references if not r.startswith(("#", "data:image/png;base64,"))] == []
    assert not re.search(r"url\((?!#)", html)
    assert "@import" not in html
    assert {r[1:] for r in page.references if r.startswith("#")} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))


def test_html_shows_every_section_figure_and_table(
    report: Told, drawn: tuple[Json, Mapping[str, Path]]
) -> None:
    html = render.to_html(*drawn)
    blocks = [block["name"] for kind in ("table", "figure") for block in report.blocks(kind)]
    assert {*report.names, *blocks} <= set(Page(html).ids)
    assert html.count("<svg ") == len(report.figures())


def test_every_figure_that_there_is_data_for_has_its_place(
    report: Told, tables: dict[str, pd.DataFrame]
) -> None:
    assert sorted(report.figures()) == sorted(draw.available(tables))


def test_html_escapes_what_comes_from_data() -> None:
    html = render.to_html(small(f"<p>{escape(NASTY)}</p>", NASTY), {})
    assert "<b>" not in html
    assert Page(html).text.count(NASTY) == 5


def test_titles_are_shown_as_they_are_written(tmp_path: Path) -> None:
    """Wherever a user's words go, into text, heads, tables and figures."""
    results = synthetic.results()
    held, (repeats,) = synthetic.hold_out(), results.repeats()
    networks = held.networks
    titled = results.but(
        studies=tuple(replace(each, title=f"{NASTY} {each.name}") for each in results.studies()),
        repeats=(replace(repeats, published=repeats.published.assign(source=NASTY)),),
        sources={
            name: replace(source, text=f"{NASTY} {name}", remark=NASTY)
            for name, source in results.sources().items()
        },
        hold_out=replace(
            held, networks=networks.assign(title=[f"{NASTY} {n}" for n in networks["network"]])
        ),
    )
    tables = synthetic.analysed(titled)
    content = told_by(tables).document
    drawn = blank(content, tmp_path)
    page = Page(render.to_html(content, drawn))
    sought = tables["searches"].to_dict("records")
    assert len(sought) > 1
    for search in sought:
        is_ternary = search["sampler"] == "ternary"
        assert f"Search history: {search['title']}" in page.alternatives or is_ternary
        assert page.text.count(search["title"]) > 1
    for written in (f"{NASTY} {synthetic.NETWORK}", f"{NASTY} 001-fixed-window"):
        assert written in page.text
    assert page.text.count("<b>") == page.text.count(NASTY)
    assert render.to_pdf(content, drawn).startswith(b"%PDF")
    draw.draw("held-out-map", tables, tmp_path / "map")  # titles stand in it


def test_characters_that_xml_cannot_hold_are_replaced() -> None:
    study = synthetic.windows_study(title="bell \x07", sampler="tpe")
    report = told(synthetic.MadeUp(studies=(study,)))
    assert report.block("search-history-windows")["alternative"] == "Search history: bell \ufffd"


def test_pdf_shows_text_as_it_is_written(tmp_path: Path) -> None:
    text = escape(NASTY)
    content = small(
        f'<p>{text}</p><table name="t"><title>{text}</title><column>{text}</column>'
        f"<row><cell>{text}</cell></row></table>",
        NASTY,
    )
    assert render.to_pdf(content, {}).startswith(b"%PDF-")
    (tmp_path / "report.json").write_text(json.dumps(content))
    source = Path(shutil.copy(render.TEMPLATES / "report.typ", tmp_path))
    for element in ("par", "table"):
        found = json.loads(typst.query(source, element, ignore_system_fonts=True))
        assert list(texts_in(found)).count(NASTY) >= 2, element


def texts_in(content: Any) -> Iterator[str]:
    """Yields every text within Typst's description of its elements."""
    if isinstance(content, dict):
        if "text" in content:
            yield content["text"]
        content = list(content.values())
    for part in content if isinstance(content, list) else ():
        yield from texts_in(part)


def test_pdf_is_the_same_bytes_each_time(drawn: tuple[Json, Mapping[str, Path]]) -> None:
    pdf = render.to_pdf(*drawn)
    assert pdf.startswith(b"%PDF-")
    assert pdf == render.to_pdf(*drawn)
    assert b"CreationDate" not in pdf


def test_report_has_the_sections_that_have_results(report: Told) -> None:
    assert report.names == [
        "audit",
        "sweep-fixed_window-window-contest",
        "search-best_window",
        "grid-aimd_grid",
        "search-delay_tpe",
        "tuning",
        "held-out",
        "repeatability",
        "one-run",
        "reports",
        "exclusions",
        "references",
        "provenance",
    ]


def test_first_page_tells_the_main_results(report: Told) -> None:
    said = report.abstract
    assert "The best fixed window is 16" in said
    assert re.search(r"Of 71 published rows that we replayed, \d+ agree", said)
    assert "120 trials" in said
    assert [highlight["label"] for highlight in report.document["highlights"]] == [
        "best window",
        "published rows agree",
        "greatest variation of power",
        "power of the best delay threshold found",
        "power by tuning, on networks that no search has seen",
    ]
    assert "On 2 networks that no search has seen, 1 of 2 tuned settings do worse" in said


def test_a_constant_that_a_row_does_not_state_is_not_named() -> None:
    row = {
        "table": "001-delay-threshold",
        "row": 0,
        "controller": "delay_threshold",
        "network": synthetic.NETWORK,
        "constant_alpha": 1.0,
        "constant_beta": math.nan,
        "constant_rtt_threshold_ms": 90.0,
        "power": 26.06,
        "replayable": False,
    }
    studies = (synthetic.tpe_study(),)
    published = synthetic.described(pd.DataFrame([row]))
    report = told(synthetic.MadeUp(studies=studies, published=published))
    said = report.text("search-delay_tpe")
    assert "is 26.06 Mbit/s/s (Report 001: alpha 1, RTT threshold 90)" in said


def test_failed_runs_are_listed_with_their_reasons(report: Told) -> None:
    assert "2 runs of" in report.text("exclusions")
    assert {row[3] for row in report.rows("failed-runs")} == {"the window is not a number"}


def test_a_report_of_one_study_has_its_sections_only(tmp_path: Path) -> None:
    report = told(synthetic.MadeUp(studies=(synthetic.windows_study(),)))
    assert report.names == ["sweep-fixed_window-window-contest", *END]
    assert "we cannot say" in report.text("sweep-fixed_window-window-contest")
    assert "None: all 33 runs" in report.text("exclusions")
    folder = blank(report.document, tmp_path)
    assert render.to_html(report.document, folder)
    assert render.to_pdf(report.document, folder)


def test_a_report_of_nothing_still_renders() -> None:
    report = told(synthetic.MadeUp())
    assert report.names == ["exclusions", "provenance"]
    assert "No study of this configuration has results." in report.abstract
    assert render.to_pdf(report.document, {})


def test_search_slices_say_what_lies_below_the_axis_only_where_it_does(report: Told) -> None:
    cut = "The worst 2 % of trials lie below the axis."
    assert report.caption("search-slices-delay_tpe").endswith(cut)
    fit = synthetic.tpe_study(fit=("004-fixed-window",), objective="misfit")
    fit_alone = synthetic.MadeUp(studies=(fit,), published=synthetic.published_rows())
    tables = synthetic.analysed(fit_alone, "audit", "sweeps", "searches")
    empty = synthetic.analysed(synthetic.MadeUp())
    there = draw.available({**empty, **tables})
    assert "search-contours-delay_tpe" not in there
    assert "search-slices-delay_tpe" in there


def test_pdf_leaves_supplements_to_the_page(tmp_path: Path) -> None:
    table = "<title>T</title><column>a</column><row><cell>{}</cell></row></table>"
    content = small(
        '<p>See <ref to="more"/> and <ref to="main"/>.</p>'
        '<table name="more" in="html">'
        + table.format("only in the page")
        + '<table name="main">'
        + table.format("in both"),
        "Supplements",
    )
    told = Told(content)
    assert (told.block("more")["number"], told.block("main")["number"]) == ("Table S1", "Table 1")
    page = Page(render.to_html(content, {}))
    assert "only in the page" in page.text and "#more" in page.references
    (tmp_path / "report.typ").write_bytes((render.TEMPLATES / "report.typ").read_bytes())
    (tmp_path / "report.json").write_text(json.dumps(content))
    tables = json.loads(typst.query(tmp_path / "report.typ", "table"))
    assert [text for table in tables for text in texts_in(table)] == ["a", "in both"]
    assert "report.html" in json.dumps(json.loads(typst.query(tmp_path / "report.typ", "raw")))
    assert render.to_pdf(content, {}).startswith(b"%PDF")
