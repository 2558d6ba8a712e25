"""A report's own words: Markdown in both renderings, and signs that mean nothing there."""

import re
from xml.etree import ElementTree

import pytest

from analysis import labels
from reports import document, render
from reports.document import Json
from reports.own_text import to_xml
from tests.reports.test_render import NASTY


def blocks_of(markdown: str) -> list[Json]:
    section = f'<section name="s"><title>T</title>{to_xml(markdown)}</section>'
    xml = f'<report title="T" subtitle="S">{section}</report>'
    blocks: list[Json] = document.document(xml, "v")["sections"][0]["blocks"]
    return blocks


def test_marks_become_spans() -> None:
    (paragraph,) = blocks_of("a *b* **c**\n`d` [e *f*](http://g/?h&i)")
    assert [(each["kind"], each["text"]) for each in paragraph["text"]] == [
        *(("text", "a "), ("emphasis", "b"), ("text", " "), ("strong", "c"), ("text", " ")),
        *(("code", "d"), ("text", " "), ("link", "e "), ("link", "f")),
    ]
    assert paragraph["text"][-1]["target"] == "http://g/?h&i"


def test_blocks_keep_their_order_and_nesting() -> None:
    found = blocks_of("## H\n\n1. a\n   - b\n2. c\n\n> q\n\n```\nx  <y>\n  z\n```\n")
    assert [each["kind"] for each in found] == ["heading", "list", "quote", "listing"]
    first, second = found[1]["content"]
    assert found[1]["numbered"] and not first["content"][1]["numbered"]
    assert second["content"][0]["text"][0]["text"] == "c"
    assert found[3]["text"] == "x  <y>\n  z"


@pytest.mark.parametrize(
    "text",
    [r"<b onclick='x'>bold</b> &", "<script>x</script>", "![i](javascript:x)", "[i](data:x)"],
)
def test_html_and_programs_in_links_are_text(text: str) -> None:
    root = ElementTree.fromstring(f"<r>{to_xml(text)}</r>")
    assert {each.tag for each in root.iter()} == {"r", "p"}


def test_signs_of_html_and_typst_come_out_as_they_are() -> None:
    """NASTY has signs of Markdown, too, and so stands as code."""
    code = NASTY.replace("`", "'")
    content: Json = {
        **document.document('<report title="T" subtitle="S"/>', "v"),
        **{"title": code, "subtitle": code, "authors": [code]},
    }
    content["abstract"] = blocks_of(f"`{code}`\n\n```\n{code}\n```")
    page = re.sub(
        "<style>.*?</style>|<script>.*?</script>", "", render.to_html(content, {}), flags=re.S
    )
    assert "<b>" not in page and page.count("&lt;b&gt;") == 6  # title twice
    assert render.to_pdf(content, {}).startswith(b"%PDF")


def test_control_characters_do_not_end_the_report() -> None:
    assert blocks_of("a\x0bb")[0]["text"][0]["text"] == "a\ufffdb"


def test_own_names_are_printed_in_figures_and_text() -> None:
    with labels.printed_as({"window": "cwnd", "timely": "timely-like"}):
        assert labels.axis("window", "packets") == "cwnd (packets)"
        assert labels.setting("timely", {"window": 3}) == "timely-like, cwnd 3"
        assert labels.sentence("timely") == "timely-like"
    assert labels.sentence("window") == "Window"
