"""The state of the page, which its address contains: keys, defaults and meanings."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import AfterValidator, Field, model_validator

from kneepoint.common.config_file import ConfigModel, matching
from kneepoint.engines.catalogue import Catalogue
from kneepoint.networks.config import HostModel, Queue
from kneepoint.search.language import parse
from kneepoint.tools.playground.links import Link

Trace = Annotated[str, matching(r"([^:\s]+:([0-9a-f]{64})?)?", "NAME:SHA-256, without blanks")]


def _is_rule(text: str) -> str:
    if text:
        parse(text)
    return text


RuleText = Annotated[str, AfterValidator(_is_rule)]


class State(ConfigModel):
    """The settings that the page runs."""

    controller: str = Field(default="fixed_window", description="controller of the flow")
    set: Mapping[str, float] = Field(
        default={}, description="parameters of the controller by name, in the address set.NAME"
    )
    rule: RuleText = Field(default="", description="text of the rule of controller rule")
    link: Link = Field(
        default="synthetic-slow",
        description="a network with synthetic links, `constant`, `port`: of a router, by bytes, or "
        "`file`: a trace of the reader",
    )
    rate_mbps: float = Field(default=12, gt=0, description="constant rate (Mbit/s)")
    duration_s: float = Field(default=60, gt=0, description="duration at a constant rate (s)")
    uplink: Trace = Field(default="", description="NAME:SHA-256 of the reader's trace")
    downlink: Trace = Field(
        default="", description="NAME:SHA-256 of the trace of the way back; empty: as uplink"
    )
    delay_ms: int = Field(
        default=20, ge=0, le=60_000, description="propagation delay, one way (ms)"
    )
    queue: Queue = Field(default="infinite", description="queue, such as droptail:packets=100")
    loss: float = Field(default=0, ge=0, le=1, description="probability that a packet is lost")
    host_model: HostModel = Field(default="event-loop", description="model of the hosts")
    host_latency_us: float = Field(
        default=600, ge=0, le=1e6, description="latency of the hosts (us)"
    )
    seed: int = Field(default=1, ge=0, lt=2**53, description="seed of the hosts and losses")
    beside: str = Field(default="", description="controller of a second flow; empty: none")
    sweep: str = Field(default="", description="parameter that is swept; empty: the first")
    further: Mapping[str, Any] = Field(
        default={},
        description="changes of the scenario that the other keys describe, as a JSON merge patch "
        "(RFC 7396); a flow without a controller is the controller's",
    )
    b: str = Field(default="", description="controller of a second setting; empty: none")
    b_set: Mapping[str, float] = Field(
        default={}, description="parameters of this controller by name, in the address b.set.NAME"
    )
    b_rule: RuleText = Field(
        default="", description="text of the rule of this controller, in the address b.rule"
    )

    @model_validator(mode="after")
    def _has_rules_of_rules(self) -> Self:
        sides = (("rule", self.controller, self.set), ("b_rule", self.b, self.b_set))
        for key, name, values in sides:
            if getattr(self, key) and name != "rule":
                raise ValueError(f"{key} is for the controller rule, not {name or 'none'}")
            encoded = [each for each in values if each.startswith(("code_", "number_"))]
            if getattr(self, key) and encoded:
                raise ValueError(f"the text of {key} gives {encoded[0]}; remove it from set")
        return self

    def check_controllers(self, catalogue: Catalogue, where: str) -> None:
        """Raises KneepointError if a controller or a parameter is unknown, or out of range."""
        settings: tuple[tuple[str, Mapping[str, float]], ...] = (
            (self.controller, self.set),
            (self.b, self.b_set),
            (self.beside, {}),
        )
        for name, values in settings:
            if name:
                controller = catalogue.controller(name, where)
                controller.require("datagrams", where)
                controller.require_marks([self.queue], where)
                controller.complete(values, where)
        if self.sweep:
            catalogue.controllers[self.controller].parameter(self.sweep, f"{where}: sweep")
