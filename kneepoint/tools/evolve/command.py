"""`kneepoint evolve`: searches for a rule, from random or given rules."""

import json
import shlex
import sys
from contextlib import closing
from functools import partial
from pathlib import Path

import click

from kneepoint.cli import (
    PATH,
    FiniteRange,
    common_options_anywhere,
    print_result,
    results_here,
    seed_option,
    subcommand,
)
from kneepoint.cli.runs import make_what_is_missing, prepared_network
from kneepoint.common.columns import columns
from kneepoint.common.errors import KneepointError
from kneepoint.common.files import write_whole
from kneepoint.engines.built import EMULATE
from kneepoint.engines.catalogue import load_catalogue
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.runs.executor import LocalExecutor
from kneepoint.runs.journal import open_journal
from kneepoint.runs.load import load_workflow
from kneepoint.runs.pipeline import follow
from kneepoint.runs.progress import Progress
from kneepoint.runs.runner import Runner
from kneepoint.search.language import rules_of
from kneepoint.tools.evolve.evolve import Evolution, EvolutionEffort, evolve

_DEFAULT = EvolutionEffort()


@subcommand("""
    kneepoint evolve
    kneepoint evolve --network contest --network verizon-lte-driving-2 --rounds 10 --seed 2
    kneepoint evolve --start rules.txt --json | jq .front
""")
@click.option(
    "--network",
    "networks",
    multiple=True,
    default=("contest",),
    help="Name of a network (see `kneepoint list networks`); repeated: geometric mean of powers.",
)
@click.option("--rounds", type=click.IntRange(1), default=_DEFAULT.rounds)
@click.option(
    "--trials",
    type=click.IntRange(1),
    default=_DEFAULT.trials,
    help="Rules per round, and as many trials for the literals of the best rules.",
)
@click.option(
    "--penalty",
    type=FiniteRange(0, 1),
    default=_DEFAULT.penalty,
    help="Share by which each operator reduces the score of a rule.",
)
@click.option("--start", type=PATH, help="File of initial rules, one per line.")
@click.option(
    "--workers",
    type=click.IntRange(1),
    help="Number of simultaneous runs.  [default: number of processors]",
)
@seed_option
@common_options_anywhere
def command(
    networks: tuple[str, ...],
    start: Path | None,
    rounds: int,
    trials: int,
    penalty: float,
    workers: int | None,
    seed: int,
    config: Path,
    as_json: bool,
) -> None:
    """Search for a rule with the greatest power.

    Each round generates rules and optimizes the literals of the best rules. The command prints the
    best rule, its power with fresh seeds, and the best rule of each length. The search resumes if
    you run it again. If interrupted, it writes the best rule so far to a file for --start.
    """
    first = rules_of(start) if start else []
    if len({*networks}) != len(networks):
        raise KneepointError(f"--network {' '.join(networks)}: names a network twice; remove it")
    make_what_is_missing(config, networks, ["rule"])
    controller = load_catalogue(EMULATE).controller("rule", "kneepoint evolve")
    engine = EmulatorSettings.of(EMULATE)
    wanted = EvolutionEffort(rounds, trials, penalty)
    folder = (
        results_here(load_workflow(config).results) / "evolved" / "-".join([*networks, str(seed)])
    )
    so_far = Evolution()
    progress = Progress("evolve", None, detail=partial(_progress_text, so_far, wanted))
    with open_journal(folder) as journal:
        prepared = [prepared_network(name) for name in networks]
        runner = Runner(journal, lambda _: LocalExecutor(engine, workers), progress.add)
        with closing(runner):
            steps = evolve(wanted, controller, prepared, engine, seed, first, so_far)
            try:
                found = follow(steps, runner)
            except KeyboardInterrupt:
                progress.end(_write_interrupted(so_far, wanted, folder / "best.txt"))
                raise
    path = folder / "evolved.json"
    write_whole(path, json.dumps(found, indent=2) + "\n")
    fresh = found["fresh"]
    progress.end(f"{found['runs']} runs, best {found['value']:.4g}")
    rows = [("operators", "value", "rule")]
    rows += [(str(e["operators"]), f"{e['value']:.4g}", e["rule"]) for e in found["front"]]
    text = (
        f"{columns(rows)}\n\nbest {fresh['value']:.4g} [{fresh['low']:.4g}, {fresh['high']:.4g}] "
        f"with fresh seeds ({fresh['runs']} runs):\n{found['rule']}\n{path}"
    )
    print_result(found, text, as_json)


def _progress_text(found: Evolution, wanted: EvolutionEffort) -> str:
    """Returns the progress of a search and its best value so far."""
    best = f", best {found.curve[-1][1]:.4g} in the search" if found.curve else ""
    return f"{found.trials} of at most {wanted.max_trials} trials{best}"


def _write_interrupted(found: Evolution, wanted: EvolutionEffort, path: Path) -> str:
    """Writes the best rule of an interrupted search; returns its text and how to resume."""
    resume = f"to resume: {shlex.join(['python', '-m', 'kneepoint', *sys.argv[1:]])}"
    if not found.values:
        return f"interrupted before the first trial; {resume}"
    best = found.ranked(wanted, 1)[0]
    write_whole(path, f"{best.text}\n")
    value = found.values[best.text]
    return (
        f"{_progress_text(found, wanted)}\nbest so far {value:.4g}: {best.text}\n{path}\n{resume}"
    )
