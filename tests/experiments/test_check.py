"""The check of a configuration, before and after the controllers are built."""

from copy import copy
from dataclasses import replace
from pathlib import Path

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.common.places import OWN_CONTROLLERS
from kneepoint.engines import built
from kneepoint.engines.built import shared_object, source_of_controller
from kneepoint.engines.catalogue import SOURCES
from kneepoint.runs.check import check
from tests.experiments.listing import CATALOGUE
from tests.experiments.wire import NETWORK, STUDY, write


@pytest.fixture
def config(tmp_path: Path) -> Path:
    """A configuration of one study."""
    write(tmp_path / "config.yaml", {"seed": 1, "results": str(tmp_path), "studies": ["windows"]})
    write(tmp_path / "networks/wire.yaml", NETWORK)
    write(tmp_path / "studies/windows.yaml", STUDY)
    return tmp_path / "config.yaml"


@pytest.fixture
def built_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """All controllers are up to date."""
    monkeypatch.setattr("kneepoint.runs.check.current_catalogue", lambda *_: CATALOGUE)


def test_a_network_without_marks_is_refused_for_who_needs_them(
    config: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    needy = copy(CATALOGUE)
    needy.controllers = {
        name: replace(each, needs=("counted_marks",)) for name, each in needy.controllers.items()
    }
    monkeypatch.setattr("kneepoint.runs.check.current_catalogue", lambda *_: needy)
    codel = "codel:target=5,interval=100"
    for queue, marks in {
        "infinite": False,
        codel: False,
        f"{codel},ecn=1": True,
        "abc": True,
    }.items():
        write(config.parent / "networks/wire.yaml", {**NETWORK, "uplink_queue": queue})
        if marks:
            assert check(config, "all").endswith(": valid")
        else:
            with pytest.raises(
                KneepointError, match=r"network wire: .* needs marks, which no queue"
            ):
                check(config, "all")


@pytest.mark.usefixtures("built_before")
def test_unknown_parameter_is_found_before_anything_is_valid(config: Path) -> None:
    assert check(config, "all").endswith(": valid")
    write(config.parent / "studies/windows.yaml", {**STUDY, "parameters": {"keepalive_mss": 1000}})
    with pytest.raises(KneepointError) as caught:
        check(config, "all")
    for part in ("studies/windows.yaml", "'keepalive_mss'", "'keepalive_ms'"):
        assert part in str(caught.value)


def test_a_projects_own_controller_comes_before_the_shipped_one(config: Path) -> None:
    assert source_of_controller("timely", config.parent / "controllers").parent == SOURCES
    own = config.parent / "controllers/timely.cc"
    own.parent.mkdir()
    own.touch()
    check(config, "all")
    assert source_of_controller("timely", own.parent) == own.resolve()
    assert shared_object("timely", own.parent).parent == OWN_CONTROLLERS


def test_own_controller_is_known_before_it_is_built(config: Path) -> None:
    (config.parent / "controllers").mkdir()
    (config.parent / "controllers/my_window.cc").touch()
    write(config.parent / "studies/windows.yaml", {**STUDY, "controller": "my_window"})
    assert "valid" not in check(config, "all")


def test_what_is_not_built_is_not_called_valid(
    config: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(built, "EMULATE", tmp_path / "emulate")
    said = check(config, "all")
    assert "valid" not in said and "fixed_window" in said
