import json
import math
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import typst

from reports import content, front, render, sections
from reports.collect import Results
from reports.content import Column, Highlight, Paragraph, Picture, Report, Section, Span, Table
from reports.figures import Drawing
from reports.provenance import Provenance
from tests.reports import synthetic

PROVENANCE = Provenance(
    commit="0" * 40,
    committed="2026-11-21",
    changed_files=2,
    command="make reproduce CONFIG=config/config.yaml",
    config="config/config.yaml",
    config_sha256="1" * 64,
    seed=2017,
    versions={"python": "3.11"},
    binary_sha256="2" * 64,
    controllers_sha256={"build/controllers/fixed_window.so": "4" * 64},
    real_programs_sha256={"build/sender": "3" * 64},
    networks=(),
    results=(),
    host={"cores": "2"},
    wall_times=(),
)
NASTY = '<b> & "quotes" #set $x$ [a] *b* _c_ `d` {e} \\ @f // ~'


def small(*blocks: content.Block) -> Report:
    return Report(
        "Title",
        "Sub",
        ("See {part}.",),
        (Highlight("1", "a", "b"),),
        (Section("part", "P", blocks),),
    )


def whole(results: Results, folder: Path, draw: Callable[[Drawing], None] = Drawing.draw) -> Report:
    context = sections.Context(results, PROVENANCE, folder, draw)
    return front.assemble(results, PROVENANCE, sections.compose(context))


@pytest.fixture(scope="module")
def drawn(tmp_path_factory: pytest.TempPathFactory) -> tuple[Report, Path]:
    folder = tmp_path_factory.mktemp("figures")
    return whole(synthetic.results(), folder), folder


class Page(HTMLParser):
    """Collects what a page refers to and what can be referred to."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.references: list[str] = []
        self.ids: list[str] = []
        self.alternatives: list[str] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag not in ("script", "link", "iframe", "object")
        for name, value in attrs:
            if name in ("src", "href", "srcset", "data"):
                self.references.append(value or "")
            if name == "alt":
                self.alternatives.append(value or "")
            if name == "id":
                self.ids.append(value or "")

    def handle_data(self, data: str) -> None:
        self.text += data


def test_spans_read_marks_and_literal_hides_them() -> None:
    assert list(content.spans("a **b** `c` {d}")) == [
        Span("text", "a "),
        Span("strong", "b"),
        Span("text", " "),
        Span("code", "c"),
        Span("text", " "),
        Span("reference", "d"),
    ]
    assert list(content.spans(content.literal(NASTY))) == [Span("text", NASTY)]
    assert list(content.spans(content.code('{"a": 1}'))) == [Span("code", '{"a": 1}')]


def test_numbers_count_figures_and_tables_apart() -> None:
    table = Table("t", "T", "", (Column("a"),), (("1",),))
    report = small(Picture("f", "F", "", Path("f")), table)
    assert report.numbers() == {"part": "Section 1", "f": "Figure 1", "t": "Table 1"}


def test_two_parts_of_one_name_are_refused() -> None:
    table = Table("t", "T", "", (Column("a"),), ())
    with pytest.raises(AssertionError, match="called t"):
        small(table, table).numbers()


def test_column_groups_join_neighbours() -> None:
    columns = (Column("a"), Column("b", group="G"), Column("c", group="G"), Column("d"))
    groups = render.column_groups(Table("t", "T", "", columns, ()))
    assert groups == [
        {"title": "", "width": 1},
        {"title": "G", "width": 2},
        {"title": "", "width": 1},
    ]
    assert render.column_groups(Table("t", "T", "", (Column("a"),), ())) == []


def test_html_is_one_file_that_refers_to_nothing_outside(drawn: tuple[Report, Path]) -> None:
    report, folder = drawn
    html = render.to_html(render.document(report, "v"), folder)
    page = Page(html)
    outside = [r for r in page.references if not r.startswith(("#", "data:image/svg+xml;base64,"))]
    assert outside == []
    assert "url(" not in html
    assert "@import" not in html
    assert {r[1:] for r in page.references if r.startswith("#")} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))


def test_html_shows_every_section_figure_and_table(drawn: tuple[Report, Path]) -> None:
    report, folder = drawn
    html = render.to_html(render.document(report, "v"), folder)
    assert set(report.numbers()) <= set(Page(html).ids)
    assert html.count("<img ") == sum(
        isinstance(block, Picture) for section in report.sections for block in section.blocks
    )


def test_html_escapes_what_comes_from_data() -> None:
    report = small(Paragraph(content.literal(NASTY)))
    html = render.to_html(render.document(report, NASTY), Path())
    assert "<b>" not in html
    assert Page(html).text.count(NASTY) == 2


def test_titles_are_shown_as_they_are_written(tmp_path: Path) -> None:
    """Wherever a user's words go, into text, heads, tables and figures."""
    results = synthetic.results()
    assert results.hold_out
    titled = replace(
        results,
        studies=tuple(replace(each, title=f"{NASTY} {each.name}") for each in results.studies),
        repeats=tuple(
            replace(
                each, title=f"{NASTY} {each.name}", published=each.published.assign(source=NASTY)
            )
            for each in results.repeats
        ),
        networks={name: f"{NASTY} {name}" for name in results.networks},
        sources={
            name: replace(source, text=f"{NASTY} {name}", remark=NASTY)
            for name, source in results.sources.items()
        },
        hold_out=replace(
            results.hold_out,
            networks=results.hold_out.networks.assign(
                title=[f"{NASTY} {name}" for name in results.hold_out.networks["network"]]
            ),
        ),
    )

    def draw(drawing: Drawing) -> None:  # only the figure that has titles in it
        (tmp_path / f"{drawing.name}.svg").write_text('<svg xmlns="http://www.w3.org/2000/svg"/>')
        if drawing.kind.name == "held-out-map":
            drawing.draw()

    report = whole(titled, tmp_path, draw)
    document = render.document(report, NASTY)
    page = Page(render.to_html(document, tmp_path))
    sought = [each for each in titled.studies if f"search-{each.name}" in report.numbers()]
    assert len(sought) > 1
    for study in sought:
        assert f"Search history: {study.title}" in page.alternatives or study.sampler == "ternary"
        assert page.text.count(study.title) > 1
    for written in (f"{NASTY} {synthetic.NETWORK}", f"{NASTY} {next(iter(titled.sources))}"):
        assert written in page.text
    assert page.text.count("<b>") == page.text.count(NASTY)
    assert render.to_pdf(document, tmp_path).startswith(b"%PDF")


def test_pdf_shows_text_as_it_is_written(tmp_path: Path) -> None:
    report = small(
        Paragraph(content.literal(NASTY)),
        Table("t", content.literal(NASTY), "", (Column(NASTY),), ((content.literal(NASTY),),)),
    )
    document = render.document(replace(report, title=NASTY, subtitle=NASTY), NASTY)
    (tmp_path / "report.json").write_text(json.dumps(document))
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


def test_pdf_is_the_same_bytes_each_time(drawn: tuple[Report, Path]) -> None:
    report, folder = drawn
    document = render.document(report, "v")
    pdf = render.to_pdf(document, folder)
    assert pdf.startswith(b"%PDF-")
    assert pdf == render.to_pdf(document, folder)
    assert b"CreationDate" not in pdf


def test_pdf_takes_any_text() -> None:
    report = small(
        Paragraph(content.literal(NASTY)),
        Table("t", content.literal(NASTY), "", (Column(NASTY),), ((content.code(NASTY),),)),
    )
    assert render.to_pdf(render.document(report, NASTY), Path()).startswith(b"%PDF-")


def test_report_has_the_sections_that_have_results(drawn: tuple[Report, Path]) -> None:
    report, _ = drawn
    assert [section.name for section in report.sections] == [
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
        "provenance",
    ]


def text_of(report: Report, name: str) -> str:
    section = next(section for section in report.sections if section.name == name)
    return " ".join(block.text for block in section.blocks if isinstance(block, Paragraph))


def test_first_page_tells_the_main_results(drawn: tuple[Report, Path]) -> None:
    report, _ = drawn
    told = " ".join(report.abstract)
    assert "The best fixed window is 16" in told
    assert re.search(r"Of 71 published rows that we replayed, \d+ agree", told)
    assert "120 trials" in told
    assert [highlight.label for highlight in report.highlights] == [
        "best window",
        "published rows agree",
        "greatest variation of power",
        "power of the best delay threshold found",
        "power by tuning, on networks not searched on",
    ]
    assert "On 2 networks that no search has seen, 1 of 2 tuned settings do worse" in told


def test_a_constant_that_a_row_does_not_state_is_not_named(tmp_path: Path) -> None:
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
    results = Results(studies=(synthetic.tpe_study(),), published=pd.DataFrame([row]))
    told = text_of(whole(results, tmp_path), "search-delay_tpe")
    assert "is 26.06 Mbit/s/s (Report 001: alpha 1, RTT threshold 90)" in told


def test_failed_runs_are_listed_with_their_reasons(drawn: tuple[Report, Path]) -> None:
    report, _ = drawn
    section = next(section for section in report.sections if section.name == "exclusions")
    assert "2 runs of" in text_of(report, "exclusions")
    (table,) = (block for block in section.blocks if isinstance(block, Table))
    assert {row[3] for row in table.rows} == {"the window is not a number"}


def test_without_failures_the_report_says_none(tmp_path: Path) -> None:
    report = whole(Results(studies=(synthetic.windows_study(),)), tmp_path)
    assert "None: all 33 runs" in text_of(report, "exclusions")


def test_a_report_of_one_study_has_its_sections_only(tmp_path: Path) -> None:
    report = whole(Results(studies=(synthetic.windows_study(),)), tmp_path)
    assert [section.name for section in report.sections] == [
        "sweep-fixed_window-window-contest",
        "exclusions",
        "provenance",
    ]
    assert "not known" in text_of(report, "sweep-fixed_window-window-contest")
    document = render.document(report, "v")
    assert render.to_html(document, tmp_path)
    assert render.to_pdf(document, tmp_path)


def test_a_report_of_nothing_still_renders(tmp_path: Path) -> None:
    report = whole(Results(), tmp_path)
    assert [section.name for section in report.sections] == ["exclusions", "provenance"]
    assert render.to_pdf(render.document(report, "v"), tmp_path)
