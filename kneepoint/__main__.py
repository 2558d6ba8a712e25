"""Runs `kneepoint` as `python -m kneepoint`."""

import sys

from kneepoint.common.errors import KneepointError, run_command_line


def _main() -> None:
    """The command, or what to do where its packages are missing."""
    try:
        from kneepoint.cli import main

        main()
    except ModuleNotFoundError as error:
        raise KneepointError(
            f"{sys.executable} has no {error.name}; run `. .venv/bin/activate` after `make setup`"
        ) from None


run_command_line(_main)
