"""Reads a configuration and checks its files against each other."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Any

from kneepoint.common.config_file import complaint_of, names_in, read_config
from kneepoint.common.errors import KneepointError, require_known
from kneepoint.config.comparison import Comparison, Repeat
from kneepoint.config.published import load_table
from kneepoint.config.report import load_section
from kneepoint.config.study import NETWORK, Range, Study
from kneepoint.config.workflow import Workflow
from kneepoint.engines.limits import LIMITS
from kneepoint.networks.config import Network, changed, load_network, load_trace_catalogue
from kneepoint.networks.traffic import TrafficFile
from kneepoint.runs.question import questions, reserved
from kneepoint.runs.registry import experiments_of
from kneepoint.runs.settings import read_settings


def load_workflow(config: Path) -> Workflow:
    """Reads the configuration and every file that it names.

    Raises:
        KneepointError: a file is missing or malformed, or two files disagree.
    """
    settings = read_settings(config)
    studies = {name: _load(config, "studies", name, Study) for name in settings.studies}
    repeats = {name: _load(config, "repeats", name, Repeat) for name in settings.repeats}
    comparisons = {
        name: _load(config, "comparisons", name, Comparison) for name in settings.comparisons
    }
    used = [study.traffic for study in studies.values() if study.traffic]
    used += [name for each in comparisons.values() for name in each.traffic]
    traffic = {name: _load(config, "traffic", name, TrafficFile) for name in dict.fromkeys(used)}
    tables = {
        table: load_table(config, table) for study in studies.values() for table in study.tables
    }
    for name, table in tables.items():
        for network in dict.fromkeys(table.networks.values()):
            load_network(config, network, f"{config.parent / 'published' / name}.yaml")
    own_sections = settings.report.files if settings.report else ()
    sections = {name: load_section(config, name) for name in own_sections}
    workflow = Workflow(
        config, settings, studies, repeats, comparisons, traffic, tables, {}, sections
    )
    every = questions().values()
    named = [each for question in every for each in question.named_settings(workflow)]
    workflow = replace(workflow, named_settings=named)
    _check_studies(workflow)
    workflow = replace(workflow, networks=_load_networks(workflow))
    _check_searched_networks(workflow)
    _check_fitted_hosts(workflow)
    _check_starts(workflow)
    for question in every:
        question.check(workflow)
    return workflow


def _load_networks(workflow: Workflow) -> dict[str, Network]:
    """Reads the networks of all experiments; refuses networks that an engine cannot emulate."""
    config = workflow.path
    networks: dict[str, Network] = {}
    experiments = experiments_of(workflow).values()
    engines = {each.engine for each in experiments if not each.is_extra}
    for experiment in experiments:
        for name in experiment.networks:
            networks[name] = networks.get(name) or load_network(config, name, str(experiment.file))
            if experiment.engine in engines:
                where = f"{experiment.file}: network {name}: "
                _require(networks[name], experiment.engine, where)
    traced = {name: network for name, network in networks.items() if network.trace_names}
    catalogue = load_trace_catalogue(config) if traced else {}
    for name, network in traced.items():
        for trace in network.trace_names:
            where = f"{config.parent / 'networks' / name}.yaml"
            problem = f"{where}: trace {trace!r} is not in traces.yaml"
            require_known(trace, sorted(catalogue), problem)
    return networks


def _load(config: Path, folder: str, name: str, model: type[Any]) -> Any:
    path = config.parent / folder / f"{name}.yaml"
    problem = f"{config}: {folder} lists {name!r}, but {path} does not exist"
    require_known(name, names_in(path.parent), problem)
    return read_config(path, model)


def _check_studies(workflow: Workflow) -> None:
    """Refuses reserved names, and tables and starts that do not fit the study."""
    for name, study in workflow.studies.items():
        path = workflow.file("studies", name)
        if name in reserved():
            raise KneepointError(f"{workflow.path}: {name!r} is a reserved name; rename the study")
        for table_name in study.tables:
            table = workflow.tables[table_name]
            if table.description.controller != study.controller:
                raise KneepointError(
                    f"{path}: controller is {study.controller}, but table {table_name} describes "
                    f"{table.description.controller}; make them agree"
                )
            missing = {row.network for row in table.rows if row.network} - {*study.networks}
            if table_name == study.table and missing:
                raise KneepointError(
                    f"{path}: networks lack {', '.join(sorted(missing))}, on which table "
                    f"{table_name} has rows; add the missing networks"
                )
            if table_name in (study.table, *study.fit) and not table.replayable:
                raise KneepointError(
                    f"{path}: no row of table {table_name} has all its parameters; choose another"
                )
        for first in study.start.studies:
            problem = (
                f"{path}: start names the study {first!r}, which {workflow.path} does not list"
            )
            require_known(first, workflow.studies, problem)
            other = workflow.studies[first]
            if other.controller != study.controller:
                raise KneepointError(
                    f"{path}: start names {first}, a study of {other.controller}, but the "
                    f"controller is {study.controller}; make them agree"
                )
    if cycle := _cycle({name: study.start.studies for name, study in workflow.studies.items()}):
        path = workflow.file("studies", cycle[-1])
        raise KneepointError(f"{path}: start leads back to {cycle[-1]} itself; remove it")


def _cycle(needs: Mapping[str, Iterable[str]]) -> list[str]:
    """Returns a cycle of needs, in which each element is needed by the next; [] without a cycle."""
    try:
        TopologicalSorter(needs).prepare()
    except CycleError as error:
        cycle: list[str] = error.args[1]
        return cycle
    return []


def _check_searched_networks(workflow: Workflow) -> None:
    """Refuses spaces of network parameters that contain an invalid network."""
    for name, study in workflow.studies.items():
        ranges = {
            parameter.removeprefix(NETWORK): searched
            for parameter, searched in study.space.items()
            if parameter.startswith(NETWORK)
        }
        for network in study.networks if ranges else ():
            for values in _extremes(ranges):
                try:
                    _require(changed(workflow.networks[network], values), study.engine, "")
                except (ValueError, KneepointError) as error:
                    point = ", ".join(
                        f"{NETWORK}{each} {value:g}" for each, value in values.items()
                    )
                    raise KneepointError(
                        f"{workflow.file('studies', name)}: space: {point} on network {network}:"
                        f" {complaint_of(error)}"
                    ) from None


def _extremes(ranges: Mapping[str, Range]) -> Iterator[dict[str, float]]:
    """Yields all corners of the space, and each listed value at the minima of the others."""
    for corner in itertools.product(*(searched.bounds for searched in ranges.values())):
        yield dict(zip(ranges, corner, strict=True))
    least = {each: searched.bounds[0] for each, searched in ranges.items()}
    for each, searched in ranges.items():
        yield from ({**least, each: value} for value in searched.values or ())


def _check_fitted_hosts(workflow: Workflow) -> None:
    """Refuses a host_from that names no fit of the host, and a fit that needs its own result."""
    fits = [name for name, study in workflow.studies.items() if study.host]
    needs: dict[str, tuple[str, ...]] = {}
    for name, network in workflow.networks.items():
        study = network.host_from
        if study is not None:
            where = f"{workflow.file('networks', name)}: host_from"
            problem = f"{where}: {study!r} is not a study of {workflow.path} that searches the host"
            require_known(study, fits, problem)
        needs[name] = workflow.studies[study].networks if study else ()
    if cycle := _cycle(needs):
        *_, fitted_on, name = cycle
        raise KneepointError(
            f"{workflow.file('networks', name)}: host_from: study "
            f"{workflow.networks[name].host_from} itself runs on {fitted_on}, so each needs the "
            "other's result; fit on a network without host_from"
        )


def _check_starts(workflow: Workflow) -> None:
    """Refuses flows, probes and measurements that could begin after the run's end."""
    studies, comparisons = workflow.studies.values(), workflow.comparisons.values()
    used = [(study.traffic, study.networks) for study in studies if study.traffic]
    used += [(traffic, each.networks) for each in comparisons for traffic in each.traffic]
    for name, networks in used:
        traffic = workflow.traffic[name]
        senders = {**traffic.flows, **traffic.probes}
        starts = {
            f"{each} begins up to {sender.latest_start_s:g} s after a run's start": (
                sender.latest_start_s,
                "start_s or start_spread_s",
            )
            for each, sender in senders.items()
        }
        starts[f"measure_from_s is {traffic.measure_from_s:g}"] = (
            traffic.measure_from_s,
            "measure_from_s",
        )
        for network in (each for each in networks if each in workflow.networks):
            end_s = workflow.networks[network].duration_s
            for what, (start_s, remedy) in starts.items():
                if end_s is not None and start_s >= end_s:
                    raise KneepointError(
                        f"{workflow.file('traffic', name)}: {what}, but on network "
                        f"{network} a run ends at {end_s:g} s; lower {remedy}, or raise the "
                        "network's duration_s"
                    )


def _require(network: Network, engine: str, where: str) -> None:
    for direction, link in network.links.items():
        LIMITS[engine].require(link, f"{where}{direction}")
