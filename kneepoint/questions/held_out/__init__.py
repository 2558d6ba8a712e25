"""Do settings stay good on networks that no search used, and what does generality cost?"""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from kneepoint.common.config_file import ConfigModel
from kneepoint.common.errors import KneepointError
from kneepoint.config import settings
from kneepoint.config.workflow import Workflow
from kneepoint.reports.parts import AT_A_GLANCE, ELSEWHERE, FINDINGS, WORKS
from kneepoint.runs.question import (
    CountedRuns,
    Experiment,
    ExperimentKind,
    Question,
    Section,
    Stage,
)

_HELD_OUT = ExperimentKind(
    "hold_out_settings",
    ("settings.parquet", "networks.parquet"),
    "Running published and tuned settings on held-out networks",
    f"{__name__}.plan:plan",
)


class HoldOut(settings.HoldOut):
    """Held-out networks, on which published and tuned settings run."""

    published: Literal["all", "best"] = Field(
        default="all", description="every replayed row, or only each controller's best row"
    )
    defaults: bool = Field(
        default=False,
        description="whether the defaults of each tuned controller count as published settings",
    )
    repeats: int = Field(
        default=5,
        ge=1,
        description="replicates of tuned settings and of each controller's best row on each "
        "network; other rows run once",
    )


class Settings(ConfigModel):
    """The question's keys of config.yaml."""

    hold_out: HoldOut | None = Field(
        default=None,
        description="held-out networks, on which published and tuned settings also run",
    )


def _experiments(workflow: Workflow) -> Iterator[Experiment]:
    held = workflow.settings.part(Settings).hold_out
    if held:
        yield Experiment(
            "hold_out",
            _HELD_OUT,
            controllers=workflow.held_controllers,
            networks=[held.training, *held.networks],
            needs=[*workflow.replays, *workflow.tunings],
            settings=str(held),
        )


def _check(workflow: Workflow) -> None:
    """Refuses held-out networks on which a study tunes."""
    held = workflow.settings.part(Settings).hold_out
    if held is None:
        return
    if not workflow.tunings:
        raise KneepointError(
            f"{workflow.path}: hold_out: no study tunes a controller on {held.training}; add one "
            "to studies, or remove hold_out"
        )
    for name, study in workflow.studies.items():
        for network in study.networks if study.tunes else ():
            if network in held.networks:
                raise KneepointError(
                    f"{workflow.path}: hold_out: study {name} tunes on the held-out network "
                    f"{network}; remove it from the study or from hold_out"
                )
    _check_recordings(workflow, held)


def _check_recordings(workflow: Workflow, held: HoldOut) -> None:
    """Refuses parts of one recording among both training and held-out networks."""
    tuned = {
        recording: (name, network)
        for name, study in workflow.studies.items()
        if study.tunes
        for network in study.networks
        for recording in workflow.networks[network].recordings
    }
    for network in held.networks:
        for recording in workflow.networks[network].recordings:
            if recording in tuned:
                study, own = tuned[recording]
                raise KneepointError(
                    f"{workflow.path}: hold_out: {network} is part of the recording {recording}, "
                    f"and so is {own}, on which study {study} tunes; remove one of the two"
                )


QUESTION = Question(
    sections=(
        Section(ELSEWHERE, 10),
        Section(FINDINGS, 20, "finding"),
        Section(FINDINGS, 50, "taken"),
        Section(AT_A_GLANCE, 20, "glance"),
        Section(WORKS, 30, "works"),
    ),
    experiments=_experiments,
    settings=Settings,
    folders=("hold_out",),
    check=_check,
    stages=(
        Stage(
            groups=("hold_out", "studies", "published"),
            tables=(
                "held_out_settings",
                "held_out_gains",
                "held_out_profiles",
                "held_out_duels",
                "held_out_networks",
                "held_out_power",
                "generality",
            ),
        ),
    ),
    figures=("plane", "held-out-gain", "held-out-map"),
    counts=(CountedRuns(40, ("hold_out",)),),
    order=60,
)
