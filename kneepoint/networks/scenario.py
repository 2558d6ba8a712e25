"""The scenario of a run: a prepared network and its traffic, in the emulator's format.

`build/emulate --scenario-schema` describes a scenario, which every engine accepts.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from kneepoint.common.errors import unusable
from kneepoint.common.files import read_json, sha256_of
from kneepoint.networks.declared import Notation
from kneepoint.networks.omniscient import Bound, bound_of_rate


@dataclass(frozen=True)
class PreparedLink:
    """One direction of a network, with either a trace or a constant rate.

    Fields have the names, units and defaults of a scenario's link. A trace's path is relative to
    the project.
    """

    trace: str = ""
    trace_sha256: str = ""
    rate_mbps: float = 0
    delay_ms: float = 20
    delay_step_ms: float = 0
    delay_period_s: float = 0
    queue: str = "infinite"
    loss_period: int = 0
    loss_probability: float = 0
    loss_after_link: bool = False
    impairments: tuple[str, ...] = ()

    @property
    def configured_loss(self) -> float:
        """The expected share of packets that its periodic and random losses drop."""
        periodic = 1 / self.loss_period if self.loss_period else 0.0
        return periodic + (1 - periodic) * self.loss_probability

    def in_scenario(self) -> dict[str, Any]:
        """Returns the link of a scenario; values without an effect have no key."""
        always = ("delay_ms", "queue")
        return {k: v for k, v in vars(self).items() if v or k in always}


@dataclass(frozen=True)
class PreparedNetwork:
    """A network prepared by rule prepare_network.

    `omniscient` is the bound of its uplink (see kneepoint.networks.omniscient); None: unknown.
    """

    name: str
    uplink: PreparedLink
    downlink: PreparedLink
    duration_s: float | None
    host_model: str
    host_latency_us: float
    omniscient: Bound | None = None

    @classmethod
    def load(cls, path: Path) -> Self:
        """Reads a network.json; raises KneepointError if it is missing or damaged."""
        try:
            content = read_json(path)
            fields = {name: content[name] for name in cls.__dataclass_fields__}
            for name in ("uplink", "downlink"):
                link = fields[name]
                impairments = tuple(link.get("impairments", ()))
                fields[name] = PreparedLink(**link | {"impairments": impairments})
            fields["omniscient"] = Bound(**fields["omniscient"])
            return cls(**fields)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise unusable(path, error) from None

    def described(self) -> dict[str, Any]:
        """Returns the content of a network.json, which `emulate --network` reads, too."""
        links = {"uplink": self.uplink.in_scenario(), "downlink": self.downlink.in_scenario()}
        return asdict(self) | links

    def require_traces(self) -> None:
        """Raises KneepointError if a trace has changed since the network was prepared."""
        for link in (self.uplink, self.downlink):
            path = Path(link.trace)
            if link.trace and not (
                path.is_file() and sha256_of(path.read_bytes()) == link.trace_sha256
            ):
                raise unusable(path, "it is not the trace that was prepared")

    def with_host(self, parameter: str, value: float | str) -> Self:
        """Returns the network with one parameter of its host set."""
        if parameter == "host_latency_us":
            return replace(self, host_latency_us=value)  # type: ignore[arg-type]
        host = Notation.parse(self.host_model).with_value(parameter, value)
        return replace(self, host_model=str(host))

    def with_value(self, parameter: str, value: float) -> Self:
        """Returns the network with a new value of one parameter.

        The parameter is one of NETWORK_PARAMETERS or a parameter of the network's queue.

        DELAYS apply to each direction, all other parameters to the uplink; parameters of a queue
        have names such as `queue.packets`.
        """
        changes: dict[str, Any] = {parameter: value}
        if parameter in DELAYS:
            uplink, downlink = (replace(link, **changes) for link in (self.uplink, self.downlink))
            return replace(self, uplink=uplink, downlink=downlink)
        if parameter.startswith(OF_QUEUE):
            notation = Notation.parse(self.uplink.queue)
            changes = {"queue": str(notation.with_value(parameter.removeprefix(OF_QUEUE), value))}
        bound = bound_of_rate(value) if parameter == "rate_mbps" else self.omniscient
        return replace(self, uplink=replace(self.uplink, **changes), omniscient=bound)


OF_QUEUE = "queue."
DELAYS_MS = ("delay_ms", "delay_step_ms")
DELAYS = (*DELAYS_MS, "delay_period_s")
"""The propagation delay in one direction, and its changes."""
NETWORK_PARAMETERS = (*DELAYS, "rate_mbps", "loss_probability")
"""Network parameters that a study may vary, besides parameters of the uplink's queue and of its
synthetic trace."""


@dataclass(frozen=True)
class Traffic:
    """Flows, and measurements besides the link's metrics.

    Args:
        name: name of its file in the configuration.
        flows: by name, with the keys of a scenario's flow; flows under study have no controller.
        probes: by name, with the keys of a scenario's probe.
        options: keys of the scenario itself: measure_from_s, interval_s.

    The run's seed draws the start of a flow or probe with start_spread_s.
    """

    name: str = "alone"
    flows: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: {"flow": {}})
    probes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def measures_flows(self) -> bool:
        """Whether flows have separate metrics; the link's metrics suffice for one endless flow."""
        return self != ALONE


ALONE = Traffic()
"""One endless flow of the contest's datagrams."""


def scenario_of(
    network: PreparedNetwork, traffic: Traffic, subject: Mapping[str, Any], seed: int
) -> dict[str, Any]:
    """Returns the scenario of a run; `subject` has a flow's keys of the controller under study."""
    scenario = {
        "uplink": network.uplink.in_scenario(),
        "downlink": network.downlink.in_scenario(),
        "flows": [
            {**({} if "controller" in flow else subject), **_started(flow, name, seed)}
            for name, flow in traffic.flows.items()
        ],
        "probes": [_started(probe, name, seed) for name, probe in traffic.probes.items()],
        "host_model": network.host_model,
        "host_latency_us": network.host_latency_us,
        **traffic.options,
        "seed": seed,
    }
    if network.duration_s is not None:
        scenario["duration_s"] = network.duration_s
    return scenario


def _started(options: Mapping[str, Any], name: str, seed: int) -> dict[str, Any]:
    """Returns the options with the start drawn from the seed, in whole microseconds."""
    started = dict(options)
    spread_s = started.pop("start_spread_s", 0)
    if spread_s:
        digest = hashlib.sha256(f"{seed} {name}".encode()).digest()
        drawn = int.from_bytes(digest[:8]) / 2**64  # uniform in [0, 1)
        started["start_s"] = round(started.get("start_s", 0) + drawn * spread_s, 6)
    return started
