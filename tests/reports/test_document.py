"""Reading the report's Markdown; a user's own words; literal special characters."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from markupsafe import Markup

from kneepoint.analysis import labels
from kneepoint.analysis.labels import DASH
from kneepoint.reports import blocks, render
from kneepoint.reports.document import document, user_text
from kneepoint.reports.templating import element, literal
from tests.reports.told import Told, figure, table

NASTY = '<b> & "quotes" #set $x$ [a] *b* _c_ `d` {e} \\ @f // ~ |'


def read(text: str) -> Told:
    return Told(document(f'<h2 id="p">P</h2>\n\n<h3 id="s">S</h3>\n\n{text}', "T"))


def test_headings_figures_and_tables_have_numbers_of_their_own() -> None:
    drawn = figure("f", caption='See <a class="label" href="#t"></a>')
    folded = f"<details><summary>More</summary>{table('u')}</details>"
    report = read(f"{drawn}{table('t')}{folded}")
    numbered = [(each.number, each.title) for each in report.document.headings]
    assert numbered == [("1", "P"), ("1.1", "S")]
    captions = [report.caption(name) for name in ("f", "t", "u")]
    assert captions == ["Figure 1. **F.** See {t}", "Table 1. **A.**", "Table S1. **A.**"]
    assert report.block("f").find(".//img").attrib == {"src": "f", "alt": "F"}  # type: ignore[union-attr]


def test_text_after_a_table_is_markdown() -> None:
    assert read(f"{table()}**A** _b_ `c`").text("s") == "**A** b `c`"


def test_what_has_nothing_to_show_is_left_out() -> None:
    empty = blocks.table("t", "A", caller=lambda _: Markup("caption"))
    missing = blocks.figure((), (), "f", "F", caller=lambda: Markup("caption"))
    folded = f"<details><summary>More</summary>\n\n{empty}\n\n</details>"
    text = f'<h2 id="p">P</h2>\n\n<h3 id="s">S</h3>\n\n{missing}\n\n{folded}'
    assert list(document(text, "T").body) == []


def test_a_column_without_a_value_is_left_out() -> None:
    report = read(table("t", {"a": 1, "b": DASH, "c": None}, {"a": 2, "b": "", "c": 3}))
    assert report.head("t") == ["a", "c"]
    assert report.rows("t") == [("1", DASH), ("2", "3")]


def test_rows_of_a_table_have_the_same_columns() -> None:
    with pytest.raises(AssertionError, match=r"t: .*in a table of"):
        table("t", {"a": "1"}, {"b": "2"})
    with pytest.raises(AssertionError, match="two columns are called Delay"):
        table("t", {"Delay (ms)": 1, blocks.Column("Delay", "ms"): 2})


def test_neighbouring_columns_share_a_head() -> None:
    made = read(
        table("t", {"Name": "x", "Ours: Delay (ms)": 1, "Ours: Power": 2, "Published: Power": 3})
    )
    upper, lower = made.block("t").findall(".//thead/tr")
    spans = [("".join(cell.itertext()), cell.get("colspan")) for cell in upper]
    assert spans == [("", "1"), ("Ours", "2"), ("Published", "1")]
    assert made.head("t") == ["Name", "Delay (ms)", "Power", "Power"]
    assert [cell.get("class") for cell in lower] == ["left", None, None, None]


@pytest.mark.parametrize(
    ("cells", "side"),
    [
        (("001 window 40", "TIMELY 20"), "left"),
        (("12.50 (12.3 to 12.6)", "failed", "1.0"), None),
        ((DASH, "yes"), "left"),
        (("2.28 (truncated)", "177", "12.8"), None),
    ],
)
def test_columns_of_text_are_aligned_left(cells: tuple[str, ...], side: str | None) -> None:
    block = read(table("t", *({"a": cell} for cell in cells))).block("t")
    assert {each.get("class") for tag in ("th", "td") for each in block.iter(tag)} == {side}


def test_cited_names_are_links_in_the_text_alone() -> None:
    text = "report 1's rows, `Report 1`, Report 1 and Report 12; Preport 1.\n\n"
    text += '<div class="references">\n<ul><li><span id="r">Report 1</span></li></ul>\n</div>\n\n'
    cell = Markup("<strong>of</strong> Report 1")
    cited = table("t", {"a": cell}, title="Report 1")
    title = "<h4>Report 1</h4>\n\n<details><summary>Report 1</summary>\n\n"
    body = document(f"{text}{cited}\n\n{title}x\n\n</details>", "T", cited={"Report 1": "r"}).body
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
    written = "".join(figure(name, tall=tall) for name in figures)
    labels = [Told(document(written, "T")).caption(name).split(". ")[0] for name in figures]
    assert labels == ["Figure 1", "Figure S1"]


@pytest.mark.parametrize(
    "place", ["{}", "**{}**", "- {}", "{}. x", "<ul><li>{}</li></ul>", "`x` {}"]
)
def test_no_sign_of_a_value_is_markup(place: str) -> None:
    for value in (NASTY, "1", "+ 2", "# x", "---", "a\n\nb"):
        paragraph = read(place.replace("{}", str(literal(value))))
        (told,) = [*paragraph.blocks("p"), *paragraph.blocks("li")]
        assert " ".join(value.split()) in " ".join("".join(told.itertext()).split())
        assert not {"em", "code", "ol", "h1", "hr", "b"} - {"code"} & {e.tag for e in told.iter()}


def test_findings_are_lines_of_text() -> None:
    listed = '<ul class="findings">\n<li><strong>Three rows</strong>\n\n <a href="#t">X</a></li>'
    found = document(f"<ul><li>none</li></ul>\n\n{listed}<li>5 &gt; 4</li></ul>", "T").findings()
    assert found == ["Three rows X", "5 > 4"]


def test_characters_that_xml_cannot_hold_are_replaced() -> None:
    assert literal("bell \x07") == "bell \ufffd"
    assert element("p", "\x0b", id="") == "<p>\ufffd</p>"


def test_user_text_keeps_its_blocks_below_our_headings() -> None:
    written = user_text("# H\n\n1. a\n   - b\n2. c\n\n> q *e*\n\n```\nx  <y>\n  z\n```\n")
    body = document(str(written), "T").body
    assert [each.tag for each in body[0]] == ["h4", "ol", "blockquote", "pre"]
    assert "".join(body[0][3].itertext()) == "x  <y>\n  z\n"


@pytest.mark.parametrize(
    "text",
    [r"<b onclick='x'>bold</b> &", "<script>x</script>", "![i](javascript:x)", "[i](data:x)"],
)
def test_html_and_programs_in_links_are_text(text: str) -> None:
    root = ElementTree.fromstring(str(user_text(text)))
    assert {each.tag for each in root.iter()} <= {"div", "p", "a"}
    assert not re.search("javascript|data:", "".join(each.get("href", "") for each in root.iter()))


def test_own_names_are_printed_in_figures_and_text() -> None:
    with labels.printed_as({"window": "cwnd", "timely": "timely-like"}):
        assert labels.axis("window", "packets") == "cwnd (packets)"
        assert labels.setting("timely", {"window": 3}) == "timely-like, cwnd 3"
        assert labels.sentence("timely") == "timely-like"
    assert labels.sentence("window") == "Window"
