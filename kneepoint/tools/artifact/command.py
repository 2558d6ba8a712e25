"""`kneepoint artifact`: writes the report, its results and its claims as one archive."""

from pathlib import Path

import click

from kneepoint.cli import OUTPUT, common_options, print_result, subcommand


@subcommand("""
    kneepoint artifact
    kneepoint artifact --config lab/config.yaml --into lab.zip
""")
@click.option(
    "--into",
    type=OUTPUT,
    default=Path("artifact.zip"),
    help="The archive to write.",
)
@common_options
def command(into: Path, config: Path, as_json: bool) -> None:
    """Write an archive for an artifact committee: an RO-Crate 1.1, zipped.

    The archive contains the report, the tables as Parquet and CSV, the configuration with its
    published tables, digests of all inputs, licence, authors, instructions to rerun everything, and
    claims.csv: each claim with its value, its tolerance and the command that checks it. Traces are
    not part of the archive, which lists their addresses. Equal results give equal bytes. The report
    must exist and be up to date.
    """
    from kneepoint.tools.artifact.archive import write_artifact

    write_artifact(config, into)
    print_result({"artifact": str(into)}, str(into), as_json)
