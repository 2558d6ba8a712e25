"""Renders a report as one HTML file and as one PDF; both place what `reports.document` holds."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib
import typst
from markupsafe import Markup

from common.errors import KneepointError
from reports.document import Json
from reports.inline_svg import Inliner
from reports.templating import templates_in

TEMPLATES = Path(__file__).parent / "templates"
FONTS = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
"""Of the text in the figures."""


def to_html(content: Json, figures: Mapping[str, Path]) -> str:
    """One self-contained page, with styles and figures (SVG files by their names) inside.

    Raises:
        KneepointError: a figure is missing.
    """
    blocks = [block for section in content["sections"] for block in section["blocks"]]
    inliner = Inliner({name for block in blocks for name in block.get("names", ())})

    def picture(name: str, label: str) -> Markup:
        return Markup(inliner.inline(_file(figures, name).read_bytes(), label))  # noqa: S704

    template = templates_in(TEMPLATES).get_template("report.html.jinja")
    return template.render(**content, picture=picture)


def to_pdf(content: Json, figures: Mapping[str, Path]) -> bytes:
    """The same on paper; equal content gives equal bytes, because it carries no date.

    Raises:
        KneepointError: a figure is missing, or typst refuses the document.
    """
    with TemporaryDirectory() as folder:
        source = Path(folder) / "report.typ"
        source.write_bytes((TEMPLATES / "report.typ").read_bytes())
        source.with_suffix(".json").write_text(json.dumps(content), encoding="utf-8")
        blocks = [item for section in content["sections"] for item in section["blocks"]]
        for item in [*content["opening"], *blocks]:
            if item["kind"] == "figure" and not item["supplement"]:
                shutil.copy(_file(figures, item["name"]), Path(folder) / item["svg"])
        try:
            return typst.compile(
                source,
                root=Path(folder),
                ignore_system_fonts=True,
                font_paths=[FONTS],
                format="pdf",
            )
        except typst.TypstError as error:
            raise KneepointError(f"{TEMPLATES / 'report.typ'}: typst says: {error}") from None


def _file(figures: Mapping[str, Path], name: str) -> Path:
    if name not in figures:
        raise KneepointError(f"figure {name} is missing; `snakemake --force draw` draws it")
    return figures[name]
