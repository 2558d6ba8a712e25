"""Renders a document as one HTML file and, by pandoc and Typst, as one PDF."""

import copy
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import matplotlib
import pypandoc
import typst
from markupsafe import Markup

from kneepoint.common.errors import KneepointError
from kneepoint.common.files import private_folder
from kneepoint.reports.blocks import MAX_ROWS, SUPPLEMENT
from kneepoint.reports.document import Document
from kneepoint.reports.inline_svg import Inliner
from kneepoint.reports.templating import plain_text, templates_in

TEMPLATES = Path(__file__).parent / "templates"
_IMAGE = re.compile(r'<img src="([^"]*)" alt="([^"]*)">')
_CONTENTS = '<div class="contents"></div>'
"""The place of the table of contents; without this place, the contents come first."""
_HEIGHT = re.compile(rb'<svg [^>]*?height="([\d.]+)pt"')
_TALLEST_PT = 690
"""Height of a figure that fills a page together with its caption (see report.typ)."""
FONTS = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
"""Fonts of the text in figures."""


def is_tall(figure: Path) -> bool:
    """Returns whether an SVG file of matplotlib is taller than a page of paper."""
    height = _HEIGHT.search(figure.read_bytes()[:2000])
    return height is not None and float(height[1]) > _TALLEST_PT


def to_html(document: Document, figures: Mapping[str, Path]) -> str:
    """Returns one self-contained page with inline styles and figures (SVG files by name)."""
    inliner = Inliner({row.attrib["id"] for row in document.body.iter("tr") if row.get("id")})

    def picture(image: re.Match[str]) -> str:
        return inliner.inline(figures[image[1]].read_bytes(), plain_text(image[2]))

    body = _IMAGE.sub(picture, _html(document.body))
    template = templates_in(TEMPLATES).get_template("page.html.jinja")
    first, _, rest = map(Markup, body.partition(_CONTENTS))
    return template.render(document=document, first=first, rest=rest)


def to_pdf(document: Document, figures: Mapping[str, Path]) -> bytes:
    """Returns the report as PDF; equal content gives equal bytes, because it has no date.

    Raises:
        KneepointError: typst refuses the document.
    """
    body = copy.deepcopy(document.body)
    _leave_out_supplements(body)
    _shorten_tables(body)
    with private_folder("typst") as folder:
        source = folder / "report.typ"
        for image in body.iter("img"):
            name = image.attrib["src"]
            image.set("src", f"{name}.svg")
            shutil.copy(figures[name], source.with_name(f"{name}.svg"))
        about = {
            "title": document.title,
            "subtitle": document.subtitle,
            "made-of": document.made_of,
        }
        written = pypandoc.convert_text(
            _html(body),
            "typst",
            "html",
            extra_args=[
                "--standalone",
                "--wrap=preserve",
                "--shift-heading-level-by=-1",
                f"--template={TEMPLATES / 'report.typ'}",
                f"--lua-filter={TEMPLATES / 'pdf.lua'}",
                *(f"--metadata={name}={value}" for name, value in about.items() if value),
                *(f"--metadata=author={author}" for author in document.authors),
            ],
        )
        source.write_text(written, encoding="utf-8")
        try:
            pdf, warnings = typst.compile_with_warnings(
                source,
                root=folder,
                ignore_system_fonts=True,
                font_paths=[FONTS],
                format="pdf",
            )
        except typst.TypstError as error:
            raise KneepointError(f"{TEMPLATES / 'report.typ'}: typst says: {error}") from None
        for warning in warnings:
            print(f"{TEMPLATES / 'report.typ'}: typst warns: {warning.message}", file=sys.stderr)
        return pdf


def _html(body: Element) -> str:
    return ElementTree.tostring(body, encoding="unicode", method="html")


def _leave_out_supplements(body: Element) -> None:
    """Removes supplements; links to them, and to rows of runs, become plain text."""
    for parent in list(body.iter()):
        for child in list(parent):
            if child.tag == "details" or SUPPLEMENT in child.get("class", "").split():
                parent.remove(child)
    names = {each.get("id") for each in body.iter()}
    for link in body.iter("a"):
        target = link.get("href", "")
        if link.get("class") == "run" or (target[:1] == "#" and target[1:] not in names):
            link.tag, link.attrib = "span", {}


def _shorten_tables(body: Element) -> None:
    """Cuts tables to MAX_ROWS rows, with a note in the caption."""
    for figure in body.findall(".//figure[@class='table']"):
        caption, rows = figure.find("figcaption"), figure.find(".//tbody")
        if caption is not None and rows is not None and len(rows) > MAX_ROWS:
            said = f" The first {MAX_ROWS} of {len(rows):,} rows; report.html has all rows."
            SubElement(caption, "span").text = said
            rows[:] = rows[:MAX_ROWS]
