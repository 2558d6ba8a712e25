"""Runs a stage of the analysis: reads results and tables of other stages, writes its own tables.

    python -m kneepoint.analysis.run --config config/config.yaml audit

writes results/audit.parquet and the other tables of the stage (see kneepoint.analysis.schema).
"""

import argparse
import importlib
from pathlib import Path

import pandas as pd
import pyarrow as pa

from kneepoint.analysis import labels
from kneepoint.analysis.results import Results
from kneepoint.analysis.schema import STAGES, TABLES, sealed_as, tables_in
from kneepoint.common.errors import run_command_line
from kneepoint.common.notes import seal
from kneepoint.common.tables import Tables, from_frame, to_frame, write


def run(results: Results, name: str, tables: Tables) -> dict[str, pd.DataFrame]:
    """Computes the tables of a stage, as if written and read back; tables may be empty.

    Raises:
        KneepointError: a result or a table that it reads is missing or damaged.
    """
    made = _compute(results, name, tables)
    return {each: to_frame(TABLES[each], table) for each, table in made.items()}


def write_stage(results: Results, name: str) -> None:
    """Computes a stage from results and available tables of other stages; writes its tables.

    Raises:
        KneepointError: see `run`.
    """
    made = _compute(results, name, tables_in(results.folder))
    paths = {each: results.folder / TABLES[each].file for each in made}
    for each, table in made.items():
        write(paths[each], table)
    made_of = ("kneepoint.analysis.run", STAGES[name].module)
    seal(sealed_as(results.folder, name), paths.values(), *made_of)


def _compute(results: Results, name: str, tables: Tables) -> dict[str, pa.Table]:
    with labels.printed_as(results.names):
        found = importlib.import_module(STAGES[name].module).compute(results, tables)
    return {
        each: from_frame(TABLES[each], found.get(each, pd.DataFrame()))
        for each in STAGES[name].tables
    }


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--config", type=Path, required=True, help="the workflow's configuration")
    parser.add_argument("stages", nargs="+", choices=STAGES, metavar="STAGE", help="%(choices)s")
    arguments = parser.parse_args()
    results = Results.of(arguments.config)
    for name in arguments.stages:
        write_stage(results, name)


if __name__ == "__main__":
    run_command_line(main)
