"""Errors of the command before any work."""

from pathlib import Path

from tests.kneepoint.conftest import refused


def test_the_archive_is_no_folder(workspace: Path) -> None:
    assert "--into config: is a folder" in refused(workspace, "artifact", "--into", "config")
