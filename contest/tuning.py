"""Searches the parameters that an entry declares, like those of any controller."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

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
from experiments.seeds import derive_seed
from networks.scenario import PreparedNetwork, Traffic
from search.plan import StudyPlan, plan_study


@dataclass(frozen=True)
class TunedEntry:
    """An entry whose parameters are searched.

    Args:
        name: of the entry.
        tree: its sender.
        declared: its kneepoint.yaml.
        builder: builds it, once for each setting of its macros.
    """

    name: str
    tree: Tree
    declared: EntryFile
    builder: EntryBuilder

    def plan(
        self, networks: list[PreparedNetwork], engine: EngineSettings, trials: int, seed: int
    ) -> StudyPlan:
        """Returns a study of the mean power over some networks, beginning with the defaults.

        Raises:
            KneepointError: the entry declares no parameters, or one that has no effect.
        """
        declared = self.declared.constants
        if not declared:
            raise KneepointError(f"{self.name}: declares no constants; name some in {ENTRY_FILE}")
        self._check_macros()
        study = Study(
            title=f"{self.name}, tuned",
            controller=self.name,
            networks=tuple(network.name for network in networks),
            space={
                name: Range(low=constant.range[0], high=constant.range[1], log=constant.log)
                for name, constant in declared.items()
            },
            sampler=Sampler(kind="tpe", trials=trials),
        )
        root = derive_seed(seed, self.name)
        plan = plan_study(self.name, study, self._as_controller(), {}, networks, engine, root)

        def specify(
            engine: EngineSettings,
            _controller: Controller,
            constants: Mapping[str, float],
            network: PreparedNetwork,
            seed: int,
            _traffic: Traffic,
        ) -> RunSpec:
            return RunSpec.on(engine, self._built(constants), constants, network, seed)

        return replace(plan, specify=specify)

    def _built(self, constants: Mapping[str, float]) -> Entry:
        try:
            return self.builder.entry_of(self.name, self.tree, self.declared, constants)
        except BuildError as error:
            settings = ", ".join(f"{k} = {v:g}" for k, v in constants.items()) or "the defaults"
            raise KneepointError(f"{self.name}: with {settings} it {error}") from None

    def _check_macros(self) -> None:
        """Raises KneepointError if the object is the same whatever value a macro has."""
        usual = self._built({}).sha256
        for name, constant in self.declared.constants.items():
            macro = constant.macro
            if macro is not None and all(
                self._built({name: value}).sha256 == usual for value in constant.range
            ):
                raise KneepointError(
                    f"{self.name}: {ENTRY_FILE}: constants.{name}: macro {macro} has no effect; if "
                    f"a #define of the tree overrides it, put that between #ifndef {macro} and "
                    "#endif"
                )

    def _as_controller(self) -> Controller:
        """The entry as the search sees a controller: its parameters."""
        constants = {
            name: Constant(
                name=name,
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
            for name, constant in self.declared.constants.items()
        }
        digest = sha256_of(self.declared.model_dump_json().encode())
        return Controller(self.name, digest, "", "", constants)


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
