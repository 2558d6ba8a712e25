"""`kneepoint compare`: compares two settings in paired runs, with an interval and a verdict."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import click

from kneepoint.cli import FIGURE, common_options_anywhere, print_result, subcommand
from kneepoint.cli.comparison import COMPARABLE, Pairs, compare_settings, failures_in, text_of
from kneepoint.cli.runs import (
    controller_given,
    is_path,
    is_prepared,
    make_what_is_missing,
    parameters_of,
    prepared_network,
    spec_of,
    without_fault,
)
from kneepoint.common.errors import KneepointError
from kneepoint.engines.base import RunRecord, RunSpec
from kneepoint.engines.built import EMULATE
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.networks.config import known_networks, load_network
from kneepoint.networks.declared import Notation
from kneepoint.networks.scenario import PreparedNetwork
from kneepoint.runs.executor import LocalExecutor
from kneepoint.runs.settings import read_settings
from kneepoint.stats.paired import min_pairs
from kneepoint.workflow.make import NotMadeError

MIN_RUNS = 8


@subcommand("""
    kneepoint compare timely bounded_aimd
    kneepoint compare fixed_window:window=12 fixed_window:window=15 --network contest --runs 30
    kneepoint compare timely:beta=0.9,keepalive_ms=80 ./mine.so:limit_ms=80 --metric signal-delay
    kneepoint compare copa timely --networks all
    kneepoint compare reno cubic --plot reno-cubic.svg
    kneepoint compare reno cubic --json | jq .overall
""")
@click.argument("a")
@click.argument("b")
@click.option(
    "--network",
    "networks",
    multiple=True,
    metavar="NAME",
    help="Name of a network (see `kneepoint list networks`); may be repeated. [default: training "
    "and held-out networks of the configuration]",
)
@click.option(
    "--networks",
    "every",
    type=click.Choice(["all"]),
    help="All networks on which a single flow can run.",
)
@click.option(
    "--runs",
    type=click.IntRange(1),
    help="Runs of each setting on each network. [default: 8, or as many as a verdict on each "
    "network needs: 10 for 15 networks]",
)
@click.option("--seed", type=click.IntRange(0), default=1, help="Seed of the first run.")
@click.option("--metric", type=click.Choice(list(COMPARABLE)), default="power")
@click.option(
    "--plot",
    type=FIGURE,
    help="Plot the ratio on each network, with its interval, into a PNG, SVG or PDF file.",
)
@common_options_anywhere
def command(
    a: str,
    b: str,
    networks: tuple[str, ...],
    every: str | None,
    runs: int | None,
    seed: int,
    metric: str,
    plot: Path | None,
    config: Path,
    as_json: bool,
) -> None:
    """Compare the settings A and B in pairs of runs that share network and seed.

    A setting is CONTROLLER or CONTROLLER:NAME=VALUE,NAME=VALUE, where CONTROLLER is the name of a
    controller (see `kneepoint list controllers`) or the path of a shared object. Parameters that
    you do not set have their defaults. Runs take place in virtual time. The command first builds
    the controllers and prepares the networks if necessary. docs/statistics.md explains the
    interval, the test and the verdict.
    """
    wanted = [setting_of(text) for text in (a, b)]
    if every and networks:
        raise KneepointError("--networks all stands for all networks; remove --network")
    controllers = [controller for controller, _ in wanted]
    names, left_out = _networks(config, networks, controllers, bool(every))
    prepared = [prepared_network(name) for name in names]
    settings = EmulatorSettings.of(EMULATE)
    specs = [
        spec_of(settings, controller, parameters, prepared[0], seed, "kneepoint compare")
        for controller, parameters in wanted
    ]
    if specs[0].run_id == specs[1].run_id:
        raise KneepointError(f"{a} and {b} are the same setting; change one of them")
    runs = runs or max(MIN_RUNS, min_pairs(len(names)))
    pairs = _run(settings, specs, prepared, range(seed, seed + runs))
    found = compare_settings(specs, COMPARABLE[metric], pairs, left_out, seed)
    if plot:
        from kneepoint.cli.drawings import draw_ratios  # matplotlib takes a second

        draw_ratios(found, [Path(controller).stem for controller in controllers], plot)
    text = text_of(found, [_title(*each) for each in wanted])
    print_result(found, text, as_json, ok=not failures_in(found))


def setting_of(text: str) -> tuple[str, Mapping[str, float]]:
    """Parses CONTROLLER:NAME=VALUE,...; raises KneepointError for other texts."""
    try:
        notation = Notation.parse(text)
    except ValueError:
        raise KneepointError(f"{text}: not CONTROLLER:NAME=VALUE,...; correct it") from None
    return controller_given(notation.kind), parameters_of(notation.parameters, text)


def _title(controller: str, parameters: Mapping[str, float]) -> str:
    name = Path(controller).stem if is_path(controller) else controller
    given = ", ".join(f"{key} = {value:g}" for key, value in parameters.items())
    return f"{name}, {given}" if given else f"{name} with its defaults"


def _networks(
    config: Path, named: Sequence[str], controllers: Sequence[str], every: bool = False
) -> tuple[list[str], list[str]]:
    """Prepares networks; returns the prepared networks, and default networks that fail."""
    if named:
        names = list(dict.fromkeys(named))
        make_what_is_missing(config, names, controllers)
        return names, []
    held_out = read_settings(config).hold_out
    if every:
        names = [name for name in known_networks(config) if not _has_classes(config, name)]
    elif held_out is None:
        raise KneepointError(f"{config}: has no hold_out; name networks: --network NAME")
    else:
        names = [held_out.training, *held_out.networks]
    for name in names:
        load_network(config, name)
    make_what_is_missing(config, [], controllers)
    try:
        make_what_is_missing(config, names, [], keep_going=True)
        return names, []
    except (KneepointError, NotMadeError):
        made = [name for name in names if _is_made(config, name)]
        if not made:
            raise
        return made, [name for name in names if name not in made]


def _has_classes(config: Path, network: str) -> bool:
    """Returns whether a network's queue expects flows of several classes."""
    queue = Notation.parse(load_network(config, network).uplink_queue)
    return float(queue.parameters.get("classes", 1)) > 1


def _is_made(config: Path, network: str) -> bool:
    """Returns whether a network is up to date with the configuration after the preparation."""
    if load_network(config, network).host_from is None:
        return is_prepared(config, network)
    try:  # a study finds the host; only Snakemake knows whether it is up to date
        make_what_is_missing(config, [network], [])
    except (KneepointError, NotMadeError):
        return False
    return True


def _run(
    settings: EmulatorSettings,
    specs: Sequence[RunSpec],
    networks: Sequence[PreparedNetwork],
    seeds: range,
) -> dict[str, Pairs]:
    """Returns the runs of both settings by network."""
    planned = {
        (network.name, seed): [replace(spec, network=network, seed=seed) for spec in specs]
        for network in networks
        for seed in seeds
    }
    records: dict[str, RunRecord] = {}
    with closing(LocalExecutor(settings)) as executor:
        for ended in executor.execute([spec for pair in planned.values() for spec in pair]):
            records |= {record.run_id: without_fault(record) for record in ended}
    found: dict[str, dict[int, tuple[RunRecord, RunRecord]]] = {}
    for (name, seed), (a, b) in planned.items():
        found.setdefault(name, {})[seed] = records[a.run_id], records[b.run_id]
    return dict(found)
