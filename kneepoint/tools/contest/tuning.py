"""Searches the parameters that an entry declares, like those of any controller."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import yaml

from kneepoint.common.errors import KneepointError
from kneepoint.common.files import sha256_of
from kneepoint.config.study import (
    Range,
    Sampler,
    Study,
)
from kneepoint.engines.base import EngineSettings
from kneepoint.engines.catalogue import Constant, Controller
from kneepoint.engines.entry import Entry
from kneepoint.entries.build import BuildError
from kneepoint.entries.config import ENTRY_FILE, EntryConstant
from kneepoint.entries.entries import EntryBuilder
from kneepoint.entries.tree import Tree
from kneepoint.networks.scenario import PreparedNetwork
from kneepoint.runs.seeds import derive_seed
from kneepoint.search.plan import StudyPlan, plan_study


def plan_tuning(
    name: str,
    tree: Tree,
    builder: EntryBuilder,
    networks: list[PreparedNetwork],
    engine: EngineSettings,
    *,
    trials: int,
    seed: int,
) -> StudyPlan:
    """Returns a study of an entry's mean power over networks, starting from the defaults.

    The entry is built once for each setting of its macros.

    Raises:
        KneepointError: the entry declares no parameters, or a parameter without effect.
    """
    declared = tree.declared.constants

    def built(constants: Mapping[str, float]) -> Entry:
        try:
            return builder.entry_of(name, tree, constants)
        except BuildError as error:
            settings = ", ".join(f"{k} = {v:g}" for k, v in constants.items()) or "the defaults"
            raise KneepointError(f"{name}: with {settings} it {error}") from None

    if not declared:
        raise KneepointError(f"{name}: declares no constants; name some in {ENTRY_FILE}")
    _check_macros(name, declared, built)
    study = Study(
        title=f"{name}, tuned",
        controller=name,
        networks=tuple(network.name for network in networks),
        space={
            key: Range(low=constant.range[0], high=constant.range[1], log=constant.log)
            for key, constant in declared.items()
        },
        sampler=Sampler(kind="tpe", trials=trials),
    )
    digest = sha256_of(tree.declared.model_dump_json().encode())
    constants = {key: _as_controllers(key, constant) for key, constant in declared.items()}
    controller = Controller(name, digest, "", "", constants)
    root = derive_seed(seed, name)
    plan = plan_study(name, study, controller, {}, networks, engine, root)
    return replace(plan, subject=lambda values: (built(values), values))


def _check_macros(
    name: str,
    declared: Mapping[str, EntryConstant],
    built: Callable[[Mapping[str, float]], Entry],
) -> None:
    """Raises KneepointError if the built object does not depend on a macro."""
    usual = built({}).sha256
    for key, constant in declared.items():
        macro = constant.macro
        if macro and all(built({key: value}).sha256 == usual for value in constant.range):
            raise KneepointError(
                f"{name}: {ENTRY_FILE}: constants.{key}: macro {macro} has no effect; if "
                f"a #define of the tree overrides it, put that between #ifndef {macro} and "
                "#endif"
            )


def _as_controllers(name: str, constant: EntryConstant) -> Constant:
    """Converts a parameter of an entry into the declaration of a controller's parameter."""
    low, high = constant.range
    return Constant(
        name=name,
        is_integer=constant.integer,
        default=constant.default,
        low=low,
        high=high,
        least=-math.inf,
        most=math.inf,
        is_log=constant.log,
        unit=constant.unit,
        meaning=constant.meaning,
    )


def tuned_text(declared: Mapping[str, EntryConstant], best: Mapping[str, float]) -> str:
    """Returns the constants of an entry's kneepoint.yaml with the best values as defaults."""
    constants = {}
    for name, constant in declared.items():
        number = int if constant.integer else float
        values = {"default": number(best[name]), "range": [number(end) for end in constant.range]}
        constants[name] = constant.model_dump(mode="json", exclude_defaults=True) | values
    return yaml.safe_dump(
        {"constants": constants}, sort_keys=False, default_flow_style=None, allow_unicode=True
    ).rstrip()
