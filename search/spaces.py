"""A study's search space as Optuna's distributions, and the points of a grid or a table."""

import itertools
from collections.abc import Mapping, Sequence

from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    FloatDistribution,
    IntDistribution,
)

from kneepoint.config.published import PublishedRow
from kneepoint.config.study import NETWORK, Range, Study
from kneepoint.engines.catalogue import Controller
from kneepoint.networks.declared import declared
from kneepoint.networks.fitted_host import column_of_host
from kneepoint.networks.scenario import DELAYS_MS, OF_QUEUE

Point = Mapping[str, float]
"""A value for every searched column: parameter_*, network_*, host_*."""

PARAMETER = "parameter_"


def searched_ranges(study: Study, controller: Controller) -> dict[str, tuple[Range, bool, bool]]:
    """Returns range, is_integer and is_log of everything that a study searches, by column."""
    ranges: dict[str, tuple[Range, bool, bool]] = {}
    for name, searched in study.space.items():
        if name.startswith(NETWORK):
            is_whole = _is_whole(name.removeprefix(NETWORK), searched)
            ranges[column_of(name)] = (searched, is_whole, bool(searched.log))
            continue
        parameter = controller.parameters[name]
        is_log = parameter.is_log if searched.log is None else searched.log
        ranges[PARAMETER + name] = (searched, parameter.is_integer, is_log)
    for name, searched in study.host.items():
        is_whole = name.endswith("_us")  # times are whole microseconds
        ranges[column_of_host(name)] = (searched, is_whole, bool(searched.log))
    return ranges


def _is_whole(parameter: str, searched: Range) -> bool:
    """Returns whether a parameter of a network is searched over integers.

    A delay is searched over integers if its bounds are integers: links with a trace require whole
    milliseconds, links with a rate do not.
    """
    if parameter in DELAYS_MS:
        return all(value % 1 == 0 for value in searched.values or searched.bounds)
    name = parameter.removeprefix(OF_QUEUE)
    queues = [queue.parameters for queue in declared("queues").values()]
    whole = any(name in queue and queue[name].type == "whole" for queue in queues)
    return parameter == "synthetic.seed" or whole


def column_of(name: str) -> str:
    """Returns the column of a name in a study's space: network.queue.packets in network_..."""
    return name.replace(".", "_") if name.startswith(NETWORK) else PARAMETER + name


def make_distributions(study: Study, controller: Controller) -> dict[str, BaseDistribution]:
    """Returns the distribution of each searched column of a study with a space."""
    enumerates = study.sampler.kind == "grid"
    return {
        name: _distribution(searched, is_integer, is_log, enumerates)
        for name, (searched, is_integer, is_log) in searched_ranges(study, controller).items()
    }


def grid_points(study: Study, controller: Controller) -> list[Point]:
    """Returns every point of a grid; the first parameter of the study varies slowest."""
    ranges = searched_ranges(study, controller)
    axes = [_typed(searched.values or (), whole) for searched, whole, _ in ranges.values()]
    return [dict(zip(ranges, values, strict=True)) for values in itertools.product(*axes)]


def table_points(rows: Sequence[PublishedRow], controller: Controller) -> list[Point]:
    """Returns, for each row, the parameters that differ between rows."""
    names = [
        name
        for name in controller.parameters
        if len({row.parameters.get(name) for row in rows}) > 1 or len(rows) == 1
    ]
    return [
        {
            PARAMETER + name: controller.parameters[name].typed(row.parameters[name])
            for name in names
            if name in row.parameters
        }
        for row in rows
    ]


def point_of(study: Study, controller: Controller, given: Mapping[str, float]) -> Point | None:
    """Returns the point of a setting, defaults filled in; None if it is outside the space."""
    point: dict[str, float] = {}
    for name, searched in study.space.items():
        if name not in controller.parameters:
            return None  # of a network
        parameter = controller.parameters[name]
        value = given.get(name, parameter.default)
        if not searched.contains(value):
            return None
        point[PARAMETER + name] = parameter.typed(value)
    return point


def span_distributions(points: Sequence[Point]) -> dict[str, BaseDistribution]:
    """Returns distributions from the minimum to the maximum of each column."""
    spans: dict[str, BaseDistribution] = {}
    for name in points[0]:
        values = [point[name] for point in points]
        kind = IntDistribution if all(isinstance(v, int) for v in values) else FloatDistribution
        spans[name] = kind(min(values), max(values))  # type: ignore[arg-type]
    return spans


def _distribution(
    searched: Range, is_integer: bool, is_log: bool, enumerates: bool
) -> BaseDistribution:
    if searched.values is not None and not enumerates:
        return CategoricalDistribution(_typed(searched.values, is_integer))
    low, high = searched.bounds
    log = is_log and not enumerates
    if is_integer:
        return IntDistribution(int(low), int(high), log=log)
    return FloatDistribution(low, high, log=log)


def _typed(values: Sequence[float], is_integer: bool) -> list[float]:
    return [int(value) if is_integer else float(value) for value in values]
