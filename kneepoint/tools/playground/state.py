"""The state of the page, which its address contains: keys, defaults and meanings."""

from collections.abc import Mapping

from pydantic import Field

from kneepoint.common.config_file import ConfigModel


class State(ConfigModel):
    """The settings that the page runs; the emulator checks controllers, parameters and queues."""

    controller: str = Field(default="fixed_window", description="controller of the flow")
    set: Mapping[str, float] = Field(
        default={}, description="parameters of the controller by name, in the address set.NAME"
    )
    link: str = Field(
        default="synthetic-slow",
        description="a network with synthetic links, `constant`, or `file`: a trace of the reader",
    )
    rate_mbps: float = Field(default=12, gt=0, description="rate of the constant link (Mbit/s)")
    duration_s: float = Field(default=60, gt=0, description="duration of the constant link (s)")
    uplink: str = Field(default="", description="NAME:SHA-256 of the reader's trace")
    downlink: str = Field(
        default="", description="NAME:SHA-256 of the trace of the way back; empty: as uplink"
    )
    delay_ms: float = Field(default=20, ge=0, description="propagation delay, one way (ms)")
    queue: str = Field(default="infinite", description="queue, such as droptail:packets=100")
    loss: float = Field(default=0, ge=0, le=1, description="probability that a packet is lost")
    host_model: str = Field(default="event-loop", description="model of the hosts")
    host_latency_us: float = Field(default=600, ge=0, description="latency of the hosts (us)")
    seed: int = Field(default=1, ge=0, description="seed of the hosts and losses")
    beside: str = Field(default="", description="controller of a second flow; empty: none")
    sweep: str = Field(default="", description="parameter that is swept; empty: the first")
    b: str = Field(default="", description="controller of a second setting; empty: none")
    b_set: Mapping[str, float] = Field(
        default={}, description="parameters of this controller by name, in the address b.set.NAME"
    )
