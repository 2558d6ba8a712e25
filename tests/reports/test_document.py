"""The report's Markdown, read; a user's own words; signs that mean nothing."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from kneepoint.analysis import labels
from kneepoint.reports import render
from kneepoint.reports.document import document, own_words
from kneepoint.reports.templating import element, literal
from tests.reports.told import Told

NASTY = '<b> & "quotes" #set $x$ [a] *b* _c_ `d` {e} \\ @f // ~ |'
TABLE = '<table name="t"><title>A</title><column>a</column><tr><td>1</td></tr></table>'


def read(text: str) -> Told:
    return Told(document(f'<h2 id="p">P</h2>\n\n<h3 id="s">S</h3>\n\n{text}', "T"))


def test_headings_figures_and_tables_have_numbers_of_their_own() -> None:
    figure = '<figure name="f"><title>F</title><caption>See <ref to="t"/></caption></figure>'
    other = TABLE.replace('"t"', '"u"')
    folded = f"<details><summary>More</summary>\n\n{other}\n\n</details>"
    report = read(f"{figure}\n\n{TABLE}\n\n{folded}")
    numbered = [(each.number, each.title) for each in report.document.headings]
    assert numbered == [("1", "P"), ("1.1", "S")]
    captions = [report.caption(name) for name in ("f", "t", "u")]
    assert captions == ["Figure 1. **F.** See {t}", "Table 1. **A.**", "Table S1. **A.**"]
    assert report.document.supplements == {"u"}
    assert report.block("f").find(".//img").attrib == {"src": "f", "alt": "F"}  # type: ignore[union-attr]


def test_a_row_has_a_cell_a_column() -> None:
    with pytest.raises(AssertionError, match="t: 2 cells for 1 columns"):
        read(TABLE.replace("<td>1</td>", "<td>1</td><td>2</td>"))


def test_what_has_nothing_to_show_is_left_out() -> None:
    empty = TABLE.replace("<tr><td>1</td></tr>", "")
    figure = '<figure name="f" if="drawn"><title>F</title></figure>'
    folded = f"<details><summary>More</summary>\n\n{empty}\n\n</details>"
    text = f'<h2 id="p">P</h2>\n\n<h3 id="s">S</h3>\n\n{figure}\n\n{folded}'
    assert list(document(text, "T").body) == []
    assert Told(document(text, "T", {"f"})).figures("s") == ["f"]


def test_a_column_may_need_a_value() -> None:
    heads = '<column>a</column><column if="known">b</column><column if="known">c</column>'
    cells = [("1", "\N{EN DASH}", "\N{EN DASH}"), ("2", "", "3")]
    rows = ["".join(f"<td>{cell}</td>" for cell in row) for row in cells]
    written = "".join(f"<tr>{row}</tr>" for row in rows)
    report = read(f'<table name="t"><title>T</title>{heads}{written}</table>')
    assert report.head("t") == ["a", "c"]
    assert report.rows("t") == [("1", "\N{EN DASH}"), ("2", "3")]


def test_cited_names_are_links_in_the_text_alone() -> None:
    text = "report 1's rows, `Report 1`, Report 1 and Report 12; Preport 1.\n\n"
    text += '<div class="references">\n<ul><li><span id="r">Report 1</span></li></ul>\n</div>\n\n'
    table = TABLE.replace(">A<", ">Report 1<").replace(">1<", "><strong>of</strong> Report 1<")
    title = "<h4>Report 1</h4>\n\n<details><summary>Report 1</summary>\n\n"
    body = document(f"{text}{table}\n\n{title}x\n\n</details>", "T", cited={"Report 1": "r"}).body
    links = [each for each in body.iter("a") if each.get("href") == "#r"]
    assert ["".join(each.itertext()) for each in links] == ["report 1", *["Report 1"] * 3]
    assert "Report 12; Preport 1." in "".join(body[0].itertext())
    assert "".join(body[0].itertext()).startswith("report 1's rows, Report 1, Report 1 and")


def test_a_figure_that_no_page_holds_is_a_supplement(tmp_path: Path) -> None:
    figures = {"short": 600, "tall": 800}
    for name, height in figures.items():
        (tmp_path / name).write_text(
            f'<?xml version="1.0"?>\n<svg width="9pt" height="{height}pt"/>'
        )
    tall = {name for name in figures if render.is_tall(tmp_path / name)}
    written = [f'<figure name="{name}"><title>{name}</title></figure>' for name in figures]
    found = document("\n\n".join(written), "T", figures, tall)
    assert found.supplements == {"tall"}


@pytest.mark.parametrize(
    "place", ["{}", "**{}**", "- {}", "{}. x", "<ul><li>{}</li></ul>", "`x` {}"]
)
def test_no_sign_of_a_value_is_markup(place: str) -> None:
    for value in (NASTY, "1", "+ 2", "# x", "---", "a\n\nb"):
        paragraph = read(place.replace("{}", str(literal(value))))
        (told,) = [*paragraph.blocks("p"), *paragraph.blocks("li")]
        assert " ".join(value.split()) in " ".join("".join(told.itertext()).split())
        assert not {"em", "code", "ol", "h1", "hr", "b"} - {"code"} & {e.tag for e in told.iter()}


def test_characters_that_xml_cannot_hold_are_replaced() -> None:
    assert literal("bell \x07") == "bell \ufffd"
    assert element("p", "\x0b", id="") == "<p>\ufffd</p>"


def test_own_words_keep_their_blocks_below_our_headings() -> None:
    written = own_words("# H\n\n1. a\n   - b\n2. c\n\n> q *e*\n\n```\nx  <y>\n  z\n```\n")
    body = document(str(written), "T").body
    assert [each.tag for each in body[0]] == ["h4", "ol", "blockquote", "pre"]
    assert "".join(body[0][3].itertext()) == "x  <y>\n  z\n"


@pytest.mark.parametrize(
    "text",
    [r"<b onclick='x'>bold</b> &", "<script>x</script>", "![i](javascript:x)", "[i](data:x)"],
)
def test_html_and_programs_in_links_are_text(text: str) -> None:
    root = ElementTree.fromstring(str(own_words(text)))
    assert {each.tag for each in root.iter()} <= {"div", "p", "a"}
    assert not re.search("javascript|data:", "".join(each.get("href", "") for each in root.iter()))


def test_own_names_are_printed_in_figures_and_text() -> None:
    with labels.printed_as({"window": "cwnd", "timely": "timely-like"}):
        assert labels.axis("window", "packets") == "cwnd (packets)"
        assert labels.setting("timely", {"window": 3}) == "timely-like, cwnd 3"
        assert labels.sentence("timely") == "timely-like"
    assert labels.sentence("window") == "Window"
