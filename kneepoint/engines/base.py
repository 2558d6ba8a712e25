"""The engine interface: run descriptions, run records and machine faults."""

import hashlib
import json
import math
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Literal, Protocol, Self

from kneepoint.common.errors import KneepointError, fault_of, printable
from kneepoint.common.files import read_bytes, sha256_of
from kneepoint.common.json_text import parse_json
from kneepoint.common.places import OWN_CONTROLLERS
from kneepoint.engines.catalogue import Controller
from kneepoint.engines.entry import Entry
from kneepoint.engines.limits import EMULATOR, LIMITS, Limits
from kneepoint.networks.scenario import ALONE, PreparedNetwork, Traffic, scenario_of

RUN_METRICS = (
    "throughput_mbps",
    "capacity_mbps",
    "utilization",
    "queueing_delay_p95_ms",
    "signal_delay_p95_ms",
    "power",
)
COUNTS = ("packets_sent", "packets_delivered", "packets_dropped")
SHARES = ("at_bound_share", "idle_share")
"""Metrics that are shares of the time or of the uplink's capacity: see RunRecord."""

LINK_METRICS = ("utilization", "throughput_mbps", "queueing_delay_p95_ms")
"""Metrics of the uplink in comparisons."""

FLOW_METRICS = (
    "throughput_mbps",
    "goodput_mbps",
    "loss",
    "retransmissions",
    "delay_p50_ms",
    "delay_p95_ms",
    "rtt_mean_ms",
    "rtt_p50_ms",
    "rtt_p95_ms",
    "mean_window_packets",
    "completion_s",
    "loss_events",
)
"""Metrics of one flow; a metric that does not exist is None (completion_s of an endless flow).

loss_events counts the loss recoveries of a TCP sender.
"""
FLOW_SERIES = ("throughput_by_interval_mbps", "window_by_interval_packets", "rtt_by_interval_ms")
"""Time series of one flow, if the traffic has interval_s; element k is the value in interval k."""
PROBE_METRICS = (
    *("sent", "answered", "rtt_min_ms", "rtt_mean_ms", "rtt_max_ms", "rtt_p50_ms", "rtt_p95_ms"),
)

Status = Literal["ok", "failed", "fault"]
"""ok: the run was measured. failed: the controller caused the failure, which is final. fault: the
machine caused the failure."""


def canonical_json(value: object) -> str:
    """Returns the canonical JSON of a value: sorted keys, no spaces, shortest numbers, no NaN."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


@dataclass(frozen=True)
class RunSpec:
    """One run: a controller with all its parameters, in one scenario, on one engine.

    An `entry`, a complete sender, runs in place of the controller; `controller` and
    `controller_sha256` are then its own. `repetition` numbers equal runs that test whether a sender
    is deterministic.
    """

    engine: str
    engine_sha256: str
    controller: str
    controller_sha256: str
    parameters: Mapping[str, float]
    network: PreparedNetwork
    seed: int
    traffic: Traffic = ALONE
    entry: Entry | None = None
    repetition: int = 0
    run_id: str = field(init=False, compare=False)

    @classmethod
    def on(
        cls,
        engine: "EngineSettings",
        controller: Controller | Entry,
        parameters: Mapping[str, float],
        network: PreparedNetwork,
        seed: int,
        traffic: Traffic = ALONE,
    ) -> Self:
        """Describes a run of the current controller, or of an entry, on the current engine."""
        return cls(
            engine=engine.engine,
            engine_sha256=engine.digest_for(traffic),
            controller=controller.name,
            controller_sha256=controller.sha256,
            parameters=parameters,
            network=network,
            seed=seed,
            traffic=traffic,
            entry=controller if isinstance(controller, Entry) else None,
        )

    def scenario(self) -> dict[str, Any]:
        """Returns the scenario for the engine (see scenario_of)."""
        scenario = self._identified()
        if self.entry is not None:
            for flow in scenario["flows"]:
                if "entry" in flow:
                    flow["entry"]["object"] = str(self.entry.object)
                    if self.entry.object.suffix == ".py":
                        flow["entry"]["interpreter"] = sys.executable
            if self.entry.is_trusted:
                scenario["trust"] = True
            if self.repetition:  # reading the clock ahead would change the result
                scenario["entry_lookahead_us"] = 0
        return scenario

    def _identified(self) -> dict[str, Any]:
        """Returns the scenario with all keys that identify the run, and the paths of traces."""
        subject: dict[str, Any] = {
            "controller": self.controller,
            "controller_sha256": self.controller_sha256,
            "parameters": dict(self.parameters),
        }
        if self.entry is not None:
            subject = {"entry": self.entry.in_flow()}
        scenario = scenario_of(self.network, self.traffic, subject, self.seed)
        if LIMITS.get(self.engine, EMULATOR).has_kernels_tcp:
            for flow in scenario["flows"]:
                if flow.get("transport") == "tcp":
                    flow.pop("controller_sha256", None)
        return scenario

    def __post_init__(self) -> None:
        scenario = self._identified()
        for link in ("uplink", "downlink"):  # a trace is identified by its content
            scenario[link].pop("trace", None)
        identity: dict[str, Any] = {
            "engine": self.engine,
            "engine_sha256": self.engine_sha256,
            "scenario": scenario,
        }
        if self.entry is not None:
            identity["entry_sha256"] = self.entry.runner_sha256
        if self.repetition:
            identity["repetition"] = self.repetition
        digest = hashlib.sha256(canonical_json(identity).encode()).hexdigest()
        object.__setattr__(self, "run_id", digest)


@dataclass(frozen=True)
class RunRecord:
    """The outcome of a run; a metric that does not exist is None, never NaN.

    `scheduling_delay_p99_us` is the delay that the host added in real time: the 99th percentile of
    the time from the kernel's receipt of a datagram until the receiver reads it, or, on the
    kernel's own TCP, from the end of a packet's delay until the delay line releases it. One packet
    in 2^k was delayed by at least element k of `scheduling_delays_us`. Neither exists in virtual
    time. `flows` and `probes` have the `name`, metrics and series of the traffic's flows and
    probes, in its order; they are None if the traffic is not measured by flows.

    `age_p50_ms` and `age_p95_ms` are quantiles of the signal delay from the run's start to its end;
    mahimahi's measure, `signal_delay_p95_ms`, ends with the last arrival.

    `packets_dropped` counts packets that queues dropped, `packets_lost` packets lost on the uplink
    by its configured losses and impairments; the latter exists in virtual time only.

    `at_bound_share` is the share of the time in which a sender's window was the largest that the
    transport allows, or larger than TCP's buffers. `idle_share` is the share of the uplink's
    capacity that passed while no packet arrived for longer than 200 ms plus two propagation round
    trips. Both exist in virtual time if every flow always has data to send over the uplink;
    `idle_share` also needs links whose delay is configured, not recorded.
    """

    run_id: str
    status: Status
    reason: str = ""
    throughput_mbps: float | None = None
    capacity_mbps: float | None = None
    utilization: float | None = None
    queueing_delay_p95_ms: float | None = None
    signal_delay_p95_ms: float | None = None
    power: float | None = None
    signal_delay_p50_ms: float | None = None
    age_p50_ms: float | None = None
    age_p95_ms: float | None = None
    packets_sent: int | None = None
    packets_delivered: int | None = None
    packets_dropped: int | None = None
    packets_lost: int | None = None
    at_bound_share: float | None = None
    idle_share: float | None = None
    scheduling_delay_p99_us: float | None = None
    scheduling_delays_us: tuple[float, ...] | None = None
    flows: tuple[Mapping[str, Any], ...] | None = None
    probes: tuple[Mapping[str, Any], ...] | None = None
    queue_by_interval_packets: tuple[float | None, ...] | None = None

    @classmethod
    def measured(cls, spec: RunSpec, answer: Mapping[str, Any]) -> Self:
        """Makes the record of an engine's answer; with an invalid metric, the run has failed."""
        run_id, traffic = spec.run_id, spec.traffic
        if answer.get("status") == "failed":
            return cls(run_id, "failed", printable(answer["reason"]))
        metrics = {name: answer.get(name) for name in RUN_METRICS}
        for name, value in metrics.items():
            if value is None and traffic.measures_flows and name in _OF_ALL_PACKETS:
                continue  # the kernel's own TCP does not time each packet
            if not _is_measurement(value):
                return cls(run_id, "failed", f"invalid metric: {name} is {value}")
        others = {name: answer.get(name) for name in (*COUNTS, *_OPTIONAL)}
        delays = answer.get("scheduling_delays_us")
        return cls(
            run_id,
            "ok",
            "",
            **metrics,
            **others,
            scheduling_delays_us=None if delays is None else tuple(delays),
            **(_measured_flows(traffic, answer) if traffic.measures_flows else {}),
        )

    @classmethod
    def from_json(cls, line: str | bytes) -> Self:
        """Reads the output of `to_json`; ValueError, KeyError or TypeError on any other text."""
        content = parse_json(line)
        for name in ("scheduling_delays_us", "flows", "probes", "queue_by_interval_packets"):
            if content.get(name) is not None:
                content[name] = tuple(content[name])
        return cls(**content)

    def to_json(self) -> str:
        """Returns one line of JSON without the line break."""
        return canonical_json(asdict(self))


AGES = ("age_p50_ms", "age_p95_ms")
"""Quantiles of the signal delay from a run's start to its end (see RunRecord)."""
_OPTIONAL = (
    *("packets_lost", "scheduling_delay_p99_us", "signal_delay_p50_ms"),
    *(*AGES, *SHARES),
)
_OF_ALL_PACKETS = ("signal_delay_p95_ms", "power")
"""Metrics that need the delay of every packet."""


def _measured_flows(traffic: Traffic, answer: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields of a record about flows and probes."""
    flows, probes = [], []
    for name, figures in zip(traffic.flows, answer["flows"], strict=True):
        events = figures.get("loss_events_s")
        flows.append(
            {"name": name, "controller": figures["controller"]}
            | {key: figures.get(key) for key in (*FLOW_METRICS, *FLOW_SERIES)}
            | {"loss_events": None if events is None else len(events)}
        )
    for name, figures in zip(traffic.probes, answer["probes"], strict=True):
        rtts_ms = [rtt_ms for rtt_ms in figures.get("rtts_ms", ()) if rtt_ms is not None]
        extremes = {"rtt_min_ms": min(rtts_ms), "rtt_max_ms": max(rtts_ms)} if rtts_ms else {}
        probes.append({"name": name} | {key: figures.get(key) for key in PROBE_METRICS} | extremes)
    queue = answer.get("uplink", {}).get("queue_by_interval_packets")
    return {
        "flows": tuple(flows),
        "probes": tuple(probes),
        "queue_by_interval_packets": None if queue is None else tuple(queue),
    }


def _is_measurement(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return math.isfinite(value) and value >= 0


class MachineFaultError(Exception):
    """A run did not finish, for a reason outside its description.

    Args:
        reason: the cause.
        blames_controller: whether the controller is at fault if every attempt ends like this.
        is_final: whether not to retry the run, because the engine itself has repeated it.
    """

    def __init__(
        self, reason: str, *, blames_controller: bool = False, is_final: bool = False
    ) -> None:
        super().__init__(reason)
        self.blames_controller = blames_controller
        self.is_final = is_final


def require_answered(answer: Mapping[str, Any], where: str) -> None:
    """Raises MachineFaultError or KneepointError if an engine's process answers with a fault."""
    if answer["status"] == "fault":
        raise MachineFaultError(printable(answer["reason"]))
    if answer["status"] == "error":
        raise KneepointError(f"{where}: {answer['reason']}")


def digest_of(program: Path) -> str:
    """Returns the SHA-256 of a program; raises KneepointError if it is missing."""
    return sha256_of(read_bytes(program, "build it: make build"))


class Engine(Protocol):
    """Executes runs sequentially; in virtual time, equal descriptions give equal records."""

    def run(self, spec: RunSpec) -> RunRecord:
        """Executes one run.

        Raises:
            MachineFaultError: retrying may help.
            KneepointError: the description cannot be run; retrying will not help.
        """

    def stop(self) -> None:
        """Stops a run that another thread executes."""

    def close(self) -> None:
        """Frees the engine's resources; it can be used again afterwards."""


@dataclass(frozen=True)
class EngineSettings(ABC):
    """The settings of an engine; hashable and picklable.

    Args:
        sha256: digest of the engine's programs, which contain no controller.
        busy_us: the scheduling delay (99th percentile, see RunRecord) above which a run is spoiled.
    """

    limits: ClassVar[Limits]
    sha256: str
    busy_us: float = field(default=math.inf, kw_only=True)

    @property
    def engine(self) -> str:
        """The engine's name in results."""
        return self.limits.engine

    def digest_for(self, traffic: Traffic) -> str:
        """Digest of the programs that run the traffic, without controllers."""
        del traffic
        return self.sha256

    @property
    def is_real_time(self) -> bool:
        """Whether runs take real time, and one of the host's slots."""
        return self.limits.is_real_time

    def runs_at_once(self, slots: int, cores: int) -> int:
        """Number of concurrent runs in real time, given the host's slots and cores."""
        per_core = self.limits.runs_per_core
        return slots if per_core is None else per_core * cores

    def keeping(self, log: Path, flow_log: Path | None = None) -> Self:
        """Returns these settings with a file for the uplink's log, and one for the senders' log."""
        del log, flow_log
        return self

    def place(self, network: PreparedNetwork) -> PreparedNetwork:
        """Returns the network; in real time, the real host replaces the emulated host."""
        host = self.limits.real_host
        return replace(network, host_model=host, host_latency_us=0) if host else network

    def spoils(self, record: "RunRecord") -> bool:
        """Returns whether the host was too busy for the run, which must then be repeated."""
        delay_us = record.scheduling_delay_p99_us
        return record.status == "ok" and delay_us is not None and delay_us > self.busy_us

    def without_busy_limit(self) -> Self:
        """Returns these settings without a limit of scheduling delay: no run is repeated."""
        return replace(self, busy_us=math.inf)

    def require_unchanged(self, sha256: str, programs: Path) -> None:
        """Raises KneepointError if the engine's programs, at the path, have changed."""
        if sha256 != self.sha256:
            raise KneepointError(f"{programs}: rebuilt during the study; run the command again")

    def files_of(self, specs: Sequence[RunSpec]) -> Mapping[str, tuple[Path, str]]:
        """Returns the files that runs on another machine need.

        The keys are paths on the other machine, the values are the path on this machine and the
        SHA-256. Raises KneepointError if the engine runs on this machine only.
        """
        del specs
        raise KneepointError(f"engine {self.engine} runs on this machine only")

    def moved(self, folder: Path) -> Self:
        """Returns these settings for a folder with a copy of these files."""
        del folder
        return self

    @abstractmethod
    def open(self) -> Engine:
        """Makes the engine."""


PAUSES_S = (0.5, 2.0, 8.0)
"""Pauses before further attempts (s): a disturbance may pass."""


def run_reliably(
    engine: Engine,
    spec: RunSpec,
    pauses_s: Sequence[float] = PAUSES_S,
    sleep: Callable[[float], None] = time.sleep,
) -> RunRecord:
    """Executes a run, and repeats it after a machine fault; never raises MachineFaultError.

    A fault that blames the controller needs no pause before the next attempt. The run has failed
    only if every attempt blames the controller. An unexpected error in an entry's run is a fault of
    that run alone; in other runs it is raised.
    """
    faults: list[MachineFaultError] = []
    for pause_s in (*pauses_s, None):
        try:
            return engine.run(spec)
        except MachineFaultError as fault:
            faults.append(fault)
            if fault.is_final or pause_s is None:
                break
            if not fault.blames_controller:
                sleep(pause_s)
        except (KneepointError, OSError, MemoryError):
            raise
        except Exception as error:
            if spec.entry is None:
                raise
            return RunRecord(spec.run_id, "fault", f"an error in Kneepoint: {fault_of(error)}")
    controllers_fault = all(fault.blames_controller for fault in faults)
    return RunRecord(spec.run_id, "failed" if controllers_fault else "fault", str(faults[-1]))


def run_while_sound(engine: Engine, specs: Sequence[RunSpec]) -> list[RunRecord]:
    """Executes runs sequentially, with retries, up to the first run without success.

    Detecting a controller that hangs takes half a minute; further runs would hang as well.
    """
    records: list[RunRecord] = []
    for spec in specs:
        records.append(run_reliably(engine, spec))
        if records[-1].status != "ok":
            break
    return records


def controller_file(name: str, build: Path, project: Path = Path()) -> Path:
    """Returns the shared object of a controller: the project's own, or the build's."""
    own = project / OWN_CONTROLLERS / f"{name}.so"
    return own if own.is_file() else build / "controllers" / f"{name}.so"
