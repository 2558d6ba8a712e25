"""What the command lines of studies, repeats and the showcase have in common."""

import argparse
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from common.locks import hold_lock_patiently
from common.made_by import sign
from engines.base import EngineSettings, PreparedNetwork
from engines.catalogue import Catalogue, Controller, load_catalogue
from engines.emulator import EmulatorSettings
from experiments.cluster import end_with_cluster, find_cluster
from experiments.config import Engine, Workflow, load_workflow
from experiments.executor import Executor, OwnRayExecutor, RayExecutor, SerialExecutor
from experiments.journal import RunJournal
from experiments.progress import Progress, progress_of
from experiments.results import read_table
from experiments.runner import Runner
from experiments.slots import SlotExecutor, slots_of

_LOCK_PATIENCE_S = 5
"""How long the process of a killed workflow may take to notice."""


@dataclass(frozen=True)
class Job:
    """The configuration, checked against the emulator, and where to run what.

    `make_executor` makes an executor for an engine.
    """

    workflow: Workflow
    catalogue: Catalogue
    build: Path
    networks: Path
    out_dir: Path
    make_executor: Callable[[EngineSettings], Executor]

    @property
    def emulate(self) -> Path:
        """The emulator."""
        return self.build / "emulate"

    def engine(self, name: Engine = "emulator") -> EngineSettings:
        """Returns an engine's settings as they are now.

        Raises:
            KneepointError: it is not built, or does not work on this machine.
        """
        if name == "emulator":
            return EmulatorSettings.of(self.emulate)
        from engines.mahimahi.engine import MahimahiSettings

        return MahimahiSettings.of(self.build, self.workflow.settings.real_time)

    def controller(self, name: str) -> Controller:
        """Returns a controller; raises KneepointError where it is unknown or broken."""
        return self.catalogue.controller(name, str(self.workflow.path))

    def network(self, name: str) -> PreparedNetwork:
        """Reads a prepared network."""
        return PreparedNetwork.load(self.networks / name / "network.json")

    def sign(self, step: str, engine: EngineSettings, *files: str) -> None:
        """Writes down that a step has made files of the output folder, with runs on an engine."""
        controllers: dict[str, str] = {}
        for name in files:
            if name == "runs.parquet":
                ran = set(read_table(self.out_dir / name).column("controller").to_pylist())
                controllers = {each: self.controller(each).sha256 for each in ran}
        sign(self.out_dir, step, files, engine.engine, engine.sha256, controllers)

    @contextmanager
    def runner(
        self, name: str, engine: EngineSettings, total: int | None
    ) -> Iterator[tuple[Runner, Progress]]:
        """Gives a runner on the journal of the output folder, which is locked meanwhile."""
        progress = progress_of(name, engine, total)
        with self.journal() as journal:
            runner = Runner(
                journal,
                lambda: self.make_executor(engine),
                progress.add,
                engine.spoils if engine.is_real_time else None,
            )
            try:
                yield runner, progress
            finally:
                runner.close()

    @contextmanager
    def journal(self) -> Iterator[RunJournal]:
        """Opens the journal of the output folder, which is locked meanwhile."""
        with (
            hold_lock_patiently(self.out_dir / ".lock", _LOCK_PATIENCE_S),
            RunJournal(self.out_dir / "runs.jsonl") as journal,
        ):
            yield journal


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds the options that all jobs have."""
    parser.add_argument("--config", type=Path, required=True, help="the workflow's configuration")
    parser.add_argument("--out-dir", type=Path, required=True, help="folder of the results")
    parser.add_argument("--cluster", type=Path, help="file of the workflow's Ray; none: its own")
    parser.add_argument("--executor", choices=["ray", "serial"], default="ray", help="%(default)s")
    parser.add_argument(
        "--cores",
        type=int,
        default=int(os.environ.get("KNEEPOINT_CORES") or os.cpu_count() or 1),
        help="of an own Ray, and slots of a host that was not probed (%(default)s)",
    )
    parser.add_argument(
        "--build", type=Path, default=Path("build"), help="the built programs (%(default)s)"
    )
    parser.add_argument(
        "--networks", type=Path, default=Path("build/networks"), help="prepared (%(default)s)"
    )


def open_job(arguments: argparse.Namespace) -> Job:
    """Reads and checks the whole configuration.

    Raises:
        KneepointError: something in it is wrong, or the emulator is not built.
    """
    workflow = load_workflow(arguments.config)
    catalogue = load_catalogue(arguments.build / "emulate")
    workflow.check_against(catalogue, is_whole=False)  # other jobs' controllers may not be built
    if arguments.cluster:
        end_with_cluster(arguments.cluster)

    def make_executor(engine: EngineSettings) -> Executor:
        if engine.is_real_time:
            return SlotExecutor(engine, slots_of(workflow.results, arguments.cores))
        if arguments.executor == "serial":
            return SerialExecutor(engine)
        if arguments.cluster:
            return RayExecutor(find_cluster(arguments.cluster), engine)
        return OwnRayExecutor(arguments.cores, engine)

    return Job(
        workflow=workflow,
        catalogue=catalogue,
        build=arguments.build,
        networks=arguments.networks,
        out_dir=arguments.out_dir,
        make_executor=make_executor,
    )
