"""The content of a report, read back from its document."""

import re
from collections.abc import Container
from dataclasses import dataclass
from functools import cache
from typing import Any
from xml.etree.ElementTree import Element

from markupsafe import Markup

from kneepoint.analysis.derived import with_derived
from kneepoint.analysis.results import Results
from kneepoint.common.tables import Tables
from kneepoint.config.published import Reference
from kneepoint.reports import blocks, compose, draw
from kneepoint.reports.document import Document
from tests.analysis import synthetic

PROVENANCE = {
    "commit": "0" * 40,
    "committed": "2026-11-21",
    "changed_files": ["kneepoint/analysis/results.py", "config/studies/mine.yaml"],
    "beside": None,
    "command": "make reproduce CONFIG=config/config.yaml",
    "config": "config/config.yaml",
    "sha256": {"config/config.yaml": "1" * 64, "build/sender": "3" * 64},
    "references": [
        {
            "names": ["Report 001"],
            **Reference(
                title="A report", authors=("A. Author", "B. Author"), year=2017
            ).model_dump(),
        }
    ],
    **{"seed": 2017, "versions": {"python": "3.11"}, "host": {"cores": "2"}},
    **{"networks": [], "results": [], "wall_times": []},
}


def plain(item: Element) -> str:
    """Returns a text with its marks: **strong**, `code`, {target of a reference}."""
    inner = (item.text or "") + "".join(plain(child) + (child.tail or "") for child in item)
    if item.tag == "a" and item.get("class") != "run":
        return f"{{{item.attrib['href'].removeprefix('#')}}}"
    mark = {"strong": "**", "code": "`"}.get(item.tag, "")
    return " ".join(f"{mark}{inner}{mark}".split(" "))


def table(name: str = "t", *rows: blocks.Cells, title: str = "A", **given: Any) -> str:
    """Returns a table of these rows, or of one row, as a template writes it."""

    def add(row: blocks.Rows) -> Markup:
        for cells in rows or ({"a": "1"},):
            row(cells)
        return Markup("")

    return blocks.table(name, title, caller=add, **given)


def figure(name: str, title: str = "F", caption: str = "", tall: Container[str] = ()) -> str:
    """Returns a drawn figure, as a template writes it."""
    return blocks.figure([name], tall, name, title, caller=lambda: Markup(caption))


@dataclass(frozen=True)
class Told:
    """A document, and access to its content."""

    document: Document

    @property
    def names(self) -> list[str]:
        """The names of its parts and sections."""
        return [heading.name for heading in self.document.headings]

    def blocks(self, tag: str, section: str | None = None) -> list[Element]:
        """Returns elements in the order of the text; of a part or section, without its sections."""
        found, at = [], ""
        for item in self.document.body.iter():
            if item.tag in ("h2", "h3") or (item.tag == "details" and item.get("id")):
                at = item.attrib["id"]
            elif item.tag == tag and section in (None, at):
                found.append(item)
        return found

    def text(self, section: str | None = None) -> str:
        paragraphs = [*self.blocks("p", section), *self.blocks("li", section)]
        return " ".join(" ".join(plain(each).split()) for each in paragraphs)

    def block(self, name: str) -> Element:
        (found,) = (each for each in self.blocks("figure") if each.get("id") == name)
        return found

    def head(self, table: str) -> list[str]:
        """Returns the last row of a table's head: titles, with units in brackets."""
        row = self.block(table).findall(".//thead/tr")[-1]
        units = [cell.findtext("small") for cell in row]
        titles = [(cell.text or "").strip() for cell in row]
        return [f"{t} ({u})" if u else t for t, u in zip(titles, units, strict=True)]

    def rows(self, table: str) -> list[tuple[str, ...]]:
        rows = self.block(table).findall(".//tbody/tr")
        return [tuple(re.sub("[ \n]+", " ", plain(cell)).strip() for cell in row) for row in rows]

    def records(self, table: str) -> list[dict[str, str]]:
        """Returns the rows of a table by the last row of its head; missing values are dashes."""
        head = self.head(table)
        return [dict(zip(head, row, strict=True)) for row in self.rows(table)]

    def caption(self, name: str) -> str:
        caption = self.block(name).find("figcaption")
        assert caption is not None
        return " ".join(plain(caption).split())

    def figures(self, section: str | None = None) -> list[str]:
        found = self.blocks("figure", section)
        return [each.attrib["id"] for each in found if each.get("class") != "table"]

    def tables(self) -> list[str]:
        return [each.attrib["id"] for each in self.blocks("figure") if each.get("class") == "table"]


@cache
def told(results: Results) -> Told:
    """Returns the report of results; composed once for equal results."""
    return told_by(synthetic.analysed(results))


def told_by(tables: Tables) -> Told:
    """Returns the report of tables, with every figure for which they have data."""
    return Told(compose.compose(with_derived(tables), PROVENANCE, draw.available(tables)))
