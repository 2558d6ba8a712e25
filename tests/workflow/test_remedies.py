"""Whoever does what a message says is helped."""

import re
import shlex

import pytest

from tests.workflow.conftest import STUDIES, Checkout

pytestmark = pytest.mark.slow

DAMAGED = {  # and what is made of it
    "results/grid/study.json": "results/searches.parquet",
    "build/networks/mini/network.json": "results/grid/runs.parquet",
}


def test_what_is_damaged_is_made_again(checkout: Checkout) -> None:
    study = {"title": "Windows", "networks": ["mini"], **STUDIES["grid"]}
    checkout.write("config/studies/grid.yaml", study)
    checkout.write("config/config.yaml", {"seed": 5, "studies": ["grid"]})
    checkout.run("--cores", "2", *DAMAGED.values())
    for damaged, made_of_it in DAMAGED.items():
        path = checkout.folder / damaged
        before = path.read_bytes()
        path.write_text("{")
        process = checkout.start("--cores", "2", made_of_it)
        output = process.communicate()[0]
        assert process.returncode == 2, output
        found = re.fullmatch(
            rf"error: {damaged}: cannot be used .*; rebuild it: snakemake (.*) \(and your .*\)",
            output.splitlines()[-1],
        )
        assert found, output
        checkout.run(*shlex.split(found[1]))
        checkout.run("--cores", "2", made_of_it)
        assert path.read_bytes() == before
        assert (checkout.folder / made_of_it).exists()
