"""Configuration model: an exercise, a page with a task."""

from typing import Any, Literal, Self

from markdown_it import MarkdownIt
from pydantic import Field, model_validator

from kneepoint.common.config_file import ConfigModel
from kneepoint.common.errors import require_known
from kneepoint.engines.catalogue import Catalogue
from kneepoint.tools.playground.state import State

Metric = Literal["power", "throughput_mbps", "signal_delay_p95_ms", "utilization"]

_SETTING = {"controller", "set", "rule", "b", "b_set", "b_rule", "sweep"}
"""Keys of a state that readers choose."""


class Goal(ConfigModel):
    """A goal for a metric: a bound, or a better value than another state has."""

    metric: Metric = Field(description="power, throughput_mbps, signal_delay_p95_ms, utilization")
    at_least: float | None = Field(default=None, description="least value")
    at_most: float | None = Field(default=None, description="greatest value")
    beats: State | None = Field(
        default=None,
        description="state, with a controller, whose value must be exceeded or, for a delay, "
        "undercut",
    )

    @model_validator(mode="after")
    def _has_one_bound(self) -> Self:
        if [self.at_least, self.at_most, self.beats].count(None) != 2:
            raise ValueError("it must have one of at_least, at_most and beats")
        if self.beats and "controller" not in self.beats.model_fields_set:
            raise ValueError("beats: has no controller; add it")
        return self


class Exercise(ConfigModel):
    """An exercise: config/exercises/NAME.yaml."""

    title: str = Field(min_length=1, description="title of the page")
    text: str = Field(min_length=1, description="the task, in Markdown")
    start: State = Field(default=State(), description="state of the page when it opens")
    controllers: tuple[str, ...] = Field(min_length=1, description="controllers to choose from")
    parameters: tuple[str, ...] | None = Field(
        default=None, min_length=1, description="parameters with a slider; null: all parameters"
    )
    sweep: bool = Field(default=False, description="show the sweep, whose knee is marked")
    goals: tuple[Goal, ...] = Field(min_length=1, description="goals to reach")
    hidden: State | None = Field(
        default=None,
        description="changes of the state for a second run, whose link the page does not show",
    )

    @model_validator(mode="after")
    def _runs_what_it_offers(self) -> Self:
        for name in filter(None, (self.start.controller, self.start.b)):
            if name not in self.controllers:
                raise ValueError(f"start: controller {name} must be in controllers; add it")
        for key in _SETTING & (self.hidden.model_fields_set if self.hidden else set()):
            raise ValueError(f"hidden: the reader chooses {key}; remove it")
        return self

    def check_controllers(self, catalogue: Catalogue, where: object) -> None:
        """Raises KneepointError if the catalogue lacks a controller or a parameter.

        Args:
            catalogue: of the emulator.
            where: the exercise's file.
        """
        offered = [catalogue.controller(name, f"{where}: controllers") for name in self.controllers]
        known = sorted({name for each in offered for name in each.parameters})
        for name in self.parameters or ():
            require_known(name, known, f"{where}: parameters: no controller has {name!r}")
        beaten = {f"goals.{k}.beats": goal.beats for k, goal in enumerate(self.goals)}
        for key, state in {"start": self.start, "hidden": self.hidden, **beaten}.items():
            if state:
                state.check_controllers(catalogue, f"{where}: {key}")

    def for_page(self) -> dict[str, Any]:
        """Returns the keys of the file for the page, with HTML of the text."""
        text = MarkdownIt("commonmark", {"html": False}).render(self.text)
        return self.model_dump(exclude_unset=True) | {"text": text}
