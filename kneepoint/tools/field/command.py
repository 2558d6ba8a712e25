"""`kneepoint field`: the report that compares all controllers."""

from collections.abc import Callable
from pathlib import Path

import click
import pandas as pd
from jinja2 import Environment, StrictUndefined

from kneepoint.cli import cores_option, json_option, print_result, report, subcommand
from kneepoint.common.errors import require_known
from kneepoint.common.places import SHIPPED
from kneepoint.common.project import enter
from kneepoint.runs.load import load_workflow

CONFIG = SHIPPED / "field.yaml"
TEMPLATE = Path(__file__).parent / "templates/rfc9743.md.jinja"


@subcommand("""
    kneepoint field
    kneepoint field --cores 2
    kneepoint field --rfc9743 copa
""")
@click.option(
    "--rfc9743",
    "controller",
    metavar="CONTROLLER",
    help="Also print the results of this controller under the headings of RFC 9743.",
)
@cores_option
@json_option
def command(controller: str | None, cores: str, as_json: bool) -> None:
    """Make the report on all controllers, as `kneepoint report --config config/field.yaml` does.

    The report replays published tables, compares all controllers, with default and tuned
    parameters, on held-out traces, and runs each controller beside Reno, CUBIC and itself, with
    several queues, loss, a step of the delay and changes of the rate. docs/field.md gives the
    source of each controller.
    """
    config = enter(CONFIG)
    workflow = load_workflow(config)
    known = [each.controller for each in workflow.comparisons["field-conditions"].settings]
    if controller is not None:
        problem = f"--rfc9743 {controller}: {CONFIG} does not compare it"
        require_known(controller, known, problem)
    report.make(config, cores, as_json and controller is None)
    if controller is not None:
        from kneepoint.analysis.opened import open_results  # pyarrow takes a second

        text = by_rfc9743(controller, known.index(controller), open_results(workflow.results).table)
        print_result({"controller": controller, "text": text}, text, as_json)


def by_rfc9743(controller: str, setting: int, table: Callable[[str], pd.DataFrame]) -> str:
    """Returns the evaluation of a controller as Markdown; `setting` is its comparisons' number."""
    figures, shares = table("traffic_figures"), table("comparison_shares")
    held = table("held_out_settings")

    def one(rows: pd.DataFrame, **place: object) -> "pd.Series[float]":
        for name, value in place.items():
            rows = rows[rows[name] == value]
        (row,) = (row for _, row in rows.iterrows())
        return row

    def figure(network: str, source: str, metric: str) -> "pd.Series[float]":
        place = {"comparison": "field-conditions", "trial": setting, "network": network}
        return one(figures, **place, source=source, metric=metric)

    def interval(row: "pd.Series[float]", factor: float, digits: int, unit: str) -> str:
        mean, low, high = (
            f"{round(factor * row[name], digits) + 0.0:.{digits}f}"  # no -0.00
            for name in ("mean", "low", "high")
        )
        return f"{mean} ({low} to {high}) {unit}"

    def rtt(network: str) -> str:
        return interval(figure(network, "ping", "rtt_mean_ms"), 1, 0, "ms")

    def both(network: str) -> str:
        goodput = interval(figure(network, "first", "goodput_mbps"), 1, 2, "Mbit/s")
        return f"{goodput}, ping {rtt(network)}"

    def loss(network: str) -> str:
        return interval(figure(network, "first", "loss"), 100, 2, "%")

    def share(traffic: str, network: str, flow: str = "first") -> str:
        place = {"trial": setting, "traffic": traffic, "network": network, "flow": flow}
        return interval(one(shares, **place), 100, 0, "%")

    def power(origin: str) -> str:
        is_there = held["origin"].isin([origin, "both"]) & held["best"]
        return f"{100 * one(held[is_there], controller=controller)['held_out']:.1f} %"

    environment = Environment(undefined=StrictUndefined)  # noqa: S701 (Markdown)
    template = environment.from_string(TEMPLATE.read_text())
    networks = table("held_out_networks")
    return template.render(
        controller=controller,
        runs=int(figure("field-droptail", "ping", "rtt_mean_ms")["n"]),
        networks=int((~networks["is_training"]).sum()),
        **{each.__name__: each for each in (rtt, both, loss, share, power)},
    )
