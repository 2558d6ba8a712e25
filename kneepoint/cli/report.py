"""`kneepoint report`: makes everything, including the report."""

import sys
from pathlib import Path

from kneepoint.cli import common_options, cores_option, path_for_caller, print_result, subcommand
from kneepoint.cli.runs import make_checked
from kneepoint.common.files import read_json
from kneepoint.runs.load import load_workflow
from kneepoint.workflow.states import failure_of, states_of


@subcommand("""
    kneepoint report
    kneepoint report --config config/offline.yaml --cores 2
""")
@cores_option
@common_options
def command(cores: str, config: Path, as_json: bool) -> None:
    """Make everything that is out of date, including the report in HTML and PDF.

    The command first builds the controllers and checks all parameters against their declarations.
    It shows the running experiments with their progress and best values. Snakemake's own output
    goes to .kneepoint/logs/workflow.log, or to the terminal if KNEEPOINT_VERBOSE is set. The exit
    status is 1 if every trial of a study has a failed run; the report gives the reasons.
    """
    make(config, cores, as_json)


def make(config: Path, cores: str, as_json: bool) -> None:
    """Makes a configuration's report, and prints its findings and its path."""
    workflow = load_workflow(config)
    results = workflow.results
    make_checked(workflow, [], cores, quiet=as_json)
    paths = [results / f"report.{suffix}" for suffix in ("html", "pdf")]
    studies = [each for each in states_of(workflow) if each.name in workflow.studies]
    failures = [failure_of(each) for each in studies if each.failed]
    if failures:
        print(*failures, sep="\n", file=sys.stderr)
    has_succeeded = all(each.failed < (each.trials or 1) for each in studies)
    found = [f"- {each}" for each in read_json(results / "provenance.json")["findings"]]
    shown = [str(path_for_caller(path)) for path in paths]
    text = "\n".join([*found, *([""] if found else []), *shown])
    print_result(shown, text, as_json, ok=has_succeeded)
