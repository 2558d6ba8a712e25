"""`kneepoint field`: the report that sets all controllers side by side."""

from pathlib import Path

import click

from kneepoint import report
from kneepoint.cli import cores_option, examples, json_option

CONFIG = Path("config/field.yaml")


@click.command()
@examples("""
    kneepoint field
    kneepoint field --cores 2
""")
@cores_option
@json_option
def command(cores: str, as_json: bool) -> None:
    """Make the report of the field, as `kneepoint report --config config/field.yaml` does.

    It replays published tables of Vegas, CUBIC, Hybla, BIC and BBR, holds every controller with its
    defaults and tuned against others on traces that no search has seen, and shows each beside Reno,
    CUBIC and itself, behind several queues, under losses and a step of the delay. docs/field.md
    says where each controller comes from.
    """
    report.make(CONFIG, cores, as_json)
