"""Reads a configuration and checks its files against each other."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from common.config_file import complaint_of, names_in, read_config
from common.errors import KneepointError, suggestion
from engines.base import FLOW_METRICS, LINK_METRICS, PROBE_METRICS
from engines.limits import LIMITS
from experiments.models.comparison import Comparison, Repeat
from experiments.models.report import load_section
from experiments.models.settings import HoldOut, Settings
from experiments.models.study import (
    EMULATOR,
    KERNEL,
    MAHIMAHI,
    NETWORK,
    Engine,
    Range,
    Study,
    WorstCase,
)
from experiments.published import PublishedTable, load_table
from experiments.workflow import RESERVED, Workflow
from networks.config import Network, changed, load_network, load_trace_catalogue
from networks.traffic import TrafficFile


def load_workflow(config: Path) -> Workflow:
    """Reads the configuration and every file that it names.

    Raises:
        KneepointError: a file is missing or malformed, or two files disagree.
    """
    settings = read_config(config, Settings)
    studies = {name: _load(config, "studies", name, Study) for name in settings.studies}
    repeats = {name: _load(config, "repeats", name, Repeat) for name in settings.repeats}
    comparisons = {
        name: _load(config, "comparisons", name, Comparison) for name in settings.comparisons
    }
    used = [study.traffic for study in studies.values() if study.traffic]
    used += [name for each in comparisons.values() for name in each.traffic]
    traffic = {name: _load(config, "traffic", name, TrafficFile) for name in dict.fromkeys(used)}
    for name in studies:
        if name in RESERVED:
            raise KneepointError(f"{config}: {name!r} is a reserved name; rename the study")
    tables = {
        table: load_table(config, table) for study in studies.values() for table in study.tables
    }
    for name, study in studies.items():
        _check_tables(config, name, study, tables)
    for table in names_in(config.parent / "published"):  # the analysis reads all of them
        description = (tables.get(table) or load_table(config, table)).description
        load_network(config, description.network, f"{config.parent / 'published' / table}.yaml")
    named_in = _networks_named(config, settings, studies, repeats, comparisons)
    networks = {name: load_network(config, name, where) for name, where in named_in.items()}
    _check_traces(config, networks)
    for name, study in studies.items():
        _check_searched_networks(config, name, study, networks)
    own_sections = settings.report.files if settings.report else ()
    sections = {name: load_section(config, name) for name in own_sections}
    workflow = Workflow(
        config, settings, studies, repeats, comparisons, traffic, tables, networks, sections
    )
    _check_fitted_hosts(workflow)
    _check_networks_of_engines(workflow)
    _check_starts(workflow)
    _check_warm_starts(workflow)
    _check_comparisons(workflow)
    _check_hold_out(workflow)
    _check_hardening(workflow)
    return workflow


def _networks_named(
    config: Path,
    settings: Settings,
    studies: Mapping[str, Study],
    repeats: Mapping[str, Repeat],
    comparisons: Mapping[str, Comparison],
) -> dict[str, str]:
    """Returns every network that is used, and the first file that names it."""

    def of_file(folder: str, name: str, networks: Iterable[str]) -> list[tuple[str, str]]:
        return [(each, str(config.parent / folder / f"{name}.yaml")) for each in networks]

    named: list[tuple[str, str]] = []
    for name, study in studies.items():
        named += of_file("studies", name, study.networks)
    for name, repeat in repeats.items():
        named += of_file("repeats", name, [repeat.network])
    for name, comparison in comparisons.items():
        named += of_file("comparisons", name, comparison.networks)
    held = settings.hold_out
    own = [held.training, *held.networks] if held else []
    own += [part.network for part in (settings.showcase, settings.confirm) if part]
    own += [settings.real_time.probe.network] if settings.real_time.probe else []
    named += [(network, str(config)) for network in own]
    found: dict[str, str] = {}
    for network, where in named:
        found.setdefault(network, where)
    return found


def _load(config: Path, folder: str, name: str, model: type[Any]) -> Any:
    path = config.parent / folder / f"{name}.yaml"
    if not path.is_file():
        near = suggestion(name, names_in(path.parent))
        raise KneepointError(
            f"{config}: {folder} lists {name!r}, but {path} does not exist; {near}"
        )
    return read_config(path, model)


def _check_searched_networks(
    config: Path, name: str, study: Study, networks: Mapping[str, Network]
) -> None:
    """Refuses bounds that contain an invalid network."""
    ranges = {
        parameter.removeprefix(NETWORK): searched
        for parameter, searched in study.space.items()
        if parameter.startswith(NETWORK)
    }
    for network in study.networks if ranges else ():
        for values in _extremes(ranges):
            try:
                found = changed(networks[network], values)
                _require(found, study.engine, "")
            except (ValueError, KneepointError) as error:
                point = ", ".join(f"{NETWORK}{each} {value:g}" for each, value in values.items())
                raise KneepointError(
                    f"{config.parent / 'studies' / name}.yaml: space: {point} on network {network}:"
                    f" {complaint_of(error)}"
                ) from None


def _extremes(ranges: Mapping[str, Range]) -> Iterator[dict[str, float]]:
    """Yields every corner of the bounds, and every listed value with the least of the others."""
    for corner in itertools.product(*(searched.bounds for searched in ranges.values())):
        yield dict(zip(ranges, corner, strict=True))
    least = {each: searched.bounds[0] for each, searched in ranges.items()}
    for each, searched in ranges.items():
        yield from ({**least, each: value} for value in searched.values or ())


def _check_tables(
    config: Path, name: str, study: Study, tables: Mapping[str, PublishedTable]
) -> None:
    path = config.parent / "studies" / f"{name}.yaml"
    for table_name in study.tables:
        table = tables[table_name]
        if table.description.controller != study.controller:
            raise KneepointError(
                f"{path}: controller is {study.controller}, but table {table_name} describes "
                f"{table.description.controller}; make them agree"
            )
        if table_name in (study.table, *study.fit) and not table.replayable:
            raise KneepointError(
                f"{path}: no row of table {table_name} has all its parameters; choose another"
            )


def _check_fitted_hosts(workflow: Workflow) -> None:
    """Refuses a host_from that names no fit, and a fit on a network that depends on it."""
    for name in workflow.networks:
        _check_fitted_host(workflow, name, ())


def _check_fitted_host(workflow: Workflow, name: str, before: tuple[str, ...]) -> None:
    """Checks a network that the fits of the networks `before` need."""
    study_name = workflow.networks[name].host_from
    if study_name is None:
        return
    where = f"{workflow.path.parent / 'networks' / name}.yaml: host_from"
    study = workflow.studies.get(study_name)
    if study is None or not study.host:
        fits = [each for each, found in workflow.studies.items() if found.host]
        raise KneepointError(
            f"{where}: {study_name!r} is not a study of {workflow.path} that searches the "
            f"host; {suggestion(study_name, fits)}"
        )
    for fitted_on in study.networks:
        if fitted_on in (*before, name):
            raise KneepointError(
                f"{where}: study {study_name} itself runs on {fitted_on}, so neither could "
                "come first; fit on a network without host_from"
            )
        _check_fitted_host(workflow, fitted_on, (*before, name))


def _check_networks_of_engines(workflow: Workflow) -> None:
    """Refuses networks that an experiment's engine cannot emulate."""
    folder, settings = workflow.path.parent, workflow.settings
    used: list[tuple[Engine, str, Path]] = [
        *(
            (repeat.engine, repeat.network, folder / "repeats" / f"{name}.yaml")
            for name, repeat in workflow.repeats.items()
        ),
        *(
            (study.engine, network, folder / "studies" / f"{name}.yaml")
            for name, study in workflow.studies.items()
            for network in study.networks
        ),
        *(
            (MAHIMAHI, wanted.network, workflow.path)
            for wanted in (
                settings.real_time.probe,
                settings.confirm,
                settings.confirm and settings.showcase,
            )
            if wanted
        ),
    ]
    for engine, network, where in used:
        _require(workflow.networks[network], engine, f"{where}: network {network}: ")
    for name, study in workflow.studies.items():
        if study.traffic and not LIMITS[study.engine].runs_traffic:
            raise KneepointError(
                f"{folder / 'studies' / name}.yaml: traffic runs in the emulator only; remove it"
            )


def _check_warm_starts(workflow: Workflow) -> None:
    """Refuses a start from a study that is unknown, of another controller, or later."""
    for name, study in workflow.studies.items():
        path = workflow.path.parent / "studies" / f"{name}.yaml"
        seen = [name]
        waiting = list(study.start.studies)
        while waiting:
            first = waiting.pop()
            other = workflow.studies.get(first)
            if other is None:
                raise KneepointError(
                    f"{path}: start names the study {first!r}, which {workflow.path} does not "
                    f"list; {suggestion(first, workflow.studies)}"
                )
            if first == name:
                raise KneepointError(f"{path}: start leads back to {name} itself; remove it")
            if other.controller != study.controller:
                raise KneepointError(
                    f"{path}: start names {first}, a study of {other.controller}, but the "
                    f"controller is {study.controller}; make them agree"
                )
            if first not in seen:
                seen.append(first)
                waiting += other.start.studies


def _check_starts(workflow: Workflow) -> None:
    """Refuses flows, probes and measurement periods that could begin after the run's end."""
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
        for network in networks:
            end_s = workflow.networks[network].duration_s
            for what, (start_s, remedy) in starts.items():
                if end_s is not None and start_s >= end_s:
                    raise KneepointError(
                        f"{workflow.path.parent / 'traffic' / name}.yaml: {what}, but on network "
                        f"{network} a run ends at {end_s:g} s; lower {remedy}, or raise the "
                        "network's duration_s"
                    )


def _check_comparisons(workflow: Workflow) -> None:
    """Refuses networks that the kernel cannot emulate, and unknown published metrics."""
    for name, comparison in workflow.comparisons.items():
        where = f"{workflow.path.parent / 'comparisons' / name}.yaml"
        for network in comparison.networks_on(KERNEL) if KERNEL in comparison.engines else ():
            _require(workflow.networks[network], KERNEL, f"{where}: kernel: network {network}: ")
        for number, printed in enumerate(comparison.published):
            traffic = workflow.traffic[printed.traffic or comparison.traffic[0]]
            source, _, metric = printed.figure.partition(".")
            known = {
                **dict.fromkeys(traffic.flows, FLOW_METRICS),
                **dict.fromkeys(traffic.probes, PROBE_METRICS),
                "link": LINK_METRICS,
            }
            if metric not in known.get(source, ()):
                choice = ", ".join(known.get(source, [f"{each}.METRIC" for each in known]))
                raise KneepointError(
                    f"{where}: published {number}: unknown figure {printed.figure}; known: {choice}"
                )


def _require(network: Network, engine: str, where: str) -> None:
    for direction, link in network.links.items():
        LIMITS[engine].require(link, f"{where}{direction}")


def _check_hardening(workflow: Workflow) -> None:
    """Refuses rounds without a tuning and a worst-case search of the same controller."""
    for name, wanted in workflow.settings.hardening.items():
        where = f"{workflow.path}: hardening: {name}"
        for key in ("tune", "worst_case"):
            study_name = getattr(wanted, key)
            if study_name not in workflow.studies:
                raise KneepointError(
                    f"{where}: {key} names {study_name!r}, which is not among studies; "
                    f"{suggestion(study_name, workflow.studies)}"
                )
        tune, worst = workflow.studies[wanted.tune], workflow.studies[wanted.worst_case]
        if not tune.tunes or tune.engine != EMULATOR:
            raise KneepointError(
                f"{where}: study {wanted.tune} does not tune a controller for power in the "
                "emulator; name one that does"
            )
        if not isinstance(worst.objective, WorstCase):
            raise KneepointError(
                f"{where}: study {wanted.worst_case} does not search for a worst case; give it the "
                "objective worst_case, or name another"
            )
        if worst.controller != tune.controller:
            raise KneepointError(
                f"{where}: {wanted.tune} tunes {tune.controller}, but {wanted.worst_case} is of "
                f"{worst.controller}; make them agree"
            )


def _check_hold_out(workflow: Workflow) -> None:
    held = workflow.settings.hold_out
    if held is None:
        return
    if not workflow.tunings:
        raise KneepointError(
            f"{workflow.path}: hold_out: no study tunes a controller on {held.training}; add one "
            "to studies, or remove hold_out"
        )
    for name, study in workflow.studies.items():
        for network in study.networks if study.tunes else ():
            if network in held.networks:
                raise KneepointError(
                    f"{workflow.path}: hold_out: study {name} tunes on the held-out network "
                    f"{network}; remove it from one of them"
                )
    _check_recordings(workflow, held)


def _check_recordings(workflow: Workflow, held: HoldOut) -> None:
    """Refuses cuts of one recording among both training and held-out networks."""
    tuned = {
        recording: (name, network)
        for name, study in workflow.studies.items()
        if study.tunes
        for network in study.networks
        for recording in workflow.networks[network].recordings
    }
    for network in held.networks:
        for recording in workflow.networks[network].recordings:
            if recording in tuned:
                study, own = tuned[recording]
                raise KneepointError(
                    f"{workflow.path}: hold_out: {network} is part of the recording {recording}, "
                    f"and so is {own}, on which study {study} tunes; remove one of them"
                )


def _check_traces(config: Path, networks: Mapping[str, Network]) -> None:
    catalogue = (
        load_trace_catalogue(config) if any(n.trace_names for n in networks.values()) else {}
    )
    for name, network in networks.items():
        for trace in network.trace_names:
            if trace not in catalogue:
                raise KneepointError(
                    f"{config.parent / 'networks' / name}.yaml: trace {trace!r} is not in "
                    f"traces.yaml; {suggestion(trace, sorted(catalogue))}"
                )
