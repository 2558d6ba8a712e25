"""The report's XML, read."""

import pytest

from reports.document import column_groups, document
from tests.reports.told import Told


def read(xml: str) -> Told:
    return Told(document(f'<report title="T" subtitle="S">{xml}</report>', "v"))


TABLE = '<table name="t"><title>A</title><column>a</column><row><cell>1</cell></row></table>'


def test_marks_become_spans_and_spaces_count_once() -> None:
    xml = """<section name="s"><title>T</title><p>
      a <b>b  c</b>
      <code>{"d": 1}</code> <ref to="s"/>.
    </p></section>"""
    (paragraph,) = read(xml).blocks("paragraph")
    assert paragraph["text"] == [
        {"kind": "text", "text": "a "},
        {"kind": "strong", "text": "b c"},
        {"kind": "text", "text": " "},
        {"kind": "code", "text": '{"d": 1}'},
        {"kind": "text", "text": " "},
        {"kind": "reference", "text": "Section 1", "target": "s"},
        {"kind": "text", "text": "."},
    ]


def test_spaces_that_end_no_line_stay() -> None:
    (paragraph,) = read(
        '<section name="s"><title>T</title><p>1\N{NO-BREAK SPACE}%</p></section>'
    ).blocks("paragraph")
    assert paragraph["text"] == [{"kind": "text", "text": "1\N{NO-BREAK SPACE}%"}]


def test_numbers_count_figures_and_tables_apart() -> None:
    figure = '<figure name="f"><title>F</title><caption>See <ref to="t"/></caption></figure>'
    report = read(f'<section name="s"><title>T</title>{figure}{TABLE}</section>')
    assert [report.block(name)["number"] for name in ("f", "t")] == ["Figure 1", "Table 1"]
    assert report.block("f")["caption"][-1]["text"] == "Table 1"
    assert report.block("f")["alternative"] == "F"


def test_two_parts_of_one_name_are_refused() -> None:
    with pytest.raises(AssertionError, match="called t"):
        read(f'<section name="s"><title>T</title>{TABLE}{TABLE}</section>')


def test_a_row_has_a_cell_a_column() -> None:
    wrong = TABLE.replace("<cell>1</cell>", "<cell>1</cell><cell>2</cell>")
    with pytest.raises(AssertionError, match="t"):
        read(f'<section name="s"><title>T</title>{wrong}</section>')


def test_rows_are_set_off_by_their_class() -> None:
    rows = "".join(f'<row class="{kind}"><cell/></row>' for kind in ("", "strong", "muted"))
    table = (
        f'<table name="t"><title>A</title><column unit="ms" align="left">a</column>{rows}</table>'
    )
    found = read(f'<section name="s"><title>T</title>{table}</section>').block("t")
    assert (found["strong"], found["muted"]) == ([1], [2])
    assert found["columns"] == [{"title": "a", "unit": "ms", "group": "", "align": "left"}]
    assert found["rows"] == [[[]], [[]], [[]]]


def test_column_groups_join_neighbours() -> None:
    groups = column_groups([{"group": group} for group in ("", "G", "G", "")])
    assert groups == [
        {"title": "", "width": 1},
        {"title": "G", "width": 2},
        {"title": "", "width": 1},
    ]
    assert column_groups([{"group": ""}]) == []
