"""The whole configuration: all its files, and the controllers and settings that they name."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import get_args

from kneepoint.common.errors import KneepointError, require_known
from kneepoint.common.project import own_sources
from kneepoint.config.comparison import Comparison, Repeat
from kneepoint.config.published import PublishedTable
from kneepoint.config.report import Section
from kneepoint.config.settings import Settings, _is_address
from kneepoint.config.study import EMULATOR, NETWORK, ComparisonEngine, Engine, Setting, Study
from kneepoint.engines.catalogue import Catalogue, Controller, require_sources
from kneepoint.engines.limits import LIMITS
from kneepoint.networks.config import Network
from kneepoint.networks.traffic import TrafficFile, TrafficFlow

CALIBRATED = "calibration"
"""The name of the experiment that fits the emulated host to this machine."""
FOLDERS: Mapping[ComparisonEngine, str] = {
    engine: "kernel" if LIMITS[engine].has_kernels_tcp else "comparisons"
    for engine in get_args(ComparisonEngine)
}
"""The results folder of an engine's comparisons: comparisons/NAME, or kernel/NAME on the kernel's
TCP."""
UPLINK_LOG = "uplink.log"
FLOW_LOG = "flow.log"
"""The log of the sender, in virtual time only."""


@dataclass(frozen=True)
class Workflow:
    """The whole configuration, read and validated."""

    path: Path
    settings: Settings
    studies: Mapping[str, Study]
    repeats: Mapping[str, Repeat]
    comparisons: Mapping[str, Comparison]
    traffic: Mapping[str, TrafficFile]
    tables: Mapping[str, PublishedTable]
    networks: Mapping[str, Network]
    sections: Mapping[str, Section]
    named_settings: Sequence[tuple[str, Setting]] = ()
    """Settings in the main file, with their keys."""

    @property
    def results(self) -> Path:
        """The folder of the results."""
        return self.settings.results

    @property
    def own_sources(self) -> Path:
        """The folder of the project's controllers."""
        return own_sources(self.path)

    @property
    def ray_address(self) -> str | None:
        """The address of the Ray cluster to join; None: the workflow starts its own.

        Raises:
            KneepointError: the environment has no address.
        """
        named = os.environ.get("KNEEPOINT_RAY_ADDRESS") or None
        try:
            return self.settings.ray_address or (named and _is_address(named))
        except ValueError as error:
            raise KneepointError(f"KNEEPOINT_RAY_ADDRESS: {error}") from None

    def of_engine(self, engine: Engine) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Returns the names of the studies and of the repeats that run on an engine."""
        return (
            tuple(name for name, study in self.studies.items() if study.engine == engine),
            tuple(name for name, repeat in self.repeats.items() if repeat.engine == engine),
        )

    @cached_property
    def tunings(self) -> tuple[str, ...]:
        """The studies that tune a controller on the training network."""
        return self._on_training(lambda study: study.tunes)

    @cached_property
    def replays(self) -> tuple[str, ...]:
        """The studies that replay a published table on the training network."""
        return self._on_training(lambda study: study.table is not None)

    def _on_training(self, wanted: Callable[[Study], bool]) -> tuple[str, ...]:
        held = self.settings.hold_out
        if held is None:
            return ()
        return tuple(
            name
            for name, study in self.studies.items()
            if wanted(study) and held.training in study.networks and study.engine == EMULATOR
        )

    @cached_property
    def controllers(self) -> Mapping[str, str]:
        """Every controller in the configuration, with the first file that names it."""
        named: dict[str, str] = {}
        for name, study in self.studies.items():
            named.setdefault(study.controller, self.file("studies", name))
        for name, table in self.tables.items():
            named.setdefault(table.description.controller, self.file("published", name))
        for where, setting, _ in self._settings():
            named.setdefault(setting.controller, where)
        return named

    def controllers_beside(self, traffic: str | None) -> list[str]:
        """Returns the controllers of a traffic's flows that are not under study."""
        flows = self.traffic[traffic].flows.values() if traffic else ()
        return [flow.controller for flow in flows if flow.controller is not None]

    @property
    def held_controllers(self) -> list[str]:
        """Controllers whose settings run on held-out networks."""
        return [self.studies[name].controller for name in (*self.replays, *self.tunings)]

    def check_against(self, catalogue: Catalogue) -> None:
        """Checks every controller, parameter and value in the configuration.

        Controllers that the catalogue lacks are broken or not yet built; they need only a source.

        Raises:
            KneepointError: the first mistake, with its file.
        """
        require_sources(self.controllers, self.own_sources)
        for table in self.tables.values():
            if table.description.controller in catalogue.controllers:
                table.check_against(catalogue, self.path.parent / "published")
        for name, study in self.studies.items():
            if study.controller in catalogue.controllers:
                where = self.file("studies", name)
                _check_study(where, study, self.tables, catalogue)
                controller = catalogue.controller(study.controller, where)
                _check_fit(controller, self._flows_under_study(study.traffic), where)
        for where, setting, flows in self._settings():
            if setting.controller in catalogue.controllers:
                controller = catalogue.controller(setting.controller, where)
                _check_fit(controller, flows, where)
                controller.complete(setting.parameters, where)
        self._check_names(catalogue)

    def _check_names(self, catalogue: Catalogue) -> None:
        """Refuses printed names of unknown parameters and controllers."""
        controllers = [catalogue.controllers.get(name) for name in self.controllers]
        known = [*self.controllers, *(p for each in controllers if each for p in each.parameters)]
        for name in self.settings.report.names if self.settings.report else ():
            problem = f"{self.path}: report.names: unknown parameter or controller {name!r}"
            if None not in controllers:
                require_known(name, dict.fromkeys(known), problem)

    def _flows_under_study(self, traffic: str | None) -> Sequence[TrafficFlow]:
        """Returns the flows under study in a traffic; a single flow without traffic."""
        if traffic is None:
            return (TrafficFlow(),)
        flows = self.traffic[traffic].flows.values()
        return [flow for flow in flows if flow.controller is None]

    def _settings(self) -> Iterator[tuple[str, Setting, Sequence[TrafficFlow]]]:
        """Yields every setting outside search spaces, with its place and the flows that use it."""
        alone = self._flows_under_study(None)
        for name, study in self.studies.items():
            if study.opponent:
                yield self.file("studies", name), study.opponent, alone
        for name, repeat in self.repeats.items():
            for setting in repeat.settings:
                yield self.file("repeats", name), setting, alone
        for name, comparison in self.comparisons.items():
            compared = [
                flow for traffic in comparison.traffic for flow in self._flows_under_study(traffic)
            ]
            for setting in comparison.settings:
                yield self.file("comparisons", name), setting, compared
        for name, traffic in self.traffic.items():
            for flow in traffic.flows.values():
                if flow.controller is not None:
                    beside = Setting(controller=flow.controller, parameters=flow.parameters)
                    yield self.file("traffic", name), beside, (flow,)
        for key, setting in self.named_settings:
            yield f"{self.path}, {key}", setting, alone

    def file(self, folder: str, name: str) -> str:
        """Returns the path of a configuration file."""
        return str(self.path.parent / folder / f"{name}.yaml")

    def files_of_tables(self, tables: Iterable[str]) -> list[Path]:
        """Returns the paths of published tables and their descriptions."""
        folder = self.path.parent / "published"
        return [folder / f"{table}.{kind}" for table in tables for kind in ("csv", "yaml")]


def _check_fit(controller: Controller, flows: Iterable[TrafficFlow], where: str) -> None:
    for flow in flows:
        has_ecn = flow.tcp is not None and flow.tcp.ecn is True
        controller.require(flow.transport, where, has_ecn=has_ecn)


def _check_study(
    where: str, study: Study, tables: Mapping[str, PublishedTable], catalogue: Catalogue
) -> None:
    controller = catalogue.controller(study.controller, where)
    controller.complete(study.parameters, where)
    for name, searched in study.space.items():
        if name.startswith(NETWORK):
            continue
        parameter = controller.parameter(name, where)
        for value in searched.values if searched.values is not None else searched.bounds:
            parameter.check(value, f"{where}, space")
    for table in filter(None, (study.table, *study.fit)):
        for row in tables[table].replayable:
            controller.complete({**study.parameters, **row.parameters}, f"{where}, table {table}")
