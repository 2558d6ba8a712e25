"""Renders a report as one HTML file and as one PDF; both place what `reports.document` holds."""

import base64
import json
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

import jinja2
import typst

from common.errors import KneepointError
from reports.document import Json

TEMPLATES = Path(__file__).parent / "templates"


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
