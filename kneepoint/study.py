"""`kneepoint study`: runs or resumes one study."""

from pathlib import Path

import click

from common.errors import require_known
from common.files import read_json
from common.study_record import StudyRecord
from experiments.config import load_workflow
from experiments.registry import experiments_of
from kneepoint.cli import common_options, cores_option, print_result, subcommand
from kneepoint.runs import make_checked


@subcommand("""
    kneepoint study best-window
    kneepoint study tune-timely --cores 2 --json
""")
@click.argument("name")
@cores_option
@common_options
def command(name: str, cores: str, config: Path, as_json: bool) -> None:
    """Run or resume the study NAME and print its best trial, and its value with fresh seeds.

    NAME is a file of config/studies that the configuration lists. The command first makes whatever
    the study needs.
    """
    workflow = load_workflow(config)
    require_known(name, workflow.studies, f"{config}: lists no study {name!r}")
    folder = workflow.results / name
    files = [folder / file for file in experiments_of(workflow)[name].files]
    make_checked(workflow, files, cores, quiet=as_json)
    path = folder / "study.json"
    found = StudyRecord.load(path)
    best, fresh = found.best, found.fresh
    constants = ", ".join(f"{key} = {value:g}" for key, value in best.searched.items())
    again = (
        f"{fresh.value:.4g} [{fresh.low:.4g}, {fresh.high:.4g}] with fresh seeds "
        f"({fresh.runs} runs), "
        if fresh
        else ""
    )
    told = found.posterior
    sure = (
        f", within 1 % of the best of {told.candidates} with probability "
        f"{told.within_1_percent:.2f} ({told.runs} of at most {told.budget} further runs)"
        if told
        else ""
    )
    text = (
        f"{found.title}: {found.n_trials} trials, best {again}{best.value:.4g} in "
        f"its search ({found.objective}), trial {best.trial}{sure}\n{constants}"
    )
    print_result(read_json(path), text, as_json)
