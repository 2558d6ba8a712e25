"""`kneepoint run`: metrics of one run, and plots of rate, delay, window and RTT over time."""

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import get_args

import click

from kneepoint.cli import (
    FIGURE,
    FiniteRange,
    common_options_anywhere,
    print_result,
    seed_option,
    subcommand,
)
from kneepoint.cli.runs import (
    controller_given,
    engine_of,
    is_path,
    make_what_is_missing,
    parameters_of,
    prepared_network,
    run_once,
    spec_of,
    without_fault,
)
from kneepoint.common.columns import columns
from kneepoint.common.errors import KneepointError
from kneepoint.common.places import BUILT
from kneepoint.config.study import SearchEngine
from kneepoint.engines.base import EngineSettings, RunRecord, RunSpec
from kneepoint.engines.limits import LIMITS


@subcommand("""
    kneepoint run fixed_window --set window=12
    kneepoint run timely --network verizon-lte-driving-1 --seed 3 --plot timely.svg
    kneepoint run ./mine.so --set limit_ms=80 --json
    kneepoint run fixed_window --engine mahimahi --duration-s 10
""")
@click.argument("controller")
@click.option(
    "--set", "sets", multiple=True, metavar="NAME=VALUE", help="Set a parameter of the controller."
)
@click.option(
    "--network", default="contest", help="Name of a network (see `kneepoint list networks`)."
)
@click.option("--engine", type=click.Choice(get_args(SearchEngine)), default="emulator")
@seed_option
@click.option(
    "--duration-s",
    type=FiniteRange(0, min_open=True),
    help="End the run after this many seconds.",
)
@click.option(
    "--plot",
    type=FIGURE,
    help="Plot rate, delay, window and RTT over time into a PNG, SVG or PDF file.",
)
@common_options_anywhere
def command(
    controller: str,
    sets: tuple[str, ...],
    network: str,
    engine: str,
    seed: int,
    duration_s: float | None,
    plot: Path | None,
    config: Path,
    as_json: bool,
) -> None:
    """Run CONTROLLER once on one network.

    CONTROLLER is the name of a controller (see `kneepoint list controllers`) or the path of a
    shared object. Parameters that you do not set have their defaults. The command first builds the
    controller and prepares the network if necessary.
    """
    if is_path(controller) and LIMITS[engine].is_real_time:
        raise KneepointError(
            f"{controller}: real runs accept no path; put the source into controllers/ of your "
            "project, beside its configuration, and give its name"
        )
    controller = controller_given(controller)
    programs = [BUILT / name for name in LIMITS[engine].programs]
    make_what_is_missing(config, [network], [controller], programs)
    settings = engine_of(engine, config)
    prepared = prepared_network(network)
    prepared = settings.place(replace(prepared, duration_s=duration_s or prepared.duration_s))
    parameters: dict[str, float] = {}
    for text in sets:
        name, _, value = text.partition("=")
        parameters |= parameters_of({name: value}, f"--set {text}")
    spec = spec_of(settings, controller, parameters, prepared, seed, "kneepoint run")
    run_and_print(settings, spec, f"{Path(controller).stem} on {network}", plot, as_json)


def run_and_print(
    settings: EngineSettings,
    spec: RunSpec,
    title: str,
    plot: Path | None,
    as_json: bool,
    *,
    noun: str = "window",
    notes: Sequence[str] = (),
) -> None:
    """Executes and prints a run, and plots it (see `draw`) if it succeeds and a path is given."""
    if plot:
        from kneepoint.reports.over_time import run_and_draw  # matplotlib takes a second

        record = without_fault(run_and_draw(settings, spec, title, plot, noun))
    else:
        record = run_once(settings, spec)
    drawn = str(plot) if plot and record.status == "ok" else None
    found = {
        "controller": spec.controller,
        "parameters": dict(spec.parameters),
        "network": spec.network.name,
        "engine": spec.engine,
        "seed": spec.seed,
        **asdict(record),
        "plot": drawn,
    }
    remarks = [*notes, *([drawn] if drawn else [])]
    text = "\n".join([text_of(spec, record), *([""] if remarks else []), *remarks])
    print_result(found, text, as_json, ok=record.status == "ok")


def text_of(spec: RunSpec, record: RunRecord) -> str:
    """Returns a run as text for the terminal."""
    parameters = ", ".join(f"{name} = {value:g}" for name, value in spec.parameters.items())
    head = f"{Path(spec.controller).stem} on {spec.network.name}, {spec.engine}, seed {spec.seed}"
    head += f"\n{parameters}" if parameters else ""
    if record.status != "ok":
        return f"{head}\nfailed: {record.reason}"
    assert record.utilization is not None
    rows = [
        (
            "throughput",
            f"{record.throughput_mbps:.3f} Mbit/s",
            f"{100 * record.utilization:.1f} % of {record.capacity_mbps:.3f}",
        ),
        ("signal delay", f"{record.signal_delay_p95_ms:.0f} ms", "95th percentile"),
        ("queueing delay", f"{record.queueing_delay_p95_ms:.0f} ms", "95th percentile"),
        ("power", f"{record.power:.2f} Mbit/s/s", "throughput over signal delay"),
        (
            "packets",
            f"{record.packets_sent} sent",
            f"{record.packets_delivered} delivered, {record.packets_dropped} dropped",
        ),
    ]
    return f"{head}\n\n{columns(rows)}"
