"""What the check says of a configuration, before and after the controllers are built."""

from pathlib import Path

import pytest

from common.errors import KneepointError
from engines import built
from experiments.check import check
from tests.experiments.wire import NETWORK, STUDY, write


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration of one study."""
    write(tmp_path / "config.yaml", {"seed": 1, "results": str(tmp_path), "studies": ["windows"]})
    write(tmp_path / "networks/wire.yaml", NETWORK)
    write(tmp_path / "studies/windows.yaml", STUDY)
    return tmp_path / "config.yaml"


def test_unknown_parameter_is_found_before_anything_is_valid(config: Path) -> None:
    assert check(config, "all").endswith(": valid")
    write(config.parent / "studies/windows.yaml", {**STUDY, "constants": {"keepalive_mss": 1000}})
    with pytest.raises(KneepointError) as caught:
        check(config, "all")
    for part in ("studies/windows.yaml", "'keepalive_mss'", "'keepalive_ms'"):
        assert part in str(caught.value)


def test_what_is_not_built_is_not_called_valid(
    config: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(built, "EMULATE", tmp_path / "emulate")
    said = check(config, "all")
    assert "valid" not in said and "fixed_window" in said
