"""Renders a report as one HTML file and as one PDF; both place what the content model holds."""

import base64
import json
import shutil
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jinja2
import typst

from common.errors import KneepointError
from reports.content import Block, Paragraph, Picture, Report, Table, spans

TEMPLATES = Path(__file__).parent / "templates"

Json = dict[str, Any]


def document(report: Report, made_of: str) -> Json:
    """The report as plain data, all text as spans and all references resolved.

    Args:
        report: the content.
        made_of: what stands in the running head beside the title: version, commit.
    """
    numbers = report.numbers()

    def text(marked: str) -> list[Json]:
        return [
            {"kind": span.kind, "text": numbers[span.text], "target": span.text}
            if span.kind == "reference"
            else {"kind": span.kind, "text": span.text}
            for span in spans(marked)
        ]

    def block(item: Block) -> Json:
        if isinstance(item, Table):
            return {
                "kind": "table",
                "name": item.name,
                "number": numbers[item.name],
                "title": text(item.title),
                "caption": text(item.caption),
                "columns": [asdict(column) for column in item.columns],
                "groups": column_groups(item),
                "rows": [[text(cell) for cell in row] for row in item.rows],
                "strong": sorted(item.strong),
                "muted": sorted(item.muted),
            }
        if isinstance(item, Picture):
            return {
                "kind": "figure",
                "name": item.name,
                "number": numbers[item.name],
                "title": text(item.title),
                "caption": text(item.caption),
                "alternative": "".join(span["text"] for span in text(item.title)),
                "svg": item.stem.name + ".svg",
            }
        kind = "paragraph" if isinstance(item, Paragraph) else "heading"
        return {"kind": kind, "text": text(item.text)}

    return {
        "title": report.title,
        "subtitle": report.subtitle,
        "made_of": made_of,
        "abstract": [text(paragraph) for paragraph in report.abstract],
        "highlights": [asdict(highlight) for highlight in report.highlights],
        "sections": [
            {
                "name": section.name,
                "number": number,
                "title": text(section.title),
                "blocks": [block(item) for item in section.blocks],
            }
            for number, section in enumerate(report.sections, 1)
        ],
    }


def column_groups(table: Table) -> list[Json]:
    """The upper head of a table: title and width of each run of equal groups; none if all empty."""
    groups: list[Json] = []
    for column in table.columns:
        if groups and column.group and groups[-1]["title"] == column.group:
            groups[-1]["width"] += 1
        else:
            groups.append({"title": column.group, "width": 1})
    return groups if any(group["title"] for group in groups) else []


def to_html(content: Json, figures: Path) -> str:
    """One self-contained page: styles and figures are in it."""

    def picture(name: str) -> str:
        encoded = base64.b64encode((figures / name).read_bytes()).decode()
        return f"data:image/svg+xml;base64,{encoded}"

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    template = environment.get_template("report.html.jinja")
    return template.render(**content, picture=picture)


def to_pdf(content: Json, figures: Path) -> bytes:
    """The same on paper; equal content gives equal bytes, for it carries no date.

    Raises:
        KneepointError: typst refuses the document.
    """
    with TemporaryDirectory() as folder:
        source = Path(folder) / "report.typ"
        source.write_bytes((TEMPLATES / "report.typ").read_bytes())
        source.with_suffix(".json").write_text(json.dumps(content), encoding="utf-8")
        for section in content["sections"]:
            for item in section["blocks"]:
                if item["kind"] == "figure":
                    shutil.copy(figures / item["svg"], folder)
        try:
            return typst.compile(source, root=Path(folder), ignore_system_fonts=True, format="pdf")
        except typst.TypstError as error:
            raise KneepointError(f"{TEMPLATES / 'report.typ'}: typst says: {error}") from None
