"""Searches the parameters that an entry declares, like those of any controller."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from common.errors import KneepointError
from common.files import sha256_of
from contest.build import BuildError
from contest.config import ENTRY_FILE, EntryFile
from contest.entries import EntryBuilder
from contest.tree import Tree
from engines.base import EngineSettings, RunSpec
from engines.catalogue import Constant, Controller
from engines.entry import Entry
from experiments.models.study import Range, Sampler, Study
from experiments.seeds import study_seed
from networks.scenario import PreparedNetwork, Traffic
from search.plan import StudyPlan, plan_study


def plan_tuning(
    name: str,
    tree: Tree,
    declared: EntryFile,
    builder: EntryBuilder,
    networks: list[PreparedNetwork],
    engine: EngineSettings,
    trials: int,
    seed: int,
) -> StudyPlan:
    """Returns a study that searches for the greatest power, beginning with the defaults.

    Args:
        name: of the entry.
        tree: its sender.
        declared: its kneepoint.yaml.
        builder: builds it, once for each setting of its macros.
        networks: over which the mean of the power is taken.
        engine: makes the runs.
        trials: their number.
        seed: of everything random.

    Raises:
        KneepointError: it declares no parameters, or one that has no effect.
    """
    if not declared.constants:
        raise KneepointError(f"{name}: declares no constants; name some in its {ENTRY_FILE}")
    _check_macros(name, tree, declared, builder)
    controller = _as_controller(name, declared)
    study = Study(
        title=f"{name}, tuned",
        controller=name,
        networks=tuple(network.name for network in networks),
        space={
            each: Range(low=constant.range[0], high=constant.range[1], log=constant.log)
            for each, constant in declared.constants.items()
        },
        sampler=Sampler(kind="tpe", trials=trials),
    )
    plan = plan_study(name, study, controller, {}, networks, engine, study_seed(seed, name))

    def specify(
        engine: EngineSettings,
        controller: Controller,
        constants: Mapping[str, float],
        network: PreparedNetwork,
        seed: int,
        traffic: Traffic,
    ) -> RunSpec:
        del traffic  # alone
        entry = _built(controller.name, tree, declared, builder, constants)
        return RunSpec.on(engine, entry, constants, network, seed)

    return replace(plan, specify=specify)


def _built(
    name: str,
    tree: Tree,
    declared: EntryFile,
    builder: EntryBuilder,
    constants: Mapping[str, float],
) -> Entry:
    try:
        return builder.entry_of(name, tree, declared, constants)
    except BuildError as error:
        settings = ", ".join(f"{k} = {v:g}" for k, v in constants.items()) or "the defaults"
        raise KneepointError(f"{name}: with {settings} it {error}") from None


def _check_macros(name: str, tree: Tree, declared: EntryFile, builder: EntryBuilder) -> None:
    """Raises KneepointError if the object is the same whatever value a macro has."""
    usual = _built(name, tree, declared, builder, {}).sha256
    for each, constant in declared.constants.items():
        macro = constant.macro
        if macro is not None and all(
            _built(name, tree, declared, builder, {each: value}).sha256 == usual
            for value in constant.range
        ):
            raise KneepointError(
                f"{name}: {ENTRY_FILE}: constants.{each}: macro {macro} has no effect; if a "
                f"#define of the tree overrides it, put that between #ifndef {macro} and #endif"
            )


def _as_controller(name: str, declared: EntryFile) -> Controller:
    """An entry as a controller to the search: its parameters."""
    constants = {
        each: Constant(
            name=each,
            is_integer=constant.integer,
            default=constant.default,
            low=constant.range[0],
            high=constant.range[1],
            least=-math.inf,
            most=math.inf,
            is_log=constant.log,
            unit=constant.unit,
            meaning=constant.meaning,
        )
        for each, constant in declared.constants.items()
    }
    return Controller(name, sha256_of(declared.model_dump_json().encode()), "", "", constants)


def tuned_text(declared: EntryFile, best: Mapping[str, float]) -> str:
    """Returns the constants of an entry's kneepoint.yaml with the best values as defaults."""
    lines = ["constants:"]
    for name, constant in declared.constants.items():
        way = (
            f"macro: {constant.macro}" if constant.macro else f"environment: {constant.environment}"
        )
        low, high = (constant.text(value) for value in constant.range)
        words = [way, f"default: {constant.text(best[name])}", f"range: [{low}, {high}]"]
        words += [f"{key}: true" for key in ("integer", "log") if getattr(constant, key)]
        if constant.unit != "1":
            words.append(f"unit: {constant.unit}")
        lines.append(f"  {name}: {{{', '.join(words)}}}")
    return "\n".join(lines)


def folder_of(results: Path, name: str) -> Path:
    """Returns where the study of an entry is kept."""
    return results / "contests" / "tuned" / name
