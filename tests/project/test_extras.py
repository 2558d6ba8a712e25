"""A minimal installation: commands that need no extra."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.conftest import ROOT

EXTRAS = (
    *("cmake", "markdown_it", "matplotlib", "optuna", "pandas", "pyarrow", "pygments"),
    *("pypandoc", "ray", "rich", "rocrate", "seaborn", "sklearn", "snakemake", "typst"),
)
WITHOUT = f"""
import json
import sys

sys.modules.update(dict.fromkeys({EXTRAS!r}))
from kneepoint.__main__ import main
for sys.argv in json.loads(sys.argv[1]):
    main()
    print("END")
"""
NETWORK = "synthetic-fast"


def run(cwd: Path, *calls: Sequence[str], said: str = "") -> "subprocess.CompletedProcess[str]":
    """Runs `kneepoint` without the extras, once for each of these lists of words."""
    commands = json.dumps([["kneepoint", *words] for words in calls])
    return subprocess.run(
        [sys.executable, "-c", WITHOUT, commands],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        input=said,
        capture_output=True,
        text=True,
        check=False,
    )


def test_commands_need_no_extra(tmp_path: Path) -> None:
    assert run(tmp_path, ("new-entry", "mine")).returncode == 0
    commands = (
        ("run", "timely", "--network", NETWORK, "--json"),
        ("compare", "timely", "cubic", "--network", NETWORK, "--runs", "6", "--json"),
        ("list", "--json"),
        ("try", str(tmp_path / "mine"), "--json"),
        ("evaluate", "--train"),  # it ends the process
    )
    found = run(ROOT, *commands, said=json.dumps({"controller": "timely"}) + "\n")
    assert found.returncode == 0, found.stderr
    answers = [json.loads(text) for text in found.stdout.split("END\n")]
    assert len(answers) == len(commands) and all(answers)
    assert answers[-1]["score"] > 0


def test_a_missing_extra_is_named(tmp_path: Path) -> None:
    words = ("run", "timely", "--network", NETWORK, "--plot", str(tmp_path / "x.svg"))
    found = run(ROOT, words)
    assert found.returncode == 2
    (line,) = found.stderr.splitlines()
    assert any(f" {name};" in line for name in EXTRAS)
