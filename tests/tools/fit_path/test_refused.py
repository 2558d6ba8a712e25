"""Errors of the command before any work."""

from pathlib import Path

from tests.kneepoint.conftest import refused


def test_the_network_has_a_folder(workspace: Path) -> None:
    assert "--into /proc/x/a: the folder /proc/x cannot be created" in refused(
        workspace, "fit-path", "a", "--into", "/proc/x/a"
    )
