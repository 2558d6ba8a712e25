"""A report as one HTML tree, from the Markdown of its templates.

Markdown has paragraphs, **bold** and `code`; everything else is HTML: `<h2 id="...">` opens a part,
`<h3 id="...">` a section, `<h4>` a heading without a number; `<details>` is folded on the page and
absent on paper. `blocks` writes figures and tables. An empty link of the class `label` to a part,
section, figure or table becomes its label, such as "Figure 3".

A figure or table in `<details>` or of the class `supplement` is a supplement: only the page has it,
with separate numbers ("Table S3"). A heading or summary without content is left out.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree
from xml.etree.ElementTree import Element

from markdown_it import MarkdownIt
from markupsafe import Markup

from kneepoint.reports.blocks import SUPPLEMENT

RUN_DIGITS = 12
"""Number of digits of a run's identifier that the report prints and links by."""

_USER_MARKDOWN = MarkdownIt("commonmark", {"html": False}).disable("image")
_TEMPLATES = MarkdownIt("commonmark", {"html": True, "xhtmlOut": True}).disable(
    ["list", "code", "lheading", "hr", "heading"]  # a number may begin a line
)
_BLOCK = re.compile(r"<(ul|div)\b.*?</\1>", re.DOTALL)
_BLANK_LINES = re.compile(r"\n\s*\n")
_UNLINKED = ("a", "h2", "h3", "h4", "code", "pre", "summary", "th")
_LEVELS = {"h2": "Part", "h3": "Section"}


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

    `made_of` names commits and seed; `search` is the prompt of a search field above all tables; ""
    omits the field.
    """

    title: str
    body: Element
    subtitle: str = ""
    authors: tuple[str, ...] = ()
    made_of: str = ""
    search: str = ""
    headings: list[Heading] = field(default_factory=list)

    def findings(self) -> list[str]:
        """Returns the findings of the first page as text."""
        items = self.body.iterfind(".//ul[@class='findings']/li")
        return [" ".join("".join(item.itertext()).split()) for item in items]


def user_text(markdown: str) -> Markup:
    """Returns HTML of a user's text in CommonMark; images and HTML in it remain text."""
    text = _USER_MARKDOWN.render(markdown)
    for level in (3, 2, 1):  # below the headings of a part and of a section
        text = text.replace(f"<h{level}>", "<h4>").replace(f"</h{level}>", "</h4>")
    return Markup(_BLANK_LINES.sub("\n", f"<div>{text}</div>"))  # noqa: S704


def document(
    text: str,
    title: str,
    cited: Mapping[str, str] | None = None,
    **about: Any,
) -> Document:
    """Makes a document from the output of templates: numbers, resolved references, HTML tables.

    Args:
        text: Markdown as described above.
        title: title of the report.
        cited: targets of links from names in the text, by name.
        about: the rest of the title block: subtitle, authors, made_of, search.
    """
    whole = _BLOCK.sub(lambda block: _BLANK_LINES.sub("\n", block[0]), text)
    body = ElementTree.fromstring(f"<div>{_TEMPLATES.render(whole)}</div>")  # noqa: S314, ours
    following = "h2"
    for block in reversed(list(body)):
        is_empty = block.tag == "details" and len(block) == 1  # the summary
        if is_empty or (block.tag in _LEVELS and following in ("h2", block.tag)):
            body.remove(block)
        else:
            following = block.tag
    labels, headings = _numbered(body)
    for link in body.iterfind(".//a[@class='label']"):
        label = labels[link.attrib["href"].removeprefix("#")]
        link.text = label.replace(" ", "\N{NO-BREAK SPACE}")
    if cited:
        by_capital = {name[:1].upper() + name[1:]: target for name, target in cited.items()}
        longest_first = sorted(cited, key=len, reverse=True)
        named = "|".join(
            f"(?i:{re.escape(name[:1])}){re.escape(name[1:])}" for name in longest_first
        )
        _link(body, re.compile(rf"(?<![\w-])(?:{named})(?![\w-])"), by_capital)
    return Document(title, body, headings=headings, **about)


def _numbered(body: Element) -> tuple[dict[str, str], list[Heading]]:
    """Numbers headings, figures and tables; returns labels by name, and headings."""
    counts: Counter[str] = Counter()
    labels: dict[str, str] = {}
    headings = []
    for item, is_folded in _walk(body):
        name = item.get("id")
        if not name or item.tag not in (*_LEVELS, "figure"):
            continue
        assert name not in labels, f"two parts of the report are called {name}"
        if item.tag in _LEVELS:
            counts[item.tag] += 1
            counts["h3"] *= item.tag == "h3"
            number = f"{counts['h2']}.{counts['h3']}" if item.tag == "h3" else f"{counts['h2']}"
            labels[name] = f"{_LEVELS[item.tag]} {number}"
            headings.append(Heading(int(item.tag[1]), name, number, "".join(item.itertext())))
            span = Element("span", {"class": "number"})
            span.text, span.tail, item.text = number, item.text, None
            item.insert(0, span)
            continue
        kinds = item.get("class", "").split()
        series = "Table" if "table" in kinds else "Figure"
        series += " S" if is_folded or SUPPLEMENT in kinds else " "
        counts[series] += 1
        labels[name] = f"{series}{counts[series]}"
        mark, frame = item.find("figcaption/span"), item.find("div")
        assert mark is not None and frame is not None, name
        mark.text = f"{labels[name]}."
        frame.set("aria-label", labels[name])
    return labels, headings


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
