"""`kneepoint evolve`: its output and files, and errors before any work."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kneepoint.search.language import rules_of
from tests.conftest import ROOT
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
    assert "rules.txt, line 3: delay" in refused(workspace, "evolve", "--start", "rules.txt")
    assert "none.txt: " in refused(workspace, "evolve", "--start", "none.txt")
    twice = refused(workspace, "evolve", "--network", "wire", "--network", "wire")
    assert "--network wire wire" in twice
    assert "'wirre'" in refused(workspace, "evolve", "--network", "wirre")


@pytest.mark.usefixtures("usual_signals")
def test_an_interrupted_search_leaves_its_best_and_how_to_go_on(workspace: Path) -> None:
    words = ["evolve", "--network", "wire", "--rounds", "1", "--trials", "100000", "--seed", "7"]
    search = subprocess.Popen(
        [sys.executable, "-m", "kneepoint", *words],
        cwd=workspace,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert search.stderr
    for line in search.stderr:
        if ", best " in line:
            assert " trials" in line
            break
    search.send_signal(signal.SIGINT)
    said = search.stderr.read()
    assert search.wait() == -signal.SIGINT
    path = Path("results/evolved/wire-7/best.txt")
    (rule,) = rules_of(workspace / path)
    for each in (rule.text, str(path), " ".join(words)):
        assert each in said
