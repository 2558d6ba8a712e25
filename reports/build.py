"""Writes the report: tables, report.html, report.pdf and provenance.json.

python -m reports.build --config config/config.yaml

reads the tables of the analysis (see analysis.schema) and the figures that reports.draw has drawn,
and computes nothing.
"""

import argparse
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from analysis import labels
from analysis.derived import WithDerived
from analysis.over_time import RATES
from analysis.results import Results
from analysis.schema import TABLES
from common.errors import run_command_line
from common.files import write_whole
from common.tables import TableFolder, Tables
from reports import render, words
from reports.provenance import gather


def build(config: Path, into: Path | None = None) -> None:
    """Writes everything into the folder `into`, by default the results of the configuration.

    An older report stays as it is until all of the new one is there.

    Raises:
        KneepointError: the configuration is wrong, or tables or figures are missing or damaged.
    """
    results = Results.of(config)
    tables = WithDerived(TableFolder(results.folder, TABLES))
    figures = {path.stem: path for path in results.folder.glob("figures/*/*.svg")}
    provenance = gather(results)
    workflow = results.workflow
    own, sections = workflow.settings.report, workflow.sections
    with labels.printed_as(results.names):
        tall = {name for name, path in figures.items() if render.is_tall(path)}
        report = words.compose(tables, provenance, figures, config.parent, own, sections, tall)
    with _whole(into or results.folder) as new:
        (new / "tables").mkdir()  # a small study leaves it empty
        _write_tables(tables, new / "tables")
        write_whole(new / "report.html", render.to_html(report, figures))
        write_whole(new / "report.pdf", render.to_pdf(report, figures))
        write_whole(
            new / "provenance.json", json.dumps(provenance, indent=2, ensure_ascii=False) + "\n"
        )


def _write_tables(tables: Tables, folder: Path) -> None:
    """Writes every table that has rows as CSV, called after it; of all packets, the rates.

    Only Kneepoint needs the rows of settings_run: `kneepoint again` asks which run made a number.
    """
    for name, table in tables.items():
        if name == "series" and len(table):
            table = table[table["quantity"].isin(RATES)]
        if len(table) and name != "settings_run":
            rows = table.map(_text).to_csv(index=False, lineterminator="\n")
            write_whole(folder / f"{name}.csv", rows)


def _text(value: object) -> object:
    """Names in one cell, if a value is several."""
    return "; ".join(value) if isinstance(value, list | tuple | np.ndarray) else value


@contextmanager
def _whole(folder: Path) -> Iterator[Path]:
    """Yields an empty folder whose content moves into `folder` if all goes well."""
    staging = folder / ".report"
    new, old = staging / "new", staging / "old"
    shutil.rmtree(staging, ignore_errors=True)
    for each in (new, old):
        each.mkdir(parents=True)
    try:
        yield new
        for made in sorted(new.iterdir()):
            place = folder / made.name
            if place.exists():
                place.rename(old / made.name)
            made.rename(place)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--config", type=Path, required=True, help="the workflow's configuration")
    parser.add_argument("--into", type=Path, help="folder to write to (the results folder)")
    arguments = parser.parse_args()
    build(arguments.config, arguments.into)


if __name__ == "__main__":
    run_command_line(main)
