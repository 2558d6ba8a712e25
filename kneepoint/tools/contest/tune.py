"""`kneepoint tune`: searches the parameters that an entry declares."""

from contextlib import closing
from pathlib import Path

import click

from kneepoint.cli import (
    PATH,
    common_options_anywhere,
    print_result,
    results_here,
    seed_option,
    subcommand,
)
from kneepoint.cli.entries import open_builder, trust_option
from kneepoint.cli.runs import prepared_network
from kneepoint.cli.study import text_of
from kneepoint.common.files import private_folder
from kneepoint.common.study_record import StudyRecord
from kneepoint.engines.built import EMULATE
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.entries.collect import submission_at, take
from kneepoint.entries.tree import recognize
from kneepoint.runs.executor import LocalExecutor
from kneepoint.runs.journal import open_journal
from kneepoint.runs.load import load_workflow
from kneepoint.runs.pipeline import follow
from kneepoint.runs.progress import Progress
from kneepoint.runs.runner import Runner
from kneepoint.search.study import search_and_repeat, total_of
from kneepoint.tools.contest.tuning import plan_tuning, tuned_text


@subcommand("""
    kneepoint tune anna
    kneepoint tune anna --trials 200 --network contest-2026 --network verizon-lte-driving-2
    kneepoint tune anna --json | jq .best
""")
@click.argument("entry", type=PATH)
@click.option(
    "--network",
    "networks",
    multiple=True,
    default=("contest-2026",),
    help="Name of a network (see `kneepoint list networks`); repeated: mean of powers.",
)
@click.option("--trials", type=click.IntRange(1), default=100)
@seed_option
@trust_option
@common_options_anywhere
def command(
    entry: Path,
    networks: tuple[str, ...],
    trials: int,
    seed: int,
    trust_entries: bool,
    config: Path,
    as_json: bool,
) -> None:
    """Search the parameters in ENTRY's kneepoint.yaml for the greatest power.

    The search is a study (TPE, starting from the declared defaults) and resumes if you run it
    again. The command prints the best setting and its power with fresh seeds.
    """
    submission = submission_at(entry)
    builder = open_builder(config, networks, is_trusting=trust_entries)
    engine = EmulatorSettings.of(EMULATE)
    folder = results_here(load_workflow(config).results) / "contests/tuned" / submission.name
    with private_folder("entry") as work, open_journal(folder) as journal:
        place = work / "tree"
        take(submission, place, builder.compiler.confined)
        tree = recognize(place)
        prepared = [prepared_network(name) for name in networks]
        plan = plan_tuning(
            submission.name, tree, builder, prepared, engine, trials=trials, seed=seed
        )
        progress = Progress(f"tune {submission.name}", total_of(plan))
        runner = Runner(
            journal, lambda _: LocalExecutor(engine), progress.add, on_failure=progress.fail
        )
        with closing(runner):
            outcome, best = follow(search_and_repeat(folder, plan), runner)
    outcome.write(folder)
    progress.end(outcome.message)
    found = StudyRecord.load(folder / "study.json")
    text = text_of(found)
    if best:
        words = tuned_text(tree.declared.parameters, best.parameters)
        text += f"\n\nFor kneepoint.yaml:\n\n{words}"
    print_result(outcome.summaries["study.json"], text, as_json, ok=found.has_succeeded)
