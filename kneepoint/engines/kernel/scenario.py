"""The scenarios that the kernel can run.

A scenario is the JSON that `build/emulate --scenario` reads. A key that the kernel cannot honour is
refused by name.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self, TypeVar, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from kneepoint.common.config_file import complaint_of
from kneepoint.common.errors import KneepointError
from kneepoint.common.files import read_bytes
from kneepoint.common.json_text import parse_json
from kneepoint.engines.limits import KERNEL
from kneepoint.networks.traffic import LINUX, Tcp, TrafficFlow
from kneepoint.networks.traffic import Probe as TrafficProbe

HEADERS_BYTES = 4
"""The overhead of an IP packet on the emulated link: 4 bytes of the TUN device."""
SEGMENT_BYTES, PAYLOAD_BYTES = 1504, 1448
"""Size of a full TCP segment on the link, and of its payload."""
LONGEST_S = 86_400
REQUEST_BYTES = 66
"""Size of the HTTP client's request (kneepoint.engines.kernel.traffic)."""

_KERNELS_OWN: Mapping[str, Mapping[str, float]] = {
    "reno": {"initial_window": 10, "alpha": 1, "beta": 0.5, "whole_packets": 1},
    "cubic": {
        "initial_window": 10,
        "c": 0.4,
        "beta": 0.7,
        "fast_convergence": 1,
        "hystart": 1,
        "whole_packets": 1,
    },
    "bbr": {
        "initial_window": 10,
        "high_gain": 2.885,
        "cwnd_gain": 2,
        "probe_gain": 1.25,
        "rate_rounds": 10,
        "full_growth": 1.25,
        "min_rtt_s": 10,
        "probe_rtt_ms": 200,
    },
    "vegas": {
        "initial_window": 10,
        "alpha": 2,
        "beta": 4,
        "gamma": 1,
        "divide_by_rtt": 0,
        "every_other_round": 0,
        "whole_packets": 1,
    },
    "hybla": {"initial_window": 10, "rtt0_ms": 25, "beta": 0.5, "follow_rtt": 0},
    "bic": {
        "initial_window": 10,
        "max_increment": 16,
        "min_increment": 0.01,
        "beta": 819 / 1024,
        "low_window": 14,
        "smooth_part": 20,
        "fast_convergence": 1,
        "halves": 0,
    },
}
"""Linux's congestion-control parameters, which no run can change."""
_UNLIMITED_PACKETS = 1_000_000
_BUFFER = "receive_buffer_bytes"


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Link(_Part):
    """One direction of the bottleneck."""

    rate_mbps: float = Field(ge=0.001, le=100_000)
    delay_ms: float = Field(default=20, ge=0, le=60_000)
    queue: str = "infinite"

    @property
    def packets(self) -> int:
        """The limit of the droptail queue of each class."""
        return int(KERNEL.queue(self.queue, "queue").parameters.get("packets", _UNLIMITED_PACKETS))

    @property
    def classes(self) -> int:
        """The number of classes that share the link fairly."""
        return int(KERNEL.queue(self.queue, "queue").parameters.get("classes", 1))


class Flow(TrafficFlow):
    """A TCP flow over the uplink: endless, or a download of `bytes` of payload."""

    controller: str
    transport: Literal["tcp"] = Field(default=cast(Any, "datagrams"), validate_default=True)
    controller_sha256: str = ""  # ignored: the emulator's controllers do not run here
    tcp: Tcp | None = None
    stop_s: float | None = Field(default=None, gt=0, le=LONGEST_S)
    bytes: int | None = Field(default=None, ge=1, le=1 << 50)
    sender: Literal["near"] = Field(default="near", alias="from")
    request_bytes: int | None = Field(default=None, ge=REQUEST_BYTES, le=REQUEST_BYTES)
    requests: Literal[1] = 1
    think_s: float = Field(default=0, ge=0, le=0)
    start_spread_s: float = Field(default=0, ge=0, le=0)

    @model_validator(mode="after")
    def _is_the_kernels(self) -> Self:
        if self.stop_s is not None and self.bytes is not None:
            raise ValueError("stop_s: a download ends with its bytes; remove stop_s")
        of_tcp = _of_tcp(self.tcp) if self.tcp else {}
        if self.socket_buffer_bytes and self.bytes is None:
            del of_tcp[_BUFFER]
        elif "send_buffer_bytes" in of_tcp or _BUFFER in of_tcp:
            raise ValueError(
                f"tcp: iperf3 sets both buffers of an endless flow; give only {_BUFFER}, "
                "or use the emulator"
            )
        for owned, given in (
            (_KERNELS_OWN.get(self.controller, {}), self.parameters),
            (_of_tcp(LINUX), of_tcp),
        ):
            for name, value in given.items():
                # TCP here has no keepalive. Linux's initial ssthresh exceeds any window.
                is_moot = name == "keepalive_ms" or (
                    name == "initial_ssthresh" and value >= _UNLIMITED_PACKETS
                )
                if not is_moot and owned.get(name) != value:
                    its = f"has {owned[name]:g}" if name in owned else "cannot set it"
                    raise ValueError(
                        f"{name}: {value:g}, but the kernel {its}; remove it or use the emulator"
                    )
        return self

    @property
    def socket_buffer_bytes(self) -> int | None:
        """The argument of setsockopt: Linux doubles it, and offers half of the buffer as window."""
        tcp = self.tcp
        if tcp is None or tcp.receive_buffer_bytes is None or tcp.send_buffer_bytes is not None:
            return None
        return tcp.receive_buffer_bytes // 2


def _of_tcp(settings: Tcp) -> dict[str, float]:
    return settings.model_dump(exclude_none=True)


class Probe(TrafficProbe):
    """A train of pings."""

    start_spread_s: float = Field(default=0, ge=0, le=0)
    interval_ms: float = Field(default=1000, ge=2, le=1e6)
    count: int | None = Field(default=None, ge=1, le=1_000_000)


SAMPLE_S = 0.05
"""Sampling interval of windows and queues."""
MAX_FLOWS = 100


class Load(_Part):
    """The traffic of a run and its measurements."""

    flows: tuple[Flow, ...] = Field(min_length=1, max_length=MAX_FLOWS)
    probes: tuple[Probe, ...] = ()
    duration_s: float = Field(ge=0.001, le=LONGEST_S)
    interval_s: float = Field(default=0, ge=0, le=LONGEST_S)
    measure_from_s: float = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _ends_last(self) -> Self:
        if self.measure_from_s >= self.duration_s:
            raise ValueError("measure_from_s: not before the end of the run")
        for key, senders in (("flows", self.flows), ("probes", self.probes)):
            for number, sender in enumerate(senders):
                if sender.start_s >= self.duration_s:
                    raise ValueError(f"{key}.{number}.start_s: not before the end of the run")
        if 0 < self.interval_s < SAMPLE_S:
            raise ValueError(
                f"interval_s: the kernel is sampled every {SAMPLE_S:g} s; use at least that"
            )
        return self

    @classmethod
    def of(cls, content: Mapping[str, Any], duration_s: float, where: str) -> Self:
        """Reads the traffic of a decoded scenario; raises KneepointError (see scenario_of)."""
        keys = ("flows", "probes", "interval_s", "measure_from_s")
        own = {key: content[key] for key in keys if key in content}
        return validated(cls, own | {"duration_s": duration_s}, where)


class Scenario(Load):
    """A run on the kernel's rig."""

    uplink: Link
    downlink: Link
    seed: int = 0

    @model_validator(mode="after")
    def _is_the_rigs(self) -> Self:
        if self.downlink.classes != 1:
            raise ValueError("downlink.queue: only the uplink has classes; remove them")
        classes = self.uplink.classes
        of_probes = {probe.share_class for probe in self.probes}
        used = {flow.share_class for flow in self.flows} | of_probes
        if classes > 1 and len(of_probes) > 1:
            raise ValueError(
                "probes: in several classes, but the rig cannot tell one probe's pings from "
                "another's; put all probes into one class"
            )
        if classes > 1 and used != set(range(classes)):
            raise ValueError(
                f"uplink.queue: {classes} classes, but flows and probes are in "
                f"{', '.join(map(str, sorted(used)))}; use each class, and no other"
            )
        return self


_OF_EMULATED_HOST = ("host_model", "host_latency_us")
"""A scenario's keys of the emulated host; ignored, because this host is real."""


def read_scenario(path: Path) -> dict[str, Any]:
    """Reads a scenario from a file and checks it (see scenario_of)."""
    try:
        content: dict[str, Any] = parse_json(read_bytes(path))
    except ValueError as error:
        raise KneepointError(f"{path}: not JSON ({error}); correct it") from None
    scenario_of(content, str(path))
    return content


def scenario_of(content: Mapping[str, Any], where: str) -> Scenario:
    """Checks a decoded scenario (see `build/emulate --scenario-schema`).

    Raises KneepointError, which begins with `where` and names the key, if the kernel cannot run it.
    """
    if not isinstance(content, Mapping):
        raise KneepointError(f"{where}: not an object; see build/emulate --scenario-schema")
    mine = {key: value for key, value in content.items() if key not in _OF_EMULATED_HOST}
    for name in ("uplink", "downlink"):
        if isinstance(mine.get(name), Mapping):
            link = mine[name]
            KERNEL.require({"queue": "infinite", **link}, f"{where}: {name}")
            mine[name] = {key: link[key] for key in link if key not in KERNEL.lacks}
    return validated(Scenario, mine, where)


Model = TypeVar("Model", bound=Load)


def validated(model: type[Model], content: Mapping[str, Any], where: str) -> Model:
    """Validates a scenario, or its traffic alone (see scenario_of)."""
    try:
        return model.model_validate_json(json.dumps(content), strict=True)
    except ValidationError as error:
        raise KneepointError(
            f"{where}: {complaint_of(error)}; see build/emulate --scenario-schema, and "
            "docs/kernel-tcp.md for keys that only the emulator supports"
        ) from None
