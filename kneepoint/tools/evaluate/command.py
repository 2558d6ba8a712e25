"""`kneepoint evaluate`: scores the candidates of an external search, one per line."""

import json
import sys
from pathlib import Path

import click

from kneepoint.cli import PATH, shipped_option, subcommand
from kneepoint.cli.entries import trust_option
from kneepoint.common.errors import KneepointError


@subcommand("""
    echo '{"controller": "timely"}' | kneepoint evaluate
    kneepoint evaluate --train < candidates.jsonl > answers.jsonl
    kneepoint evaluate --test key < best.jsonl
""")
@click.option("--train", is_flag=True, help="Use only the training networks of the configuration.")
@click.option(
    "--test",
    "key",
    type=PATH,
    help="Use only the held-out networks; PATH is the file with their key.",
)
@trust_option
@shipped_option
def command(train: bool, key: Path | None, trust_entries: bool, config: Path) -> None:
    """Evaluate the candidates on standard input, one JSON object per line.

    A candidate is the name of a controller, a rule, the source of a class, or the path of an entry.
    There is one answer per line, in the same order, with a score, metrics and intervals, or with a
    reason. The exit status is 1 if a line was refused, because it is not JSON or not valid.
    """
    from kneepoint.tools.evaluate.evaluator import Evaluator  # scipy takes half a second

    if train and key is not None:
        raise KneepointError("--train --test: give only one of them")
    with Evaluator(
        config,
        split="train" if train else "test" if key is not None else None,
        key=key,
        trust_entries=trust_entries,
    ) as evaluator:
        is_refused = False
        for answer in evaluator.evaluate(sys.stdin):
            click.echo(json.dumps(answer))
            is_refused |= answer["status"] == "refused"
    sys.exit(1 if is_refused else 0)
