"""The folder of a project: how it is found, and files that are never used."""

import os
import shutil
from pathlib import Path

import pytest

from kneepoint.common import project
from kneepoint.common.errors import KneepointError
from kneepoint.common.places import OWN_CONTROLLERS, STATE, VERSION

OTHER = 54321


@pytest.fixture
def called_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KNEEPOINT_OWN_CONTROLLERS", "")
    return tmp_path


def write_config(folder: Path, *, owner: int | None = None) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "config.yaml"
    path.write_text("seed: 1\n")
    if owner is not None:
        if os.geteuid() != 0:
            pytest.skip("NOT TESTED: only root gives files away")
        os.chown(path, owner, -1)
    return path


def test_the_nearest_configuration_counts(tmp_path: Path) -> None:
    outer, inner = write_config(tmp_path), write_config(tmp_path / "inner")
    below = inner.parent / "text"
    below.mkdir()
    assert project.find_config(below) == inner
    assert project.find_config(tmp_path) == outer


def test_another_users_configuration_above_is_refused(tmp_path: Path) -> None:
    path = write_config(tmp_path, owner=OTHER)
    below = tmp_path / "mine"
    below.mkdir()
    for folder in (below, tmp_path):  # all users can write to /tmp
        with pytest.raises(KneepointError, match=f"{path}: .*{OTHER}.*--config"):
            project.find_config(folder)


def test_what_anybody_writes_is_refused(tmp_path: Path) -> None:
    path = write_config(tmp_path / "shared")
    below = path.parent / "mine"
    below.mkdir()
    (path.parent / STATE).mkdir()
    assert project.find_config(below) == path
    for place in (path, path.parent, path.parent / STATE):
        mode = place.stat().st_mode
        place.chmod(0o1777)
        for folder in (below, path.parent):
            with pytest.raises(KneepointError, match=f"{place}: .*--config"):
                project.find_config(folder)
        place.chmod(mode)


def test_prepared_by_another_user_is_refused(tmp_path: Path) -> None:
    path = write_config(tmp_path / "mine")
    state, theirs = path.parent / STATE, tmp_path / "theirs"
    theirs.mkdir()
    state.symlink_to(theirs)
    assert project.find_config(path.parent) == path
    if os.geteuid() != 0:
        pytest.skip("NOT TESTED: only root gives files away")
    os.chown(theirs, OTHER, -1)
    with pytest.raises(KneepointError, match=f"{state}: .*{OTHER}.*--config"):
        project.find_config(path.parent)


@pytest.mark.parametrize("place", ["kneepoint", "kneepoint/shipped", f"kneepoint/shipped/{STATE}"])
def test_a_cache_that_anybody_writes_is_refused(
    called_from: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(called_from))
    (called_from / place).mkdir(parents=True)
    (called_from / place).chmod(0o777)
    with pytest.raises(KneepointError, match=f"{place}: .*XDG_CACHE_HOME"):
        project.enter_shipped()
    assert Path.cwd() == called_from


def test_shipped_settings_are_not_used_where_others_write(
    called_from: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = write_config(called_from / "tool")
    monkeypatch.setattr(project, "IS_INSTALLED", True)
    monkeypatch.setattr(project, "SHIPPED", config.parent)
    assert project.enter(config) == config
    called_from.chmod(0o1777)
    with pytest.raises(KneepointError, match=f"{called_from}: "):
        project.enter(config)


def test_a_link_to_a_trusted_configuration_is_as_its_owner(tmp_path: Path) -> None:
    trusted = write_config(tmp_path / "trusted")
    path = tmp_path / "theirs/config.yaml"
    path.parent.mkdir()
    path.symlink_to(trusted)
    below = path.parent / "mine"
    below.mkdir()
    assert project.find_config(below) == path
    if os.geteuid() != 0:
        pytest.skip("NOT TESTED: only root gives files away")
    os.chown(path, OTHER, -1, follow_symlinks=False)
    with pytest.raises(KneepointError, match=f"{OTHER}"):
        project.find_config(below)
    os.chown(path, 0, -1, follow_symlinks=False)
    os.chown(path.parent, OTHER, -1)  # this user may write its controllers
    with pytest.raises(KneepointError, match=f"{OTHER}"):
        project.find_config(below)


def test_the_project_of_a_link_is_where_the_link_is(called_from: Path) -> None:
    write_config(called_from / "shared")
    path = called_from / "mine/config.yaml"
    path.parent.mkdir()
    path.symlink_to("../shared/config.yaml")
    assert project.enter(path) == Path("config.yaml")
    assert Path.cwd() == path.parent


def test_another_users_own_folder_is_entered_on_purpose(tmp_path: Path) -> None:
    path = write_config(tmp_path / "theirs", owner=OTHER)
    os.chown(path.parent, OTHER, -1)
    assert project.find_config(path.parent) == path


def test_a_folder_that_is_gone_is_refused(called_from: Path) -> None:
    shutil.rmtree(called_from)
    with pytest.raises(KneepointError, match="removed"):
        project.require_config_here()


def test_a_removed_controller_stands_in_for_no_shipped_one(called_from: Path) -> None:
    config, copied_from = write_config(called_from), called_from / "original/timely.cc"
    copied_from.parent.mkdir()
    copied_from.touch()
    OWN_CONTROLLERS.mkdir(parents=True)
    for name in ("kept", "timely", "unfinished"):
        (OWN_CONTROLLERS / f"{name}.so").touch()
    for name in ("kept", "timely"):
        (OWN_CONTROLLERS / f"{name}.sources").write_text(f"{'0' * 64}  {copied_from}\n")
    source = called_from / "controllers/kept.cc"
    source.parent.mkdir()
    source.touch()
    project.enter(config)
    assert {path.name for path in OWN_CONTROLLERS.iterdir()} == {"kept.so", "kept.sources"}


@pytest.mark.parametrize("noted", [b"0.0.9\n", b"\xff\xfe", b"a\nb\nc"])
@pytest.mark.usefixtures("called_from")
def test_another_version_is_told_in_one_line(
    capsys: pytest.CaptureFixture[str], noted: bytes
) -> None:
    STATE.mkdir()
    (STATE / "version").write_bytes(noted)
    project.note_version()
    assert (STATE / "version").read_text().strip() == VERSION
    (line,) = capsys.readouterr().err.splitlines()
    assert line.isprintable()
    project.note_version()
    assert capsys.readouterr().err == ""


def test_a_cache_is_an_absolute_path(monkeypatch: pytest.MonkeyPatch) -> None:
    for value in ("rel/cache", "~nobody-of-this-name/x"):
        monkeypatch.setenv("KNEEPOINT_CACHE", value)
        with pytest.raises(KneepointError, match="KNEEPOINT_CACHE"):
            project.user_cache()


def test_what_is_shipped_is_prepared_where_nobody_else_writes(
    called_from: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KNEEPOINT_CACHE", str(called_from / "shared"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(called_from / "own"))
    assert project.user_cache() == called_from / "shared"
    project.enter_shipped()
    assert Path.cwd() == called_from / "own/kneepoint/shipped"
