"""`kneepoint plot`: draws a figure of the results, or lists the figures."""

from pathlib import Path

import click

from kneepoint.analysis import labels
from kneepoint.analysis.schema import TABLES, tables_in
from kneepoint.cli import FIGURE, common_options, print_result, subcommand
from kneepoint.common.errors import KneepointError, suggestion
from kneepoint.reports.figures import PART_OF, kind_of
from kneepoint.runs.load import load_workflow


@subcommand("""
    kneepoint plot
    kneepoint plot power-curve
    kneepoint plot search-slices-tune-timely --out timely.pdf
    kneepoint plot --json | jq -r '.[]'
""")
@click.argument("name", required=False)
@click.option(
    "--out", type=FIGURE, help="A PNG, SVG or PDF file; otherwise NAME.svg in the current folder."
)
@common_options
def command(name: str | None, out: Path | None, config: Path, as_json: bool) -> None:
    """Draw the figure NAME from the tables of the analysis, or list all figures.

    The name of a kind of figure, such as power-curve, selects the first figure of that kind. The
    tables must exist: `kneepoint report` makes them.
    """
    if name and kind_of(name) is None:
        raise KneepointError(f"there is no figure {name!r}; {suggestion(name, PART_OF)}")
    folder = load_workflow(config).results
    paths = [folder / f"{table}.parquet" for table in TABLES]
    missing = [path for path in paths if not path.is_file()]
    if name and missing:
        raise KneepointError(f"{missing[0]} is missing; `kneepoint report` makes it")
    from kneepoint.reports import draw  # matplotlib takes a second
    from kneepoint.reports.figures import style

    tables = tables_in(folder)
    if name is None:
        names = [] if missing else list(draw.available(tables))
        nothing = f"no tables in {folder}; `kneepoint report` makes them"
        print_result(names, "\n".join(names) or nothing, as_json)
        return
    out = out or Path(f"{name}.svg")
    with labels.printed_as(draw.own_names(folder)), style.house():
        style.write(draw.find(name, tables)(), out)
    print_result({"figure": name, "file": str(out)}, str(out), as_json)
