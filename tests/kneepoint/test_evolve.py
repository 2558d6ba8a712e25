"""`kneepoint evolve`: what it prints and leaves, and what it refuses before any work."""

import json
from pathlib import Path

from tests.kneepoint.conftest import answer, ask, refused

FEW = ("--rounds", "1", "--trials", "12")


def test_a_search_prints_what_it_leaves(workspace: Path) -> None:
    result = ask(workspace, "evolve", "--network", "wire", *FEW, "--workers", "2", "--json")
    found = json.loads(result.stdout)
    path = workspace / "results/evolved/wire-1/evolved.json"
    assert json.loads(path.read_text()) == found
    assert found["rule"] in [each["rule"] for each in found["front"]]
    power = answer(workspace, "run", "rule", "--set", f"rule={found['rule']}", "--network", "wire")[
        "power"
    ]
    assert abs(found["fresh"]["value"] / power - 1) < 0.2


def test_bad_rules_to_begin_with_are_refused(workspace: Path) -> None:
    (workspace / "rules.txt").write_text("w = w + 1\n\nw = w + delay\n")
    assert "rules.txt, line 3: delay is no signal" in refused(
        workspace, "evolve", "--start", "rules.txt"
    )
    assert "none.txt: " in refused(workspace, "evolve", "--start", "none.txt")
    twice = refused(workspace, "evolve", "--network", "wire", "--network", "wire")
    assert "--network wire wire" in twice
    assert "'wirre'" in refused(workspace, "evolve", "--network", "wirre")
