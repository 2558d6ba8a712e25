"""`kneepoint fit-path`: fits an emulated network to measurements of a path."""

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from pathlib import Path

import click
import yaml

from kneepoint.cli import (
    OUTPUT,
    PATH,
    common_options_anywhere,
    print_result,
    seed_option,
    subcommand,
)
from kneepoint.cli.runs import make_what_is_missing, prepared_network, spec_of, without_fault
from kneepoint.common.columns import columns
from kneepoint.common.config_file import complaint_of, read_config
from kneepoint.common.errors import KneepointError
from kneepoint.common.files import write_whole
from kneepoint.config.study import NETWORK
from kneepoint.engines.base import RunRecord
from kneepoint.engines.built import EMULATE
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.networks.config import Network, changed, load_network
from kneepoint.runs.executor import LocalExecutor
from kneepoint.tools.fit_path.path import Asked, Fitted, PathDescription, fit_path

DOUBTFUL = 0.01
"""The p value below which the command reports that no single network explains all schemes."""


@subcommand("""
    kneepoint fit-path path.yaml
    kneepoint fit-path path.yaml --into config/networks/path.yaml
    kneepoint fit-path path.yaml --json | jq .parameters
""")
@click.argument("path", type=PATH)
@click.option(
    "--into", type=OUTPUT, help="Write the network to this file, for example networks/NAME.yaml."
)
@click.option(
    "--workers",
    type=click.IntRange(1),
    help="Number of simultaneous runs.  [default: number of processors]",
)
@seed_option
@common_options_anywhere
def command(
    path: Path, into: Path | None, workers: int | None, seed: int, config: Path, as_json: bool
) -> None:
    """Fit a network to measurements of a few schemes over one path.

    PATH is a file with the initial network, the ranges of the unknown parameters, and the
    measurements of each scheme: see docs/how-to/fit-a-path.md. The command prints each parameter
    with its interval (simultaneous, 95 %), and each measurement with the prediction of a fit
    without that scheme.
    """
    described = read_config(path, PathDescription)
    network = load_network(config, described.network, str(path))
    for end in (0, 1):
        bounds = {name: each.bounds[end] for name, each in described.space.items()}
        require(network, bounds, path)
    schemes = described.schemes
    controllers = [each.controller for each in schemes]
    make_what_is_missing(config, [described.network], controllers, where=str(path))
    engine = EmulatorSettings.of(EMULATE)
    start = prepared_network(described.network)

    known = {
        id(each): spec_of(engine, each.controller, each.parameters, start, 0, str(path))
        for each in schemes
    }
    with closing(LocalExecutor(engine, workers)) as executor:

        def run(asked: Sequence[Asked]) -> list[RunRecord]:
            specs = [replace(known[id(each)], network=on, seed=own) for each, on, own in asked]
            found = {r.run_id: without_fault(r) for some in executor.execute(specs) for r in some}
            return [found[spec.run_id] for spec in specs]

        fitted = fit_path(described, start, run, seed)
    values = {name: each.value for name, each in fitted.parameters.items()}
    content = require(network, values, path).model_dump(exclude_defaults=True)
    text = yaml.safe_dump({**content, "title": described.title}, sort_keys=False)
    if into is not None:
        write_whole(into, text)
    print_result({**asdict(fitted), "network": content}, text_of(path, fitted, text, into), as_json)


def require(network: Network, values: Mapping[str, float], path: Path) -> Network:
    """Returns the network with these parameters; raises KneepointError if they are invalid."""
    of_network = {
        name.removeprefix(NETWORK): value
        for name, value in values.items()
        if name.startswith(NETWORK)
    }
    try:
        found = changed(network, of_network)
        host = {name: round(values[name]) for name in values if not name.startswith(NETWORK)}
        return Network.model_validate(found.model_dump() | host)
    except ValueError as error:
        point = ", ".join(f"{name} {value:g}" for name, value in values.items())
        raise KneepointError(f"{path}: space: {point}: {complaint_of(error)}") from None


def text_of(path: Path, fitted: Fitted, network: str, into: Path | None) -> str:
    """Returns a fit as text for the terminal."""
    parameters = [("parameter", "value", "interval")] + [
        (name, f"{each.value:g}", f"{each.low:g} to {each.high:g}")
        for name, each in fitted.parameters.items()
    ]
    figures = [("scheme", "figure", "measured", "fitted", "left out")] + [
        (
            each.controller,
            each.metric,
            *(f"{x:.4g}" for x in (each.measured, each.fitted, each.left_out)),
        )
        for each in fitted.figures
    ]
    verdict = f"One network explains all schemes (p {fitted.misfit_p:.2g})."
    if fitted.misfit_p < DOUBTFUL:
        verdict = (
            f"{path}: no network within the ranges explains all schemes (p {fitted.misfit_p:.2g}); "
            f"{fitted.worst} contradicts the others most: check its figures, or widen the ranges"
        )
    return f"{columns(parameters)}\n\n{columns(figures)}\n\n{verdict}\n{into or network}"
