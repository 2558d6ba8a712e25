"""Gathers the pages of the site, for Sphinx: `python -m docs.site --into FOLDER`."""

import argparse
from pathlib import Path

from docs.site import reference
from docs.site.gather import gather
from kneepoint.common.errors import run_command_line
from kneepoint.engines.catalogue import load_catalogue


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition(":")[0])
    parser.add_argument("--into", type=Path, required=True, help="folder of the pages; emptied")
    parser.add_argument("--build", type=Path, default=Path("build"), help="the built programs")
    arguments = parser.parse_args()
    catalogue = load_catalogue(arguments.build / "emulate")
    pages = {
        "controllers": reference.controllers_page(catalogue),
        "configuration": reference.configuration_page(),
        "tables": reference.tables_page(),
        "commands": reference.commands_page(arguments.build),
    }
    declared = {name: reference.parameters(each) for name, each in catalogue.controllers.items()}
    gather(arguments.into, pages, declared)


if __name__ == "__main__":
    run_command_line(main)
