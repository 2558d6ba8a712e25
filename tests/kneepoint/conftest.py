"""A folder in which commands run, and functions that run them."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.experiments.wire import NETWORK as WIRE
from tests.experiments.wire import STUDY, prepare_wire, write
from tests.programs import run_kneepoint

ENVIRONMENT = {"PYTHONPATH": str(ROOT), "COLUMNS": "100"}
NETWORK = {**WIRE, "title": "Two seconds of a wire", "duration_s": 2}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a configuration of its own, and our programs."""
    if not (ROOT / "build/emulate").exists():
        pytest.skip("NOT TESTED: build/emulate is missing; run `make build`")
    folder = tmp_path_factory.mktemp("workspace")
    write(folder / "config/config.yaml", {"seed": 1, "studies": ["windows"]})
    write(folder / "config/networks/wire.yaml", NETWORK)
    write(folder / "config/studies/windows.yaml", STUDY)
    prepare_wire(folder, folder / ".kneepoint/networks/wire")
    return folder


def ask(workspace: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    return run_kneepoint(*words, cwd=workspace, **ENVIRONMENT)


def answer(workspace: Path, *words: str) -> Any:
    result = ask(workspace, *words, "--json")
    assert result.stderr == ""
    return json.loads(result.stdout)


def refused(workspace: Path, *words: str) -> str:
    """Returns the line with which a command refuses its arguments."""
    result = ask(workspace, *words)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ") and result.stderr.count("\n") == 1
    return result.stderr
