"""`kneepoint tune`: searches the parameters that an entry declares."""

import math
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import click
import yaml

from kneepoint.cli import (
    PATH,
    common_options_anywhere,
    print_result,
    results_here,
    seed_option,
    subcommand,
)
from kneepoint.cli.entries import open_builder, trust_option
from kneepoint.cli.runs import prepared_network
from kneepoint.cli.study import text_of
from kneepoint.common.errors import KneepointError
from kneepoint.common.files import private_folder, sha256_of
from kneepoint.common.study_record import StudyRecord
from kneepoint.config.study import Range, Sampler, Study
from kneepoint.engines.base import EngineSettings
from kneepoint.engines.built import EMULATE
from kneepoint.engines.catalogue import Controller, Parameter
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.engines.entry import Entry
from kneepoint.entries.build import BuildError
from kneepoint.entries.collect import submission_at, take
from kneepoint.entries.config import ENTRY_FILE, EntryParameter
from kneepoint.entries.entries import EntryBuilder
from kneepoint.entries.tree import Tree, recognize
from kneepoint.networks.scenario import PreparedNetwork
from kneepoint.runs.executor import LocalExecutor
from kneepoint.runs.journal import open_journal
from kneepoint.runs.load import load_workflow
from kneepoint.runs.pipeline import follow
from kneepoint.runs.progress import Progress
from kneepoint.runs.runner import Runner
from kneepoint.runs.seeds import derive_seed
from kneepoint.search.plan import StudyPlan, plan_study
from kneepoint.search.study import search_and_repeat, total_of


@subcommand("""
    kneepoint tune anna
    kneepoint tune anna --trials 200 --network contest-2026 --network verizon-lte-driving-2
    kneepoint tune anna --json | jq .best
""")
@click.argument("entry", type=PATH)
@click.option(
    "--network",
    "networks",
    multiple=True,
    default=("contest-2026",),
    help="Name of a network (see `kneepoint list networks`); repeated: mean of powers.",
)
@click.option("--trials", type=click.IntRange(1), default=100)
@seed_option
@trust_option
@common_options_anywhere
def command(
    entry: Path,
    networks: tuple[str, ...],
    trials: int,
    seed: int,
    trust_entries: bool,
    config: Path,
    as_json: bool,
) -> None:
    """Search the parameters in ENTRY's kneepoint.yaml for the greatest power.

    The search is a study (TPE, starting from the declared defaults) and resumes if you run it
    again. The command prints the best setting and its power with fresh seeds.
    """
    submission = submission_at(entry)
    builder = open_builder(config, networks, is_trusting=trust_entries)
    engine = EmulatorSettings.of(EMULATE)
    folder = results_here(load_workflow(config).results) / "contests/tuned" / submission.name
    with private_folder("entry") as work, open_journal(folder) as journal:
        place = work / "tree"
        take(submission, place, builder.compiler.confined)
        tree = recognize(place)
        prepared = [prepared_network(name) for name in networks]
        plan = plan_tuning(
            submission.name, tree, builder, prepared, engine, trials=trials, seed=seed
        )
        progress = Progress(f"tune {submission.name}", total_of(plan))
        runner = Runner(
            journal, lambda _: LocalExecutor(engine), progress.add, on_failure=progress.fail
        )
        with closing(runner):
            outcome, best = follow(search_and_repeat(folder, plan), runner)
    outcome.write(folder)
    progress.end(outcome.message)
    found = StudyRecord.load(folder / "study.json")
    text = text_of(found)
    if best:
        words = tuned_text(tree.declared.parameters, best.parameters)
        text += f"\n\nFor kneepoint.yaml:\n\n{words}"
    print_result(outcome.summaries["study.json"], text, as_json, ok=found.has_succeeded)


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
