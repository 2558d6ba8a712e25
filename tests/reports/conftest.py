from pathlib import Path

import pytest

from tests.reports.workspace import make_workspace


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of `tests.reports.workspace`, which is the current one, too."""
    monkeypatch.chdir(tmp_path)
    make_workspace(tmp_path)
    return tmp_path
