"""The skeleton of an entry builds with plain make, and runs over real UDP."""

import subprocess
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from kneepoint.cli import kneepoint
from kneepoint.entries.config import load_entry_file


@pytest.fixture
def entry(tmp_path: Path) -> Path:
    answer = CliRunner().invoke(kneepoint, ["new-entry", "anna", "--into", str(tmp_path)])
    assert answer.exit_code == 0, answer.output
    return tmp_path / "anna"


@pytest.mark.slow
@pytest.mark.parametrize("standard", ["c++11", "c++20"])
def test_it_builds_with_make_and_without_a_warning(entry: Path, standard: str) -> None:
    flags = f"CXXFLAGS=-O1 -Wall -Wextra -pedantic -Werror -std={standard}"
    subprocess.run(["make", "--silent", flags], cwd=entry, check=True, timeout=300)
    receiver = subprocess.Popen(
        [entry / "datagrump/receiver", "0"], stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL
    )
    try:
        time.sleep(0.05)
        assert receiver.poll() is None
    finally:
        receiver.kill()
        receiver.wait()
    usage = subprocess.run(
        [entry / "datagrump/sender"], capture_output=True, text=True, check=False
    )
    assert usage.returncode == 1 and "HOST PORT [debug]" in usage.stderr


def test_it_names_its_author_and_declares_a_parameter(entry: Path) -> None:
    declared = load_entry_file(entry)
    assert declared.author == "anna"
    assert declared.macros({}) == {"WINDOW": "50"} and declared.macros({"window": 7}) == {
        "WINDOW": "7"
    }
    assert "anna" in (entry / "README.md").read_text()
