"""The picture in docs/workflow.md is Snakemake's own, without superfluous arrows."""

import re

import pytest

from tests.conftest import ROOT
from tests.programs import run_module

Edges = set[tuple[str, str]]


def drawn() -> Edges:
    """The rules of `snakemake confirm`, each with those that need it."""
    options = ("--cores", "1", "--rulegraph", "mermaid-js")
    done = run_module("snakemake", *options, "--", "confirm", cwd=ROOT)
    assert done.returncode == 0, done.stderr
    names = dict(re.findall(r"^\s*(id\d+)\[(\w+)\]$", done.stdout, re.MULTILINE))
    found = re.findall(r"^\s*(id\d+) --> (id\d+)$", done.stdout, re.MULTILINE)
    edges = {(names[first], names[second]) for first, second in found}
    return {(first, second) for first, second in edges if first != second}


def reduced(edges: Edges) -> Edges:
    """Without edges that a longer way makes superfluous."""
    after: dict[str, set[str]] = {}
    for first, second in edges:
        after.setdefault(first, set()).add(second)

    def reachable(start: str) -> set[str]:
        found: set[str] = set()
        waiting = [start]
        while waiting:
            for each in after.get(waiting.pop(), set()) - found:
                found.add(each)
                waiting.append(each)
        return found

    ways = {rule: reachable(rule) for rule in after}
    return {
        (first, second)
        for first, second in edges
        if not any(second in ways.get(other, set()) for other in after[first] - {second})
    }


def shown() -> Edges:
    """What the page shows."""
    block = re.search(r"```mermaid\n(.*?)```", (ROOT / "docs/workflow.md").read_text(), re.DOTALL)
    assert block
    return set(re.findall(r"^\s*(\w+)(?:\[.*?\])? --> (\w+)", block[1], re.MULTILINE))


@pytest.mark.slow
def test_readme_shows_the_workflow() -> None:
    edges = drawn()
    assert shown() == reduced(edges)
    experiments = {"search_study", "replicate_settings", "hold_out_settings", "run_example"}
    assert {(rule, "confirm") for rule in experiments} <= edges  # deleted results are made again
