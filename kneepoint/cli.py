"""The command line, and helpers that its subcommands share.

Exit status 0: success. 1: the command ran and found a problem: a run failed, results are out of
date, the machine lacks something. 2: the command could not run; one line on stderr gives the
reason.
"""

import json
import math
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import click

from common.config_file import names_in
from common.errors import KneepointError, run_command_line, suggestion

F = TypeVar("F", bound=Callable[..., Any])

_COMMANDS = {
    "run": "run a controller once, print its metrics and plot it over time",
    "compare": "compare two settings in pairs of runs, with an interval and a verdict",
    "evaluate": "score candidates for a controller, which a search sends",
    "evolve": "search for a rule that controls congestion",
    "fit-path": "fit a network to what was measured over a path",
    "identify": "find the known rule that a sender behaves like",
    "list": "list controllers, networks and experiments",
    "study": "run or resume a study",
    "again": "repeat a run of the results and compare it with the recorded metrics",
    "plot": "draw a figure of the results",
    "results": "list the tables of the results, for analyses of your own",
    "status": "show the progress of a running workflow",
    "report": "make everything, including the report",
    "field": "make the report that sets all controllers side by side",
    "artifact": "write the report, its results and its claims as one archive",
    "new-report": "write the skeleton of a report of your own",
    "contest": "build, run and rank the entries of a contest",
    "new-entry": "write the skeleton of an entry",
    "try": "build, run and draw one entry",
    "tune": "search the parameters of one entry",
    "check-table": "check the numbers of a printed table against each other",
    "trace": "check, plot, cut and convert recordings of links",
    "import": "read measurements of mahimahi and Pantheon, and compare them",
    "verify": "check results against the files, code and programs that made them",
    "doctor": "check this machine and suggest remedies",
}


class _Commands(click.Group):
    """Imports a subcommand only when it is called, so that each starts fast."""

    def list_commands(self, _: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        if name not in _COMMANDS:
            return None
        keywords = {"try": "try_entry", "import": "import_files"}
        module = keywords.get(name, name.replace("-", "_"))
        command: click.Command = import_module(f"kneepoint.{module}").command
        command.name = name
        return command

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option("0.1.0", prog_name="kneepoint")
def kneepoint() -> None:
    """Find where a congestion controller should operate, reproducibly.

    To enable tab completion in bash (zsh and fish: zsh_source, fish_source), run

    eval "$(_KNEEPOINT_COMPLETE=bash_source kneepoint)"
    """


def examples(text: str) -> Callable[[F], F]:
    """Adds examples to a command's help, verbatim."""

    def add(function: F) -> F:
        lines = "\n".join(f"    {line.strip()}" for line in text.strip().splitlines())
        function.__doc__ = f"{function.__doc__}\n\n    \b\n    Examples:\n{lines}\n    "
        return function

    return add


def subcommand(text: str) -> Callable[[Callable[..., Any]], click.Command]:
    """Makes a command of a function, with examples; its help shows all defaults."""
    command = click.command(context_settings={"show_default": True})
    return lambda function: command(examples(text)(function))


class _FigurePath(click.Path):
    """A path whose suffix is a figure format's."""

    def convert(self, *words: Any) -> Path:
        path = Path(str(super().convert(*words)))
        if path.suffix not in (".png", ".svg", ".pdf"):
            raise KneepointError(f"{path}: unknown figure format; use .png, .svg or .pdf")
        return path


class FiniteRange(click.FloatRange):
    """A range of finite numbers; click finds NaN in every range."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Raises KneepointError if the number is NaN or infinite."""
        found = float(super().convert(value, param, ctx))
        if not math.isfinite(found):
            name = param.opts[0] if param else self.name
            raise KneepointError(f"{name} {value}: is no finite number; correct it")
        return found


PATH = click.Path(path_type=Path)
FIGURE = _FigurePath(path_type=Path)


def _existing(context: click.Context, _: click.Parameter, config: Path) -> Path:
    if not config.is_file() and context.info_name != "doctor":  # which says what is wrong with it
        near = suggestion(config.stem, names_in(config.parent))
        raise KneepointError(f"--config {config}: no such configuration; {near}")
    return config


config_option = click.option(
    "--config",
    type=PATH,
    default=Path("config/config.yaml"),
    callback=_existing,
    help="Configuration file of the workflow.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def common_options(function: F) -> F:
    """Adds --config and --json."""
    return config_option(json_option(function))


seed_option = click.option("--seed", type=click.IntRange(0), default=1)
cores_option = click.option("--cores", default="all", help="Number of cores, or all.")


def print_result(content: object, text: str, as_json: bool, *, ok: bool = True) -> None:
    """Prints `content` as JSON if `as_json`, otherwise `text`; exits with status 1 if not `ok`."""
    click.echo(json.dumps(content, indent=2, ensure_ascii=False) if as_json else text)
    if not ok:
        sys.exit(1)


def columns(rows: Sequence[tuple[str, ...]]) -> str:
    """Returns the rows as text with aligned columns."""
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    lines = (
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        for row in rows
    )
    return "\n".join(line.rstrip() for line in lines)


def main() -> None:
    """Runs the command; run_command_line reports its errors."""
    run_command_line(lambda: kneepoint.main(prog_name="kneepoint"))
