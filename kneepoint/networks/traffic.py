"""Configuration models of traffic: flows and probes."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, model_validator

from kneepoint.common.config_file import ConfigModel
from kneepoint.networks.config import Name


class Tcp(ConfigModel):
    """Details of TCP; null stands for the default of the RFCs or the emulator."""

    sack: bool | None = Field(
        default=None, description="recovery by RFC 6675 (null: true); false: NewReno, RFC 6582"
    )
    min_rto_ms: float | None = Field(
        default=None,
        ge=1,
        le=60_000,
        description="minimum retransmission timeout: 1000 in RFC 6298, 200 in Linux",
    )
    min_rto_margin_ms: float | None = Field(
        default=None,
        ge=1,
        le=60_000,
        description="minimum of 4 RTTVAR, which the retransmission timeout adds to the smoothed "
        "RTT: 1 (null), the clock's granularity of RFC 6298, or 200 in Linux",
    )
    delayed_ack_ms: float | None = Field(
        default=None, ge=0, le=500, description="0: the receiver acknowledges every segment"
    )
    receive_window_packets: int | None = Field(
        default=None, ge=1, le=2**20, description="receive window (packets)"
    )
    send_buffer_bytes: int | None = Field(
        default=None,
        ge=1448,
        le=2**40,
        description="the sender's socket buffer, which bounds unacknowledged data to at least a "
        "segment's 1448 bytes (tcp_wmem in Linux; null: unlimited)",
    )
    receive_buffer_bytes: int | None = Field(
        default=None,
        ge=2896,
        le=2**40,
        description="the receiver's socket buffer, of which half is the receive window, at least "
        "a segment's 1448 bytes (tcp_rmem in Linux; null: unlimited)",
    )
    ecn: bool | None = Field(
        default=None,
        description="whether packets may be marked instead of dropped (RFC 3168; null: false)",
    )
    rack: bool | None = Field(
        default=None,
        description="whether losses, even of retransmissions, are detected by time, and tail "
        "losses by probes (RACK-TLP, RFC 8985), as in Linux (null: false)",
    )
    prr: bool | None = Field(
        default=None,
        description="whether recovery sends in proportion to delivered data (proportional rate "
        "reduction, RFC 6937), as in Linux (null: false)",
    )
    undo: bool | None = Field(
        default=None,
        description="whether spurious timeouts and recoveries are detected by timestamps and "
        "undone (RFC 3522, RFC 4015), as in Linux (null: false)",
    )
    quick_acks: int | None = Field(
        default=None,
        ge=0,
        le=1000,
        description="segments of a new connection that the receiver acknowledges at once: "
        "0 (null), or 16 in Linux",
    )

    @model_validator(mode="after")
    def _has_sack_for_rack(self) -> Self:
        if self.rack and self.sack is False:
            raise ValueError("rack: needs sack; remove one of them")
        return self


LINUX = Tcp(
    sack=True,
    min_rto_ms=200,
    min_rto_margin_ms=200,
    delayed_ack_ms=40,
    rack=True,
    prr=True,
    undo=True,
    quick_acks=16,
)
"""Linux's settings of all details that the emulator has."""


def _by_name(value: Any) -> Any:
    if isinstance(value, str) and value != "linux":
        raise ValueError("the only name is linux; write it, or the details that differ")
    return LINUX if value == "linux" else value


class Sender(ConfigModel):
    """Keys that flows and probes share."""

    start_s: float = Field(default=0, ge=0, description="start time (s)")
    start_spread_s: float = Field(
        default=0, ge=0, description="random delay of the start, up to this, in each run (s)"
    )
    share_class: int = Field(
        default=0,
        ge=0,
        le=1000,
        alias="class",
        description="class in a queue with classes",
    )

    @property
    def latest_start_s(self) -> float:
        """Its latest start (s)."""
        return self.start_s + self.start_spread_s


class TrafficFlow(Sender):
    """One flow."""

    controller: str | None = Field(
        default=None, description="the flow's controller; null: the controller under study"
    )
    parameters: Mapping[str, float] = Field(
        default={}, description="parameters of a controller that is not under study"
    )
    transport: Literal["datagrams", "tcp"] = Field(
        default="datagrams", description="the contest's datagrams, or TCP"
    )
    tcp: Annotated[
        Tcp | None,
        BeforeValidator(_by_name, json_schema_input_type=Tcp | Literal["linux"] | None),
    ] = Field(default=None, description="details of TCP; linux: as in Linux")
    stop_s: float | None = Field(
        default=None,
        gt=0,
        description="time after which the flow sends no new data (s); null: the end of the run",
    )
    bytes: int | None = Field(default=None, ge=1, description="payload (bytes); null: endless")
    sender: Literal["near", "far"] = Field(
        default="near",
        alias="from",
        description="the end that sends the data: near, over the uplink, or far, over the downlink",
    )
    request_bytes: int | None = Field(
        default=None,
        ge=1,
        le=14_480,
        description="size of a request (bytes): the receiver opens the connection and requests "
        "`bytes`; TCP only",
    )
    requests: int = Field(default=1, ge=1, le=1_000_000, description="requests, one after another")
    think_s: float = Field(
        default=0, ge=0, description="think time between an answer and the next request (s)"
    )

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if self.controller is None and self.parameters:
            raise ValueError(
                "has parameters, but the controller under study has its own; remove them"
            )
        if self.tcp and self.transport != "tcp":
            raise ValueError("has tcp, but its transport is datagrams; give transport: tcp")
        if self.request_bytes is not None and (self.transport != "tcp" or self.bytes is None):
            raise ValueError("has request_bytes, which needs transport: tcp and bytes; add them")
        if self.request_bytes is None and (self.requests > 1 or self.think_s > 0):
            raise ValueError("has requests or think_s, but no request_bytes; add it")
        if self.stop_s is not None and self.stop_s <= self.latest_start_s:
            raise ValueError(f"stop_s {self.stop_s:g} must be after the latest start")
        return self

    @property
    def options(self) -> dict[str, Any]:
        """The keys of a scenario's flow, without the controller's."""
        return self.model_dump(
            exclude={"controller", "parameters"}, exclude_defaults=True, by_alias=True
        )


class Probe(Sender):
    """Small datagrams that the far end answers at once, like ICMP echo requests."""

    interval_ms: float = Field(default=1000, ge=1, description="interval between probes (ms)")
    count: int | None = Field(default=None, ge=1, description="number of probes; null: endless")
    bytes: int = Field(default=88, ge=32, le=1504, description="size on the link (bytes)")

    @property
    def options(self) -> dict[str, Any]:
        """The keys of a scenario's probe."""
        content = self.model_dump(exclude_none=True, by_alias=True)
        return {key: value for key, value in content.items() if key != "class" or value}


class TrafficFile(ConfigModel):
    """Flows and probes on one network: config/traffic/NAME.yaml."""

    title: str = Field(min_length=1, description="title in reports")
    flows: Mapping[Name, TrafficFlow] = Field(
        min_length=1,
        description="flows by name; flows of the controller under study come first",
    )
    probes: Mapping[Name, Probe] = Field(default={}, description="probes by name")
    measure_from_s: float = Field(
        default=0, ge=0, description="start of the metrics of endless flows (s)"
    )
    interval_s: float | None = Field(
        default=None, ge=0.001, description="interval of rate, window and RTT over time (s)"
    )

    @model_validator(mode="after")
    def _has_a_subject(self) -> Self:
        if all(flow.controller for flow in self.flows.values()):
            raise ValueError("no flow has the controller under study; remove a flow's controller")
        return self
