"""Draws one figure from the tables of the analysis.

python -m reports.draw --config config/config.yaml --out results/figures/power-curve.svg

writes it as SVG and as PNG. It is called after its kind, and where there are several of that after
what it shows, too: power-curve-fixed_window-window-contest.
"""

import argparse
from pathlib import Path

from analysis.schema import TABLES
from analysis.tables import TableFolder
from common.errors import run_command_line
from experiments.config import load_workflow
from reports import figures


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--config", type=Path, required=True, help="the workflow's configuration")
    parser.add_argument("--out", type=Path, required=True, help="the figure's SVG")
    arguments = parser.parse_args()
    tables = TableFolder(load_workflow(arguments.config).results, TABLES)
    figures.draw(arguments.out.stem, tables, arguments.out.with_suffix(""))


if __name__ == "__main__":
    run_command_line(main)
