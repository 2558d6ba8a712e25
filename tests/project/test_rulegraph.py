"""The picture in docs/workflow.md is Snakemake's own, without superfluous arrows."""

import re

import pytest

from tests.conftest import ROOT
from tests.programs import run_module

Edges = set[tuple[str, str]]


def drawn() -> Edges:
    """The rules of `snakemake confirm`, each with the rules that need it."""
    options = ("--cores", "1", "--rulegraph", "mermaid-js")
    done = run_module("snakemake", *options, "--", "confirm", cwd=ROOT)
    assert done.returncode == 0, done.stderr
    names = dict(re.findall(r"^\s*(id\d+)\[(\w+)\]$", done.stdout, re.MULTILINE))
    found = re.findall(r"^\s*(id\d+) --> (id\d+)$", done.stdout, re.MULTILINE)
    edges = {(names[first], names[second]) for first, second in found}
    return {(first, second) for first, second in edges if first != second}


def reduced(edges: Edges) -> Edges:
    """Returns the edges without the edges that a longer path implies."""
    ways = edges
    while longer := {(a, d) for a, b in ways for c, d in edges if b == c} - ways:
        ways = ways | longer
    return edges - {(a, d) for a, b in edges for c, d in ways if b == c}


def shown() -> Edges:
    """The edges in the page's picture."""
    block = re.search(r"```mermaid\n(.*?)```", (ROOT / "docs/workflow.md").read_text(), re.DOTALL)
    assert block
    return set(re.findall(r"^\s*(\w+)(?:\[.*?\])? --> (\w+)", block[1], re.MULTILINE))


@pytest.mark.slow
def test_readme_shows_the_workflow() -> None:
    edges = drawn()
    assert shown() == reduced(edges)
    experiments = {"search_study", "replicate_settings", "hold_out_settings", "run_example"}
    assert {(rule, "confirm") for rule in experiments} <= edges  # deleted results are made again
