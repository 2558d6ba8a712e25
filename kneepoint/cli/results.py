"""`kneepoint results`: lists the tables of a folder of results, and their columns."""

from pathlib import Path

import click

from kneepoint.analysis.frames import records
from kneepoint.cli import PATH, json_option, print_result, subcommand
from kneepoint.common.columns import columns


@subcommand("""
    kneepoint results
    kneepoint results lab/results --table audit
    kneepoint results --json | jq '.[] | select(.rows > 1000)'
""")
@click.argument("folder", type=PATH, default=Path("results"))
@click.option("--table", help="List the columns of this table, with their units.")
@json_option
def command(folder: Path, table: str | None, as_json: bool) -> None:
    """List the tables of the results in FOLDER, with the number and the meaning of their rows.

    FOLDER is the folder of the results, by default results. In Python, tables are pandas frames:
    from kneepoint import open_results; open_results("results").runs
    """
    from kneepoint.analysis.opened import open_results

    results = open_results(folder)
    listed = records(results.columns(table) if table else results.about())
    print_result(
        listed, columns([tuple(str(cell) for cell in row.values()) for row in listed]), as_json
    )
