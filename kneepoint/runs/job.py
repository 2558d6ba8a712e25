"""The context of an experiment: configuration, engines, networks and folder of results."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kneepoint.common.made_by import sign
from kneepoint.config.study import Engine, Setting
from kneepoint.config.workflow import Workflow
from kneepoint.engines.base import EngineSettings, RunSpec
from kneepoint.engines.catalogue import Catalogue, Controller
from kneepoint.engines.registry import settings_of
from kneepoint.networks.scenario import ALONE, PreparedNetwork, Traffic
from kneepoint.networks.searched import SearchedNetworks
from kneepoint.networks.traffic import TrafficFlow
from kneepoint.runs.cluster import find_cluster, open_cluster
from kneepoint.runs.executor import Executor, LocalExecutor
from kneepoint.runs.journal import open_journal
from kneepoint.runs.progress import Progress
from kneepoint.runs.ray_executor import RayExecutor, join
from kneepoint.runs.runner import Batch, Runner
from kneepoint.runs.slots import SlotExecutor, slots_of

_WITHOUT_RAY = 400
"""Number of emulated runs that take about as much CPU time as connecting to Ray and starting its
workers (3 s). A search with small batches would also wait for Ray at every batch."""


@dataclass(frozen=True)
class Job:
    """The configuration, checked against the emulator, and the folders and cores of a job.

    Args:
        workflow: the configuration.
        catalogue: the controllers.
        build: folder of the built programs.
        networks: folder of the prepared networks.
        out_dir: folder of the experiment's results.
        cores: cores of the job's own Ray, and slots of a host not probed yet.
        cluster: file of the workflow's Ray; None: the job starts its own if it needs Ray.
        inputs: digests of the job's inputs, for the provenance of its results.
    """

    workflow: Workflow
    catalogue: Catalogue
    build: Path
    networks: Path
    out_dir: Path
    cores: int
    cluster: Path | None = None
    inputs: Mapping[str, str] = field(default_factory=dict)

    def engine(self, name: Engine = "emulator") -> EngineSettings:
        """Returns an engine's current settings.

        Raises:
            KneepointError: the engine is not built, or does not work on this machine.
        """
        real_time = self.workflow.settings.real_time
        return settings_of(name, self.build, real_time.busy_us, keep_awake=real_time.keep_awake)

    def controller(self, name: str) -> Controller:
        """Returns a controller; raises KneepointError if it is unknown or broken."""
        return self.catalogue.controller(name, str(self.workflow.path))

    def spec(
        self,
        engine: EngineSettings,
        setting: Setting,
        network: PreparedNetwork,
        seed: int,
        where: str,
        traffic: Traffic = ALONE,
    ) -> RunSpec:
        """Describes a run of a setting; errors begin with `where`."""
        controller = self.controller(setting.controller)
        parameters = controller.complete(setting.parameters, where)
        return RunSpec.on(engine, controller, parameters, network, seed, traffic)

    def network(self, name: str) -> PreparedNetwork:
        """Reads a prepared network; raises KneepointError if it is damaged."""
        network = PreparedNetwork.load(self.networks / name / "network.json")
        network.require_traces()
        return network

    def searched_networks(self, name: str) -> SearchedNetworks:
        """Returns the networks of an experiment whose trials search network parameters."""
        folder = self.networks / "searched" / name
        return SearchedNetworks(self.workflow.networks, self.build, folder)

    def traffic(self, name: str) -> Traffic:
        """Returns the traffic of config/traffic/NAME.yaml, with the digests of its controllers."""
        file = self.workflow.traffic[name]
        flows = {each: self._flow(each, flow) for each, flow in file.flows.items()}
        probes = {each: probe.options for each, probe in file.probes.items()}
        options: dict[str, Any] = {"measure_from_s": file.measure_from_s}
        if file.interval_s is not None:
            options["interval_s"] = file.interval_s
        return Traffic(name, flows, probes, options)

    def _flow(self, name: str, flow: TrafficFlow) -> dict[str, Any]:
        if flow.controller is None:
            return flow.options
        controller = self.controller(flow.controller)
        return {
            "controller": controller.name,
            "controller_sha256": controller.sha256,
            "parameters": controller.complete(flow.parameters, f"traffic, flow {name}"),
            **flow.options,
        }

    def sign(
        self, step: str, engine: EngineSettings, ran: Iterable[str], files: Iterable[str]
    ) -> None:
        """Records the provenance of files of the output folder: see kneepoint.common.made_by.

        Args:
            step: module of the planner.
            engine: engine of the runs.
            ran: names of the controllers that ran.
            files: names of the files.
        """
        controllers = {each: self.controller(each).sha256 for each in ran}
        sign(self.out_dir, step, files, engine.engine, engine.sha256, controllers, self.inputs)

    @contextmanager
    def runner(
        self, name: str, engine: EngineSettings, total: int | None
    ) -> Iterator[tuple[Runner, Progress]]:
        """Provides a runner on the output folder's journal, which stays locked meanwhile."""
        progress = Progress(name, total, is_real_time=engine.is_real_time)
        with open_journal(self.out_dir) as journal, ExitStack() as stack:
            runner = Runner(
                journal,
                lambda batch: self.executor(batch.engine or engine, total, batch, stack),
                progress.add,
                engine.spoils if engine.is_real_time else None,
                progress.fail,
            )
            try:
                yield runner, progress
            finally:
                runner.close()

    def executor(
        self, engine: EngineSettings, total: int | None, batch: Batch, stack: ExitStack
    ) -> Executor:
        """Makes the executor of a batch.

        Args:
            engine: engine of the batch.
            total: number of the experiment's runs; None: unknown.
            batch: the batch.
            stack: ends the job's own Ray, if the executor starts one.
        """
        if batch.together:
            slots = self.out_dir / ".slots"  # separate from other jobs'
            return SlotExecutor(engine.without_busy_limit(), len(batch.runs), slots, pauses_s=())
        if engine.is_real_time:
            slots_of_host = slots_of(self.workflow.results, self.cores)
            return SlotExecutor(engine, engine.runs_at_once(slots_of_host, self.cores))
        if batch.engine is not None:
            return LocalExecutor(engine, self.cores)
        if total is not None and total <= _WITHOUT_RAY:
            return LocalExecutor(engine, workers=1)
        if self.cluster:
            cluster = find_cluster(self.cluster)
        elif address := self.workflow.ray_address:
            cluster = join(address)
        else:
            cluster = stack.enter_context(open_cluster(self.cores))
        return RayExecutor(cluster, engine)
