"""The command `kneepoint`, also run as `python -m kneepoint`."""

import sys

from kneepoint.common.errors import KneepointError, run_command_line
from kneepoint.common.places import IS_INSTALLED


def main() -> None:
    """Runs the command, or prints a remedy if packages are missing."""
    run_command_line(_main)


def _main() -> None:
    try:
        from kneepoint.cli import main as command

        command()
    except ModuleNotFoundError as error:
        remedy = "`. .venv/bin/activate` after `make setup`"
        if IS_INSTALLED:
            remedy = "pip install 'kneepoint[all]'"
        raise KneepointError(f"{sys.executable} has no {error.name}; run {remedy}") from None


if __name__ == "__main__":
    main()
