"""`kneepoint status`: the progress of a running workflow, experiment by experiment."""

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import click

from kneepoint.cli import common_options, print_result, subcommand
from kneepoint.runs.load import load_workflow
from kneepoint.workflow.states import State, states_of, summary_of, table_of


@subcommand("""
    kneepoint status
    watch kneepoint status
    kneepoint status --json --config config/offline.yaml
""")
@click.option("--all", "all_", is_flag=True, help="Include real-time experiments.")
@common_options
def command(all_: bool, config: Path, as_json: bool) -> None:
    """Show which experiments are done, running and waiting, and their progress."""
    states = states_of(load_workflow(config), all_)
    print_result([asdict(each) for each in states], _text(states), as_json)


def _text(states: Sequence[State]) -> str:
    left = [each for each in states if each.state != "done"]
    return f"{table_of(left)}\n\n{summary_of(states)}" if left else summary_of(states)
