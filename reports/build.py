"""Writes the report: tables, report.html, report.pdf and provenance.json.

python -m kneepoint.reports.build --config config/config.yaml

It reads the tables of the analysis (see `analysis.schema`) and the figures that `draw` has drawn;
it computes nothing. provenance.json also has the findings of the first page, as lines of text.
"""

import argparse
import json
from importlib import import_module
from pathlib import Path

import numpy as np

from kneepoint.analysis import labels
from kneepoint.analysis.derived import with_derived
from kneepoint.analysis.results import Results
from kneepoint.analysis.schema import TABLES, tables_in
from kneepoint.common.errors import KneepointError, run_command_line
from kneepoint.common.files import write_whole
from kneepoint.common.notes import seal
from kneepoint.common.tables import Tables
from kneepoint.reports import compose, draw, render
from kneepoint.reports.provenance import gather


def build(config: Path) -> None:
    """Writes the report into the folder of the results.

    An older report is replaced only when the new report is complete.

    Raises:
        KneepointError: the configuration is wrong, or tables or figures are missing or damaged.
    """
    results = Results.of(config)
    tables = with_derived(tables_in(results.folder))
    figures = {path.stem: path for path in results.folder.glob("figures/*/*.svg")}
    for name in draw.available(tables).keys() - figures.keys():
        raise KneepointError(f"figure {name} is missing; `snakemake --force draw` draws it")
    provenance = gather(results)
    own, sections = results.workflow.settings.report, results.workflow.sections
    with labels.printed_as(results.names):
        tall = {name for name, path in figures.items() if render.is_tall(path)}
        report = compose.compose(tables, provenance, figures, config.parent, own, sections, tall)
    made: dict[str, bytes | str] = {
        "report.html": _with_additions(render.to_html(report, figures), results, tables),
        "report.pdf": render.to_pdf(report, figures),
        "provenance.json": json.dumps(
            {"findings": report.findings(), **provenance}, indent=2, ensure_ascii=False
        )
        + "\n",
    }
    _write_tables(tables, results.folder / "tables")
    for name, content in made.items():
        write_whole(results.folder / name, content)
    written = [*(results.folder / name for name in made), *results.folder.glob("tables/*.csv")]
    seal(f"{results.folder}/report", sorted(written), "kneepoint.reports.build")


def _with_additions(page: str, results: Results, tables: Tables) -> str:
    """Adds the contributions of tools to a page if the configuration of the report has them."""
    own = results.workflow.settings.report
    if not (own and own.playground):
        return page
    for tool, (module, function) in import_module("kneepoint.tools").declared("IN_REPORTS").items():
        added = getattr(import_module(f"{tool}.{module}"), function)(page, results, tables)
        page = page.replace("</body>", f"{added}</body>")
    return page


def _write_tables(tables: Tables, folder: Path) -> None:
    """Writes each table with rows to NAME.csv, and removes other CSV files."""
    folder.mkdir(exist_ok=True)  # it stays empty if no table has rows
    old = {path.stem: path for path in folder.glob("*.csv")}
    for name, table in tables.items():
        schema = TABLES.get(name)
        if schema and schema.exported and len(table):
            table = schema.exported(table)
        if len(table):
            rows = table.map(_text).to_csv(index=False, lineterminator="\n")
            write_whole(folder / f"{name}.csv", rows)
            old.pop(name, None)
    for path in old.values():
        path.unlink()


def _text(value: object) -> object:
    """Joins the values of a list into one cell."""
    return "; ".join(value) if isinstance(value, list | tuple | np.ndarray) else value


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--config", type=Path, required=True, help="the workflow's configuration")
    build(parser.parse_args().config)


if __name__ == "__main__":
    run_command_line(main)
