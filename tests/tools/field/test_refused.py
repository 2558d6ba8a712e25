"""Errors of the command before any work."""

from pathlib import Path

from tests.kneepoint.conftest import refused


def test_cores_are_a_number(workspace: Path) -> None:
    assert "--cores 0: not a number of cores" in refused(workspace, "field", "--cores", "0")
