"""The command line, and what its subcommands share.

Exit status 0: done, and all is well. 1: done, and something is not: a run failed, results do not
hold, something is missing. 2: not done, for what was asked for is wrong or the machine lacks
something; one line says what.
"""

import json
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import click

from common.errors import run_command_line

F = TypeVar("F", bound=Callable[..., Any])

_COMMANDS = {
    "run": "one run of a controller on a network, in figures and drawn over time",
    "list": "controllers, networks, experiments",
    "study": "run a study, or go on with it",
    "status": "what a running workflow does",
    "report": "make everything, up to the report",
    "verify": "whether results are what was written, by what is here now",
    "doctor": "what this machine lacks, and the remedy",
}


class _Commands(click.Group):
    """Subcommands are imported when they are asked for: each starts as fast as it can."""

    def list_commands(self, _: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        command: click.Command = import_module(f"kneepoint.{name}").command
        command.name = name
        return command

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option("0.1.0", prog_name="kneepoint")
def kneepoint() -> None:
    """Finds where a congestion controller should operate, and shows that the result is real.

    To complete commands with the tab key in bash (or zsh_source, fish_source):

    eval "$(_KNEEPOINT_COMPLETE=bash_source kneepoint)"
    """


def examples(text: str) -> Callable[[F], F]:
    """Adds examples to a command's help: they stand as they are written."""

    def add(function: F) -> F:
        lines = "\n".join(f"    {line.strip()}" for line in text.strip().splitlines())
        function.__doc__ = f"{function.__doc__}\n\n    \b\n    Examples:\n{lines}\n    "
        return function

    return add


config_option = click.option(
    "--config",
    type=click.Path(path_type=Path),
    default=Path("config/config.yaml"),
    show_default=True,
    help="The workflow's configuration.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
cores_option = click.option("--cores", default="all", show_default=True, help="Number of cores.")


def say(content: object, text: str, as_json: bool) -> None:
    """Prints the content as JSON, or the text."""
    click.echo(json.dumps(content, indent=2, ensure_ascii=False) if as_json else text)


def columns(rows: Sequence[tuple[str, ...]]) -> str:
    """Returns rows with their cells one under the other."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def main() -> None:
    """Runs the command; see run_command_line for its errors."""
    run_command_line(lambda: kneepoint.main(prog_name="kneepoint"))
