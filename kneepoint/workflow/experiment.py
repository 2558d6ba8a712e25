"""Runs or resumes one experiment of the configuration.

    python -m kneepoint.workflow.experiment --config config/config.yaml NAME

NAME is the name of the experiment's folder in the results, such as a study's name.
"""

from kneepoint.common.errors import run_command_line
from kneepoint.runs.run import run


def main() -> None:
    """The command line."""
    run((__doc__ or "").partition("\n")[0])


if __name__ == "__main__":
    run_command_line(main)
