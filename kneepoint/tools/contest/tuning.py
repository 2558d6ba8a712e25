"""Searches the parameters that an entry declares, like a controller's parameters."""

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import yaml

from kneepoint.common.errors import KneepointError
from kneepoint.common.files import sha256_of
from kneepoint.config.study import Range, Sampler, Study
from kneepoint.engines.base import EngineSettings
from kneepoint.engines.catalogue import Controller, Parameter
from kneepoint.engines.entry import Entry
from kneepoint.entries.build import BuildError
from kneepoint.entries.config import ENTRY_FILE, EntryParameter
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
    declared = tree.declared.parameters

    def built(parameters: Mapping[str, float]) -> Entry:
        try:
            return builder.entry_of(name, tree, parameters)
        except BuildError as error:
            settings = ", ".join(f"{k} = {v:g}" for k, v in parameters.items()) or "the defaults"
            raise KneepointError(f"{name}: with {settings} it {error}") from None

    if not declared:
        raise KneepointError(f"{name}: declares no parameters; name some in {ENTRY_FILE}")
    _check_macros(name, declared, built)
    study = Study(
        title=f"{name}, tuned",
        controller=name,
        networks=tuple(network.name for network in networks),
        space={
            key: Range(low=parameter.range[0], high=parameter.range[1], log=parameter.log)
            for key, parameter in declared.items()
        },
        sampler=Sampler(kind="tpe", trials=trials),
    )
    digest = sha256_of(tree.declared.model_dump_json().encode())
    parameters = {key: _as_controllers(key, parameter) for key, parameter in declared.items()}
    controller = Controller(name, digest, "", "", parameters)
    root = derive_seed(seed, name)
    plan = plan_study(name, study, controller, {}, networks, engine, root)
    return replace(plan, subject=lambda values: (built(values), values))


def _check_macros(
    name: str,
    declared: Mapping[str, EntryParameter],
    built: Callable[[Mapping[str, float]], Entry],
) -> None:
    """Raises KneepointError if the built object does not depend on a macro."""
    usual = built({}).sha256
    for key, parameter in declared.items():
        macro = parameter.macro
        if macro and all(built({key: value}).sha256 == usual for value in parameter.range):
            raise KneepointError(
                f"{name}: {ENTRY_FILE}: parameters.{key}: macro {macro} has no effect; if "
                f"a #define of the tree overrides it, put that between #ifndef {macro} and "
                "#endif"
            )


def _as_controllers(name: str, parameter: EntryParameter) -> Parameter:
    """Converts a parameter of an entry into the declaration of a controller's parameter."""
    low, high = parameter.range
    return Parameter(
        name=name,
        is_integer=parameter.integer,
        default=parameter.default,
        low=low,
        high=high,
        min=-math.inf,
        max=math.inf,
        is_log=parameter.log,
        unit=parameter.unit,
        meaning=parameter.meaning,
    )


def tuned_text(declared: Mapping[str, EntryParameter], best: Mapping[str, float]) -> str:
    """Returns the parameters of an entry's kneepoint.yaml with the best values as defaults."""
    parameters = {}
    for name, parameter in declared.items():
        number = int if parameter.integer else float
        values = {"default": number(best[name]), "range": [number(end) for end in parameter.range]}
        parameters[name] = parameter.model_dump(mode="json", exclude_defaults=True) | values
    return yaml.safe_dump(
        {"parameters": parameters}, sort_keys=False, default_flow_style=None, allow_unicode=True
    ).rstrip()
