"""The command line, and functions that its subcommands share.

Exit status 0: success. 1: the command ran and found a problem: a run failed, results are out of
date, the machine lacks something. 2: the command could not run; one line on stderr gives the
reason.
"""

import json
import math
import os
import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

import click

from kneepoint.common.arguments import require_config, require_cores, require_place
from kneepoint.common.errors import KneepointError, run_command_line
from kneepoint.common.places import VERSION
from kneepoint.common.project import (
    current_folder,
    enter,
    enter_shipped,
    find_config,
    require_config_here,
    require_own,
    seen_from,
)
from kneepoint.runs.settings import read_settings

F = TypeVar("F", bound=Callable[..., Any])

_CALLED_FROM = "kneepoint.called_from"
"""The key of a command's context for the folder of the call."""
_WITHOUT_PROJECT = "kneepoint.without_project"
"""The key of a command's context that is set if the command uses the shipped configuration."""

_CORE = {
    "run": ("run", "run a controller once, print its metrics and plot it over time"),
    "compare": (
        "compare",
        "compare two settings in pairs of runs, with an interval and a verdict",
    ),
    "list": ("list", "list controllers, networks and experiments"),
    "study": ("study", "run or resume a study"),
    "again": ("again", "repeat a run and compare it with its recorded metrics"),
    "plot": ("plot", "draw a figure of the results"),
    "results": ("results", "list the tables of the results and their columns"),
    "status": ("status", "show the progress of a running workflow"),
    "report": ("report", "make everything, including the report"),
    "new-report": ("new_report", "write the skeleton of a report of your own"),
    "trace": ("trace", "check, plot, cut and convert recordings of links"),
    "verify": ("verify", "check that results are intact and up to date"),
    "doctor": ("doctor", "check this machine and suggest remedies"),
}


@cache
def commands() -> dict[str, tuple[str, str]]:
    """Returns module and help of each command, of the core and of the tools."""
    found = {name: (f"kneepoint.cli.{module}", does) for name, (module, does) in _CORE.items()}
    for tool, declared in import_module("kneepoint.tools").declared("COMMANDS").items():
        found |= {name: (f"{tool}.{module}", does) for name, (module, does) in declared.items()}
    return found


class _Commands(click.Group):
    """Imports a subcommand only when it is called, so that every subcommand starts fast."""

    def list_commands(self, _: click.Context) -> list[str]:
        return list(commands())

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        if name not in commands():
            return None
        command: click.Command = import_module(commands()[name][0]).command
        command.name = name
        return command

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, does) for name, (_, does) in commands().items()])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(VERSION, prog_name="kneepoint")
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
    """Makes a command from a function, with examples; the command's help shows all defaults."""
    command = click.command(context_settings={"show_default": True})
    return lambda function: command(examples(text)(function))


def _known(key: str) -> Any:
    """Returns the value of a key in the current command's context; None without a command."""
    context = click.get_current_context(silent=True)
    return context and context.meta.get(key)


def path_in_project(path: Path) -> Path:
    """Converts a path relative to the folder of the call into a path relative to the project."""
    called_from = _known(_CALLED_FROM)
    return seen_from(Path.cwd(), called_from / path) if called_from else path


def path_for_caller(path: Path) -> Path:
    """Converts a path relative to the project into a path relative to the folder of the call."""
    called_from = _known(_CALLED_FROM)
    if called_from and called_from.is_relative_to(Path.cwd()):
        return Path(os.path.relpath(path, called_from))
    return path.absolute() if called_from else path


def results_here(results: Path) -> Path:
    """Returns the project's results or, without a project, `results` in the folder of the call.

    Raises:
        KneepointError: the folder of the call belongs to another user.
    """
    if not _known(_WITHOUT_PROJECT):
        return results
    here = path_in_project(results)
    require_own(here, "change to a folder of your own")
    return here


class _OutputPath(click.Path):
    """The path of a file to write, with one of the given suffixes, if any; makes its folder."""

    def __init__(self, *suffixes: str) -> None:
        super().__init__(path_type=Path)
        self._suffixes = suffixes

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Raises KneepointError if the file cannot be written, before any work."""
        path = path_in_project(Path(str(super().convert(value, param, ctx))))
        if self._suffixes and path.suffix not in self._suffixes:
            raise KneepointError(f"{path}: unknown figure format; use .png, .svg or .pdf")
        require_place(path, param.opts[0] if param else self.name)
        return path


class FiniteRange(click.FloatRange):
    """A range of finite numbers; click's ranges contain NaN."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Raises KneepointError if the number is NaN or infinite."""
        found = float(super().convert(value, param, ctx))
        if not math.isfinite(found):
            name = param.opts[0] if param else self.name
            raise KneepointError(f"{name} {value}: is not a finite number; correct it")
        return found


class _GivenPath(click.Path):
    """A path relative to the folder of the call (see kneepoint.common.project)."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """Returns the path relative to the project."""
        return path_in_project(Path(str(super().convert(value, param, ctx))))


PATH = _GivenPath()
OUTPUT = _OutputPath()
FIGURE = _OutputPath(".png", ".svg", ".pdf")


def _of_project(context: click.Context, _: click.Parameter, config: Path | None) -> Path:
    return _enter_checked(context, config or require_config_here())


def _of_project_or_shipped(context: click.Context, _: click.Parameter, config: Path | None) -> Path:
    return _enter_checked(context, config or find_config(current_folder()))


def _enter_checked(context: click.Context, config: Path | None) -> Path:
    """Enters a project after checking its main file, so that an invalid file has no effect."""
    if config is not None:
        require_config(config, "--config")
        read_settings(config)
    return _enter(context, config)


def _of_project_or_wrong(context: click.Context, _: click.Parameter, config: Path | None) -> Path:
    """Enters a project without checks, for `kneepoint doctor`, which reports mistakes itself."""
    found = config or find_config(current_folder())
    return found if found and not found.is_file() else _enter(context, found)


def _enter(context: click.Context, config: Path | None) -> Path:
    """Makes the folder of the project, or of the shipped project, the current folder."""
    context.meta[_CALLED_FROM] = current_folder()
    if config is None:
        context.meta[_WITHOUT_PROJECT] = True
        return enter_shipped()
    require_config(config, "--config")
    return enter(config)


def _possible(_: click.Context, __: click.Parameter, cores: str) -> str:
    require_cores(cores, "--cores")
    return cores


def _config_option(callback: Callable[..., Path], without: str) -> Callable[[F], F]:
    return click.option(
        "--config",
        type=click.Path(path_type=Path),
        callback=callback,
        is_eager=True,  # later options need the project as current folder
        help=f"Configuration file of the project.  [default: config.yaml or config/config.yaml, "
        f"in this folder or above{without}]",
    )


config_option = _config_option(_of_project, "")
shipped_option = _config_option(_of_project_or_shipped, "; otherwise the shipped configuration")
"""The option --config of commands that need no project."""
examined_option = _config_option(_of_project_or_wrong, "; otherwise the shipped configuration")
"""The option --config of commands that report mistakes of a project."""
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def common_options(function: F) -> F:
    """Adds --config and --json."""
    return config_option(json_option(function))


def common_options_anywhere(function: F) -> F:
    """Adds --json, and --config of commands that need no project."""
    return shipped_option(json_option(function))


seed_option = click.option("--seed", type=click.IntRange(0), default=1)
cores_option = click.option(
    "--cores", default="all", callback=_possible, help="Number of cores, or all."
)


def print_result(content: object, text: str, as_json: bool, *, ok: bool = True) -> None:
    """Prints `content` as JSON if `as_json`, otherwise `text`; exits with status 1 if not `ok`."""
    click.echo(json.dumps(content, indent=2, ensure_ascii=False) if as_json else text)
    if not ok:
        sys.exit(1)


def main(words: Sequence[str] | None = None) -> None:
    """Runs a command line (None: this process's); run_command_line reports its errors."""
    run_command_line(partial(_run, words))


def _run(words: Sequence[str] | None) -> None:
    try:
        kneepoint.main(words, prog_name="kneepoint", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        error.show()
        sys.exit(2)
    except click.UsageError as error:
        said = error.format_message().rstrip(".").replace("valid integer range", "whole number")
        said = said.replace("valid float range", "number")
        of = error.ctx.command_path if error.ctx else "kneepoint"
        raise KneepointError(f"{said}; see `{of} --help`") from None
    except click.Abort:  # click's translation of Ctrl-C
        raise KeyboardInterrupt from None
