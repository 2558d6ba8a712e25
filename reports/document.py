"""The report as plain data, from the XML of its templates, for both renderers.

    <report title="..." subtitle="..." search="...">
      <author>...</author>
      <abstract>...</abstract> or <abstract of="blocks"><p>...</p></abstract>
      <highlight value="..." label="...">detail</highlight>
      <figure name="...">...</figure>
      <section name="..."><title>...</title>
        <p>...</p> <h>...</h> <pre>...</pre>
        <list numbered="yes"><item><p>...</p></item></list> <quote><p>...</p></quote>
        <figure name="..."><title>...</title><caption>...</caption></figure>
        <table name="..." in="html" first="...">
          <title>...</title><caption>...</caption>
          <column unit="..." group="..." align="left">...</column>
          <row class="strong or muted" name="..."><cell>...</cell></row>
        </table>
      </section>
    </report>

An item with `in="html"` is supplementary: it has numbers of its own ("Table S3") and appears in the
HTML page only, where a figure with `fold="..."` is folded behind these words. Within text, `<b>` is
bold, `<i>` slanted, `<code>` has a fixed width, `<a href="...">` is a link, and `<ref to="NAME"/>`
is the label of the figure, table or section of that name: "Figure 3". `<run of="ID"/>` is a number
that links to `run-ID`, the row of the run behind it. Columns of the same group share a head. On the
page, a table shows its `first` so many rows until it is asked for all; `search` is what a field
above all tables asks for.
"""

import re
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

Json = dict[str, Any]

_SPACE = re.compile(r"[ \n]+")
_NUMBERED = ("table", "figure")
_KINDS = {"b": "strong", "i": "emphasis", "code": "code", "ref": "reference"}


def document(xml: str, made_of: str) -> Json:
    """The report, all text as spans and all references resolved.

    Args:
        xml: what the templates wrote.
        made_of: version and commit, for the running head.
    """
    report = ElementTree.fromstring(xml)  # noqa: S314, our own templates wrote it
    numbers = _numbers(report)
    return {
        "title": report.attrib["title"],
        "subtitle": report.attrib["subtitle"],
        "search": report.get("search", ""),
        "made_of": made_of,
        "authors": [_plain(_text(each, numbers)) for each in report.findall("author")],
        "abstract": [
            block for each in report.findall("abstract") for block in _abstract(each, numbers)
        ],
        "highlights": [
            {
                "value": each.attrib["value"],
                "label": each.attrib["label"],
                "detail": _plain(_text(each, numbers)),
            }
            for each in report.findall("highlight")
        ],
        "opening": [_block(item, numbers) for item in report.findall("figure")],
        "sections": [
            {
                "name": section.attrib["name"],
                "number": number,
                "title": _title(section, numbers),
                "blocks": [
                    _block(item, numbers) for item in section if item.tag not in ("title", "ref")
                ],
            }
            for number, section in enumerate(report.findall("section"), 1)
        ],
    }


def _numbers(report: Element) -> dict[str, str]:
    """The label of each name in the text."""
    counts = dict.fromkeys([(tag, kind) for tag in _NUMBERED for kind in ("", "S")], 0)
    numbers: dict[str, str] = {}
    sections = report.findall("section")
    for position, items in enumerate([report.findall("figure"), *map(list, sections)]):
        parts = [(sections[position - 1], f"Section {position}")] if position else []
        for item in items:
            if item.tag in _NUMBERED:
                kind = "S" if _is_supplement(item) else ""
                counts[item.tag, kind] += 1
                parts.append((item, f"{item.tag.capitalize()} {kind}{counts[item.tag, kind]}"))
        for item, called in parts:
            name = item.attrib["name"]
            assert name not in numbers, f"two parts of the report are called {name}"
            numbers[name] = called
    return numbers


def _is_supplement(item: Element) -> bool:
    return item.get("in") == "html"


def _abstract(item: Element, numbers: dict[str, str]) -> list[Json]:
    if item.get("of") == "blocks":
        return [_block(each, numbers) for each in item]
    return [{"kind": "paragraph", "text": _text(item, numbers)}]


def _block(item: Element, numbers: dict[str, str]) -> Json:
    if item.tag in ("p", "h"):
        kind = {"p": "paragraph", "h": "heading"}[item.tag]
        return {"kind": kind, "text": _text(item, numbers)}
    if item.tag == "pre":
        return {"kind": "listing", "text": item.text or ""}
    if item.tag in ("list", "quote", "item"):
        content = [_block(each, numbers) for each in item]
        return {"kind": item.tag, "numbered": bool(item.get("numbered")), "content": content}
    name, title = item.attrib["name"], _title(item, numbers)
    caption = item.find("caption")
    head = {
        "kind": item.tag,
        "name": name,
        "number": numbers[name],
        "supplement": _is_supplement(item),
        "title": title,
        "caption": [] if caption is None else _text(caption, numbers),
    }
    if item.tag == "figure":
        fold = item.get("fold", "")
        return head | {"alternative": _plain(title), "svg": f"{name}.svg", "fold": fold}
    columns = [
        {
            "title": _plain(_text(column, numbers)),
            "unit": column.get("unit", ""),
            "group": column.get("group", ""),
            "align": column.get("align", "right"),
        }
        for column in item.findall("column")
    ]
    lines = item.findall("row")
    rows = [[_text(cell, numbers) for cell in line] for line in lines]
    assert all(len(row) == len(columns) for row in rows), name
    return head | {
        "columns": columns,
        "first": item.get("first", ""),
        "groups": column_groups(columns),
        "rows": rows,
        "strong": [at for at, line in enumerate(lines) if line.get("class") == "strong"],
        "names": [line.get("name", "") for line in lines],
        "muted": [at for at, line in enumerate(lines) if line.get("class") == "muted"],
    }


def column_groups(columns: list[Json]) -> list[Json]:
    """The upper head of a table: title and width of each run of equal groups; [] if all empty."""
    groups: list[Json] = []
    for column in columns:
        if groups and column["group"] and groups[-1]["title"] == column["group"]:
            groups[-1]["width"] += 1
        else:
            groups.append({"title": column["group"], "width": 1})
    return groups if any(group["title"] for group in groups) else []


def _title(item: Element, numbers: dict[str, str]) -> list[Json]:
    title = item.find("title")
    assert title is not None, item.attrib
    return _text(title, numbers)


def _text(item: Element, numbers: dict[str, str]) -> list[Json]:
    """The pieces of a text; runs of whitespace collapse to one space, at the ends to none."""
    pieces = [piece for piece in _pieces(item, numbers) if piece["text"]]
    spaced = True
    for piece in pieces:
        text = _SPACE.sub(" ", piece["text"])
        piece["text"] = text.lstrip(" ") if spaced else text
        spaced = piece["text"].endswith(" ") if piece["text"] else spaced
    if pieces:
        pieces[-1]["text"] = pieces[-1]["text"].rstrip(" ")
    return [piece for piece in pieces if piece["text"]]


def _pieces(item: Element, numbers: dict[str, str]) -> Iterator[Json]:
    yield {"kind": "text", "text": item.text or ""}
    for part in item:
        text, target = "".join(part.itertext()), part.get("to")
        if target is not None:
            yield {"kind": "reference", "text": numbers[target], "target": target}
        elif part.tag == "a":
            yield {"kind": "link", "text": text, "target": part.attrib["href"]}
        elif part.tag == "run":
            yield {"kind": "run", "text": text, "target": f"run-{part.attrib['of']}"}
        else:
            yield {"kind": _KINDS[part.tag], "text": text}
        yield {"kind": "text", "text": part.tail or ""}


def _plain(pieces: list[Json]) -> str:
    return "".join(piece["text"] for piece in pieces)
