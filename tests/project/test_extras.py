"""A minimal installation: commands that need no extra."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT

EXTRAS = (
    *("cmake", "markdown_it", "matplotlib", "optuna", "pandas", "pyarrow", "pygments"),
    *("pypandoc", "ray", "rich", "rocrate", "seaborn", "sklearn", "snakemake", "typst"),
)
WITHOUT = f"""
import sys

sys.modules.update(dict.fromkeys({EXTRAS!r}))
from kneepoint.__main__ import main
main()
"""
NETWORK = "synthetic-fast"


def run(cwd: Path, *words: str, said: str = "") -> "subprocess.CompletedProcess[str]":
    """Runs `kneepoint` without the extras."""
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, *words],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        input=said,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize(
    "words",
    [
        ("run", "timely", "--network", NETWORK, "--json"),
        ("compare", "timely", "cubic", "--network", NETWORK, "--runs", "6", "--json"),
        ("list", "--json"),
    ],
    ids=lambda words: words[0],
)
def test_commands_need_no_extra(words: tuple[str, ...]) -> None:
    found = run(ROOT, *words)
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)


def test_an_evaluation_needs_no_extra() -> None:
    asked = {"controller": "timely"}
    found = run(ROOT, "evaluate", "--train", said=json.dumps(asked) + "\n")
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)["score"] > 0


def test_an_entry_is_tried_without_extras(tmp_path: Path) -> None:
    assert run(tmp_path, "new-entry", "mine").returncode == 0
    found = run(ROOT, "try", str(tmp_path / "mine"), "--json")
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)


def test_a_missing_extra_is_named(tmp_path: Path) -> None:
    found = run(ROOT, "run", "timely", "--network", NETWORK, "--plot", str(tmp_path / "x.svg"))
    assert found.returncode == 2
    (line,) = found.stderr.splitlines()
    assert any(f" {name};" in line for name in EXTRAS)
