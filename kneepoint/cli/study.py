"""`kneepoint study`: runs or resumes one study."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import click

from kneepoint.analysis import labels
from kneepoint.analysis.frames import PARAMETER
from kneepoint.analysis.results import Results
from kneepoint.cli import common_options, cores_option, print_result, subcommand
from kneepoint.cli.runs import make_checked
from kneepoint.common.errors import require_known
from kneepoint.common.files import read_json
from kneepoint.common.study_record import BestTrial, StudyRecord, natural_value
from kneepoint.common.units import unit_of
from kneepoint.runs.load import load_workflow
from kneepoint.runs.registry import experiments_of


@subcommand("""
    kneepoint study best-window
    kneepoint study tune-timely --cores 2 --json
""")
@click.argument("name")
@cores_option
@common_options
def command(name: str, cores: str, config: Path, as_json: bool) -> None:
    """Run or resume the study NAME; print the best trial and its value with fresh seeds.

    NAME is the name of a study that the configuration lists, from a file in studies/. The command
    first makes everything that the study needs. The exit status is 1 if every trial has a failed
    run.
    """
    workflow = load_workflow(config)
    require_known(name, workflow.studies, f"{config}: lists no study {name!r}")
    folder = workflow.results / name
    files = [folder / file for file in experiments_of(workflow)[name].files]
    make_checked(workflow, files, cores, quiet=as_json)
    path = folder / "study.json"
    found = StudyRecord.load(path)
    controller, results = workflow.studies[name].controller, Results.of(config)
    text = text_of(found, partial(results.unit, controller))
    print_result(read_json(path), text, as_json, ok=found.has_succeeded)


def text_of(found: StudyRecord, unit: Callable[[str], str] = unit_of) -> str:
    """Returns the outcome of a study as text; `unit` returns the unit of a parameter."""
    failed = found.failed
    what = f"rows of {found.table} replayed" if found.table else "trials"
    said = f"{found.title}: {found.n_trials} {what}"
    said += f", {failed.trials} of them failed ({failed})" if failed.trials else ""
    if found.best is None or found.table:
        return said
    posterior = found.posterior
    sure = (
        f", within 1 % of the best of {posterior.candidates} with probability "
        f"{posterior.within_1_percent:.2f} ({posterior.runs} of at most {posterior.budget} further "
        "runs)"
        if posterior
        else ""
    )
    goal = found.objective.replace("mean_log", "geometric mean")
    searched = {key.removeprefix(PARAMETER): value for key, value in found.best.searched.items()}
    parameters = labels.parameters_with_units(searched, {name: unit(name) for name in searched})
    return (
        f"{said}, best {_stated(found, found.best)} ({goal}), trial {found.best.trial}"
        f"{sure}\n{parameters}"
    )


def _stated(found: StudyRecord, best: BestTrial) -> str:
    """Formats the best value, from fresh seeds if they have run, otherwise from the search."""
    read = partial(natural_value, found.objective)
    if best.low is None or best.high is None:
        return f"{read(best.value):.4g} in its search"
    low, high = read(best.low), read(best.high)
    return f"{read(best.value):.4g} [{low:.4g}, {high:.4g}] with fresh seeds ({best.runs} runs)"
