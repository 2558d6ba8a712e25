"""The sources from which a controller is built."""

import subprocess
from pathlib import Path

import pytest

from kneepoint.engines.built import sources_of
from tests.conftest import ROOT


@pytest.mark.parametrize("name", ["cubic", "rule", "sprout", "timely"])
def test_sources_are_all_that_the_compiler_reads(name: str, tmp_path: Path) -> None:
    command = ["c++", "-std=c++20", "-MM", "-I", "controllers", f"controllers/algorithms/{name}.cc"]
    read = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    paths = {(ROOT / path).resolve() for path in read.replace("\\\n", " ").split()[1:]}
    assert paths <= {path.resolve() for path in sources_of(name, tmp_path)}
