"""A report as one HTML tree, from the Markdown of its templates.

Markdown has paragraphs, **bold** and `code`; everything else is HTML: `<h2 id="...">` opens a part,
`<h3 id="...">` a section, `<h4>` a heading without a number; `<details>` is folded on the page and
absent on paper. Four elements are our own:

    <figure name="..." only="html" if="drawn"><title>...</title><caption>...</caption></figure>
    <table name="..." only="html" first="...">
      <title>...</title><caption>...</caption>
      <column unit="..." group="..." class="left" if="known">...</column>
      <tr class="strong or muted" id="..."><td>...</td></tr>
    </table>
    <ref to="NAME"/>   the label of a part, section, figure or table: "Figure 3"
    <run of="ID">...</run>   a number that links to the row `run-ID` of its run

An element in `<details>` or with `only="html"` is a supplement: only the page has it, with separate
numbers ("Table S3"). Columns of one group share a head. A table of more than MOST_ROWS rows is cut
to the first on paper; the page shows its `first` rows, MOST_ROWS by default, until all are asked
for. The following are left out: a table without rows, a figure with if="drawn" that was not drawn,
a column with if="known" without values, and a heading or summary without content. A figure taller
than a page of paper is a supplement, too.
"""

import re
from collections import Counter
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

from markdown_it import MarkdownIt
from markupsafe import Markup

from kneepoint.analysis.labels import DASH

RUN_DIGITS = 12
"""Number of digits of a run's identifier that the report prints and links by."""

MOST_ROWS = 60
"""Rows of a table that are shown unless all are asked for."""

_OWN_WORDS = MarkdownIt("commonmark", {"html": False}).disable("image")
_TEMPLATES = MarkdownIt("commonmark", {"html": True, "xhtmlOut": True}).disable(
    ["list", "code", "lheading", "hr", "heading"]  # a number may begin a line
)
_BLOCK = re.compile(r"<(table|figure|ul|div)\b.*?</\1>", re.DOTALL)
_BLANK_LINES = re.compile(r"\n\s*\n")
_UNLINKED = ("a", "h2", "h3", "h4", "code", "pre", "summary", "th")
_LEVELS = {"h2": "Part", "h3": "Section"}
_KINDS = {"figure": "Figure", "table": "Table"}


@dataclass(frozen=True)
class Heading:
    """A part or a section in the contents."""

    level: int
    name: str
    number: str
    title: str


@dataclass(frozen=True)
class Document:
    """A report: its title block, and its body as HTML with images named by their figures.

    `made_of` names commits and seed; `search` is the prompt of a search field above all tables, ""
    for none; `supplements` names the elements that only the page has.
    """

    title: str
    body: Element
    subtitle: str = ""
    authors: tuple[str, ...] = ()
    made_of: str = ""
    search: str = ""
    headings: list[Heading] = field(default_factory=list)
    supplements: frozenset[str] = frozenset()


def own_words(markdown: str) -> Markup:
    """Returns HTML of a user's text in CommonMark; images and HTML in it remain text."""
    text = _OWN_WORDS.render(markdown)
    for level in (3, 2, 1):  # below the headings of a part and of a section
        text = text.replace(f"<h{level}>", "<h4>").replace(f"</h{level}>", "</h4>")
    return Markup(_BLANK_LINES.sub("\n", f"<div>{text}</div>"))  # noqa: S704


def document(
    text: str,
    title: str,
    drawn: Container[str] = (),
    tall: Container[str] = (),
    cited: Mapping[str, str] | None = None,
    **about: Any,
) -> Document:
    """Makes a document from the output of templates: numbers, resolved references, HTML tables.

    Args:
        text: Markdown as described above.
        title: of the report.
        drawn: names of the available figures.
        tall: names of figures that are taller than a page of paper.
        cited: targets of links from names in the text, by name.
        about: the rest of the title block: subtitle, authors, made_of, search.
    """
    whole = _BLOCK.sub(lambda block: _BLANK_LINES.sub("\n", block[0]), text)
    body = ElementTree.fromstring(f"<div>{_TEMPLATES.render(whole)}</div>")  # noqa: S314, ours
    for parent in list(body.iter()):
        for item in [*parent.findall("table"), *parent.findall("figure[@if]")]:
            if item.find("tr") is None and item.get("name") not in drawn:
                parent.remove(item)
    following = "h2"
    for block in reversed(list(body)):
        is_empty = block.tag == "details" and len(block) == 1  # the summary
        if is_empty or (block.tag in _LEVELS and following in ("h2", block.tag)):
            body.remove(block)
        else:
            following = block.tag
    for figure in body.iter("figure"):
        if figure.get("name") in tall:
            figure.set("only", "html")
    labels, headings, supplements = _numbered(body)
    for reference in list(body.iter("ref")):
        name = reference.attrib.pop("to")
        reference.tag, reference.text = "a", labels[name].replace(" ", "\N{NO-BREAK SPACE}")
        reference.set("href", f"#{name}")
    for run in list(body.iter("run")):
        run.tag = "a"
        run.attrib = {"class": "run", "href": f"#run-{run.attrib['of']}"}
    for item in [each for each in body.iter() if each.tag in _KINDS and each.get("name")]:
        (_write_table if item.tag == "table" else _write_figure)(item, labels)
    if cited:
        by_capital = {name[:1].upper() + name[1:]: target for name, target in cited.items()}
        longest_first = sorted(cited, key=len, reverse=True)
        named = "|".join(
            f"(?i:{re.escape(name[:1])}){re.escape(name[1:])}" for name in longest_first
        )
        _link(body, re.compile(rf"(?<![\w-])(?:{named})(?![\w-])"), by_capital)
    return Document(title, body, headings=headings, supplements=supplements, **about)


def _numbered(body: Element) -> tuple[dict[str, str], list[Heading], frozenset[str]]:
    """Numbers headings, figures and tables; returns labels by name, headings, and supplements."""
    counts: Counter[str] = Counter()
    labels: dict[str, str] = {}
    headings, supplements = [], set()
    for item, is_folded in _walk(body):
        name = item.get("id") if item.tag in _LEVELS else item.get("name")
        if not name or item.tag not in (*_LEVELS, *_KINDS):
            continue
        assert name not in labels, f"two parts of the report are called {name}"
        if item.tag in _LEVELS:
            counts[item.tag] += 1
            counts["h3"] *= item.tag == "h3"
            number = f"{counts['h2']}.{counts['h3']}" if item.tag == "h3" else f"{counts['h2']}"
            labels[name] = f"{_LEVELS[item.tag]} {number}"
            headings.append(Heading(int(item.tag[1]), name, number, "".join(item.itertext())))
            mark = Element("span", {"class": "number"})
            mark.text, mark.tail, item.text = number, item.text, None
            item.insert(0, mark)
            continue
        is_supplement = is_folded or item.get("only") == "html"
        kind = f"{_KINDS[item.tag]} {'S' if is_supplement else ''}"
        counts[kind] += 1
        labels[name] = f"{kind}{counts[kind]}"
        supplements |= {name} if is_supplement else set()
    return labels, headings, frozenset(supplements)


def _walk(item: Element, is_folded: bool = False) -> Iterator[tuple[Element, bool]]:
    """Yields every element in the order of the text, and whether it is within `<details>`."""
    yield item, is_folded
    for child in item:
        yield from _walk(child, is_folded or child.tag == "details")


def _link(item: Element, named: "re.Pattern[str]", cited: Mapping[str, str]) -> None:
    """Turns names in the text into links, except in headings, code, links and the references."""
    if item.tag in _UNLINKED or item.get("class") == "references":
        return
    for at, before in reversed(list(enumerate([None, *item]))):
        if before is not None:
            _link(before, named, cited)
        text = (item.text if before is None else before.tail) or ""
        rest, links = text, list[Element]()
        for match in reversed(list(named.finditer(text))):
            link = Element("a", {"href": f"#{cited[match[0][:1].upper() + match[0][1:]]}"})
            link.text, link.tail = match[0], rest[match.end() :]
            rest, links = text[: match.start()], [link, *links]
        if before is None:
            item.text = rest
        else:
            before.tail = rest
        item[at:at] = links


def _write_figure(item: Element, labels: dict[str, str]) -> None:
    caption = _caption(item, labels)
    name = item.attrib["name"]
    _empty(item, {"id": name})
    shown = " ".join("".join(caption[1].itertext()).split()).rstrip(".")
    SubElement(_frame(item, labels[name]), "img", {"src": name, "alt": shown})
    item.append(caption)


def _frame(figure: Element, label: str) -> Element:
    """Adds a region that scrolls sideways, also by keys, if its content is wider than the page."""
    region = {"tabindex": "0", "role": "region", "aria-label": label}
    return SubElement(figure, "div", {"class": "scroll", **region})


def _write_table(item: Element, labels: dict[str, str]) -> None:
    """Turns a table into a figure with a caption above and a table in a scrolling frame."""
    caption, columns, rows = _caption(item, labels), *_columns_and_rows(item)
    name, first = item.attrib["name"], item.get("first", str(MOST_ROWS))
    lefts = [at for at, column in enumerate(columns) if column.get("class") == "left"]
    attributes = {"class": "table", "id": name}
    if len(rows) > int(first):
        attributes["data-first"] = first
    _empty(item, attributes)
    item.tag = "figure"
    item.append(caption)
    table = SubElement(_frame(item, labels[name]), "table")
    _write_head(SubElement(table, "thead"), columns)
    body = SubElement(table, "tbody")
    for row in rows:
        for at in lefts:
            row[at].set("class", "left")
        body.append(row)


def _columns_and_rows(item: Element) -> tuple[list[Element], list[Element]]:
    """Returns a table's columns and rows, without empty columns that may be left out."""
    columns, rows = item.findall("column"), item.findall("tr")
    for row in rows:
        cells = f"{len(row)} cells for {len(columns)} columns"
        assert len(row) == len(columns), f"{item.get('name')}: {cells}"
    for at, column in reversed(list(enumerate(columns))):
        texts = {"".join(row[at].itertext()).strip() for row in rows}
        if column.attrib.pop("if", "") and texts <= {"", DASH}:
            del columns[at]
            for row in rows:
                del row[at]
    return columns, rows


def _write_head(head: Element, columns: list[Element]) -> None:
    if any(column.get("group") for column in columns):
        upper = SubElement(head, "tr", {"class": "groups"})
        for title, alike in groupby(columns, lambda column: column.get("group", "")):
            width = {"colspan": str(len(list(alike)))}
            cell = SubElement(upper, "th" if title else "td", width)
            if title:
                cell.set("scope", "colgroup")
                SubElement(cell, "span").text = title
    lower = SubElement(head, "tr")
    for column in columns:
        unit = column.attrib.pop("unit", "")
        column.attrib.pop("group", None)
        column.tag = "th"
        column.set("scope", "col")
        if unit:
            SubElement(column, "br")
            SubElement(column, "small").text = unit
        lower.append(column)


def _caption(item: Element, labels: dict[str, str]) -> Element:
    """Returns the caption `Figure 3. Title. Caption`, from the elements title and caption."""
    written, title = Element("figcaption"), item.find("title")
    assert title is not None, item.attrib
    number = SubElement(written, "span", {"class": "number"})
    number.text, number.tail = f"{labels[item.attrib['name']]}.", " "
    title.tag, title.tail = "strong", " "
    if len(title):
        title[-1].tail = f"{(title[-1].tail or '').rstrip()}."
    else:
        title.text = f"{(title.text or '').strip()}."
    written.append(title)
    caption = item.find("caption")
    if caption is not None:
        caption.tag = "span"
        written.append(caption)
    return written


def _empty(item: Element, attributes: dict[str, str]) -> None:
    """Removes an element's content, and replaces its attributes; the text after it stays."""
    tail = item.tail
    item.clear()
    item.attrib, item.tail = attributes, tail
