"""`kneepoint try`: builds one entry, runs it once and draws the run, in seconds."""

from importlib.util import find_spec
from pathlib import Path

import click

from kneepoint.cli import (
    FIGURE,
    PATH,
    common_options_anywhere,
    path_in_project,
    seed_option,
    subcommand,
)
from kneepoint.cli.entries import open_builder, trust_option
from kneepoint.cli.run import run_and_print
from kneepoint.cli.runs import prepared_network
from kneepoint.common.errors import KneepointError
from kneepoint.engines.base import RunSpec
from kneepoint.engines.built import EMULATE
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.entries.collect import submission_at
from kneepoint.tools.contest.config import IN_FLIGHT


@subcommand("""
    kneepoint try anna
    kneepoint try anna.zip --network synthetic-fast --plot anna.png
    kneepoint try anna --seed 7 --json | jq .power
""")
@click.argument("entry", type=PATH)
@click.option(
    "--network", default="contest-2026", help="Name of a network (see `kneepoint list networks`)."
)
@seed_option
@click.option(
    "--plot",
    type=FIGURE,
    help="PNG, SVG or PDF file with rate, delay, window and RTT over time.  [default: NAME.svg]",
)
@trust_option
@common_options_anywhere
def command(
    entry: Path,
    network: str,
    seed: int,
    plot: Path | None,
    trust_entries: bool,
    config: Path,
    as_json: bool,
) -> None:
    """Build ENTRY, run it once and plot the run.

    ENTRY is a source tree, an archive or a Python file. Without matplotlib, nothing is plotted.
    """
    submission = submission_at(entry)
    notes = []
    if plot is None and find_spec("matplotlib"):
        plot = path_in_project(Path(f"{submission.name}.svg"))
    elif plot is None:
        notes.append("note: the run is not plotted; to plot it: pip install 'kneepoint[pages]'")
    made = open_builder(config, [network], is_trusting=trust_entries).make(submission)
    if made.built is None:
        if made.message:
            click.echo(made.message, err=True)
        raise KneepointError(f"{entry}: {made.reason}")
    settings = EmulatorSettings.of(EMULATE)
    spec = RunSpec.on(settings, made.built, {}, prepared_network(network), seed)
    if made.is_apart:
        notes.append("note: its own receiver is not used, and a contest does not rank it")
    run_and_print(
        *(settings, spec, f"{made.name} on {network}", plot, as_json),
        noun=IN_FLIGHT,
        notes=notes,
    )
