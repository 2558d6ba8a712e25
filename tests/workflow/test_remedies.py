"""The remedies in messages work."""

import re
import shlex

import pytest

from tests.programs import run_module
from tests.workflow.conftest import STUDIES, Checkout

pytestmark = pytest.mark.slow

RESULT, MADE_OF_IT = "results/grid/study.json", "results/searches.parquet"
NETWORK, RUN_ON_IT = ".kneepoint/networks/mini/network.json", "results/grid/runs.parquet"


def test_what_is_damaged_is_made_again(checkout: Checkout) -> None:
    """The workflow does so silently; a step that runs alone names the remedy in its message."""
    study = {"title": "Windows", "networks": ["mini"], **STUDIES["grid"]}
    checkout.write("config/studies/grid.yaml", study)
    checkout.write("config/config.yaml", {"seed": 5, "studies": ["grid"]})
    checkout.run("--cores", "2", MADE_OF_IT)
    result, network = checkout.folder / RESULT, checkout.folder / NETWORK
    right = {path: path.read_bytes() for path in (result, network)}
    result.write_text("{")
    checkout.run("--cores", "2", MADE_OF_IT)
    network.write_text(network.read_text().replace("droptail", "infinite"))
    result.unlink()
    checkout.run("--cores", "2", MADE_OF_IT)
    assert {path: path.read_bytes() for path in right} == right
    network.write_text("{")
    step = ("--config", "config/config.yaml", "grid")
    done = run_module("kneepoint.workflow.experiment", *step, cwd=checkout.folder)
    output = done.stdout + done.stderr
    assert done.returncode == 2, output
    found = re.fullmatch(
        rf"error: {NETWORK}: cannot be used .*; rebuild it: snakemake (.*) \(and your .*\)",
        output.splitlines()[-1],
    )
    assert found, output
    checkout.run(*shlex.split(found[1]))
    checkout.run("--cores", "2", RUN_ON_IT)
    assert {path: path.read_bytes() for path in right} == right
    assert (checkout.folder / RUN_ON_IT).exists()
