"""An engine without a process, and plans that need no files."""

import hashlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, TypeVar

from kneepoint.common.files import sha256_of
from kneepoint.config.published import PublishedRow, PublishedTable, TableDescription
from kneepoint.config.study import Study
from kneepoint.engines.base import EngineSettings, MachineFaultError, RunRecord, RunSpec
from kneepoint.networks.scenario import PreparedLink, PreparedNetwork
from kneepoint.runs.executor import Executor
from kneepoint.runs.job import Job
from kneepoint.runs.journal import RunJournal
from kneepoint.runs.load import load_workflow
from kneepoint.runs.pipeline import carry_out, follow
from kneepoint.runs.registry import experiments_of
from kneepoint.runs.results import FinishedRun
from kneepoint.runs.runner import Batch, Runner
from kneepoint.search.plan import StudyPlan, plan_study
from tests.conftest import ROOT
from tests.experiments.listing import CATALOGUE
from tests.experiments.wire import write

R = TypeVar("R")
NETWORK = PreparedNetwork(
    name="wire",
    uplink=PreparedLink(trace="up.trace", trace_sha256="a" * 64),
    downlink=PreparedLink(trace="down.trace", trace_sha256="b" * 64),
    duration_s=10,
    host_model="event-loop",
    host_latency_us=0,
)


def network(name: str, uplink: Any = None, downlink: Any = None, **changes: Any) -> PreparedNetwork:
    """Returns NETWORK with another name and changed values, also of its links."""
    return replace(
        NETWORK,
        name=name,
        uplink=replace(NETWORK.uplink, **(uplink or {})),
        downlink=replace(NETWORK.downlink, **(downlink or {})),
        **changes,
    )


def run_spec(window: int = 12, seed: int = 1, **changes: Any) -> RunSpec:
    """Returns a run of a fixed window."""
    fields: dict[str, Any] = {
        "engine": "fake",
        "engine_sha256": "f" * 64,
        "controller": "fixed_window",
        "controller_sha256": CATALOGUE.controllers["fixed_window"].sha256,
        "parameters": {"keepalive_ms": 1000, "window": window},
        "network": NETWORK,
        "seed": seed,
    }
    return RunSpec(**{**fields, **changes})


def built_spec(window: int = 12, seed: int = 1, **changes: Any) -> RunSpec:
    """Returns a run of the fixed window, or another controller, that is built."""
    controller = changes.get("controller", "fixed_window")
    built = (ROOT / f"build/controllers/{controller}.so").read_bytes()
    return run_spec(window, seed, controller_sha256=sha256_of(built), **changes)


def measure(spec: RunSpec) -> RunRecord:
    """Returns metrics that depend on the whole description: a peak of power at window 12."""
    noise = int(hashlib.sha256(f"{spec.run_id}".encode()).hexdigest()[:4], 16) / 65536 - 0.5
    window = spec.parameters.get("window", 10 * spec.parameters.get("alpha", 1))
    delay_ms = 80 + 0.02 * spec.network.host_latency_us + window**2 / 3
    throughput = 0.25 * window * (1 + 0.001 * noise)
    return RunRecord.measured(
        spec,
        {
            "throughput_mbps": throughput,
            "capacity_mbps": 5.04,
            "utilization": min(throughput / 5.04, 1),
            "queueing_delay_p95_ms": delay_ms / 2,
            "signal_delay_p50_ms": delay_ms / 2,
            "signal_delay_p95_ms": delay_ms,
            "power": throughput / delay_ms * 1000,
            "packets_sent": 1000,
            "packets_delivered": 990,
            "packets_dropped": 0,
        },
    )


@dataclass
class FakeEngine:
    """Answers at once; `behaviour` may raise or answer otherwise; `ran` lists the runs."""

    behaviour: Callable[[RunSpec], RunRecord] = measure
    ran: list[str] = field(default_factory=list)

    def run(self, spec: RunSpec) -> RunRecord:
        self.ran.append(spec.run_id)
        return self.behaviour(spec)

    def stop(self) -> None:
        pass

    def close(self) -> None:
        pass


@dataclass(frozen=True)
class FakeSettings(EngineSettings):
    """Makes fake engines, in this process or another."""

    sha256: str = "f" * 64
    engine: str = "fake"
    is_real_time: bool = False

    def runs_at_once(self, slots: int, cores: int) -> int:
        del cores
        return slots

    def place(self, network: PreparedNetwork) -> PreparedNetwork:
        return network

    def open(self) -> FakeEngine:
        return FakeEngine()


@dataclass(frozen=True, kw_only=True)
class FakeJob(Job):
    """A job that has only fake engines, and one executor."""

    cores: int = 1
    fake: Executor

    def engine(self, name: str = "emulator") -> FakeSettings:
        return FakeSettings(engine=name)

    def executor(
        self, engine: EngineSettings, total: int | None, batch: Batch, stack: ExitStack
    ) -> Executor:
        del engine, total, batch, stack
        return self.fake


def job_of(
    folder: Path,
    name: str,
    configuration: Mapping[str, Any],
    executor: Executor | None = None,
) -> FakeJob:
    """Returns a job on a folder's networks, given the main file of its configuration."""
    content = {"seed": 5, "results": str(folder / "results"), **configuration}
    write(folder / "config/config.yaml", content)
    return FakeJob(
        workflow=load_workflow(folder / "config/config.yaml"),
        catalogue=CATALOGUE,
        build=folder,
        networks=folder / "networks",
        out_dir=folder / "results" / name,
        fake=executor or ShuffledExecutor(FakeEngine()),
    )


def perform(job: Job) -> None:
    """Runs the experiment of the job's folder."""
    name = str(job.out_dir.relative_to(job.workflow.results))
    kind = experiments_of(job.workflow)[name].kind
    carry_out(job, name, kind.step, resolve_name(kind.planner)(job, name))


class ShuffledExecutor:
    """Executes runs in an order, and hands them over in portions, that depend on a seed."""

    def __init__(self, engine: FakeEngine, seed: int = 0) -> None:
        self._engine = engine
        self._seed = seed

    def execute(self, specs: Sequence[RunSpec]) -> Iterator[list[RunRecord]]:
        order = sorted(specs, key=self._place)
        size = 1 + self._seed % 3
        for start in range(0, len(order), size):
            yield [self._engine.run(spec) for spec in order[start : start + size]]

    def close(self) -> None:
        pass

    def _place(self, spec: RunSpec) -> bytes:
        return hashlib.sha256(f"{self._seed}{spec.run_id}".encode()).digest()


def followed(
    folder: Path,
    steps: Generator[Batch, Iterator[FinishedRun], R],
    engine: FakeEngine,
    order: int = 0,
) -> R:
    """Executes the batches of steps, with the journal of a folder; returns their outcome."""
    with RunJournal(folder / "runs.jsonl") as journal:
        runner = Runner(journal, lambda _: ShuffledExecutor(engine, order), lambda _: None)
        return follow(steps, runner)


def fault(_: RunSpec) -> RunRecord:
    """Raises a fault of the machine."""
    raise MachineFaultError("the disk is full")


def table(name: str, rows: Sequence[Mapping[str, float]], **changes: Any) -> PublishedTable:
    """Returns a table of windows; each row has a window and metrics."""
    description = TableDescription.model_validate(
        {
            "source": "a report",
            "controller": "fixed_window",
            "columns": {"window": {"parameter": "window", "unit": "packets"}},
            **changes,
        }
    )
    return PublishedTable(
        name,
        description,
        [
            PublishedRow(
                number,
                {"window": row["window"]} if "window" in row else {},
                {metric: value for metric, value in row.items() if metric != "window"},
                steps={},
                has_all_parameters="window" in row,
            )
            for number, row in enumerate(rows)
        ],
    )


def plan(
    tables: Mapping[str, PublishedTable] | None = None,
    networks: Sequence[PreparedNetwork] = (NETWORK,),
    seed: int = 7,
    **study: Any,
) -> StudyPlan:
    """Returns the plan of a study of fixed windows; keywords are keys of its file."""
    fields: dict[str, Any] = {
        "title": "Windows",
        "controller": "fixed_window",
        "networks": [each.name for each in networks],
    }
    settings = Study.model_validate(fields | study)
    controller = CATALOGUE.controllers[settings.controller]
    return plan_study("windows", settings, controller, tables or {}, networks, FakeSettings(), seed)
