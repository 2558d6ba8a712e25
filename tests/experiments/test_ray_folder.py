"""Ray's folder is private, and is removed by the next one's owner where nobody could before."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from experiments import ray_cluster as module
from experiments.ray_cluster import ray_folder, write_token
from tests.conftest import ROOT

KILLED = """
import os, pathlib, signal
from experiments import ray_cluster as module
module._PARENT = pathlib.Path({parent!r})
with module.ray_folder() as folder:
    (folder / "ray").mkdir()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture(autouse=True)
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where the folders are: in one that all may write, as /tmp."""
    monkeypatch.setattr(module, "_PARENT", tmp_path)
    yield tmp_path


def leave_one(parent: Path) -> Path:
    """Returns the folder of an owner that was killed."""
    before = set(parent.iterdir())
    script = KILLED.format(parent=str(parent))
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False)
    (left,) = set(parent.iterdir()) - before
    return left


def test_ray_folder_is_private_and_does_not_stay(parent: Path) -> None:
    with ray_folder() as folder:
        token = write_token(folder)
        assert folder.stat().st_mode & 0o777 == 0o700
        assert token.stat().st_mode & 0o777 == 0o600
        assert len(token.read_text()) >= 32
        with ray_folder() as other:
            assert write_token(other).read_text() != token.read_text()
        assert folder.exists()
    assert list(parent.iterdir()) == []


def test_ray_folder_of_a_killed_owner_is_removed(parent: Path) -> None:
    with ray_folder() as living:
        left = leave_one(parent)
        assert (left / "ray").exists()
        with ray_folder() as folder:
            assert sorted(parent.iterdir()) == sorted([living, folder])


MANY = """
import pathlib
from experiments import ray_cluster as module
module._PARENT = pathlib.Path({parent!r})
for _ in range(100):
    with module.ray_folder() as folder:
        (folder / "ray").mkdir()
"""


def test_owners_that_come_and_go_at_once_do_not_meet(parent: Path) -> None:
    script = MANY.format(parent=str(parent))
    owners = [
        subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    assert [owner.communicate()[1] for owner in owners] == [b""] * 4
    assert list(parent.iterdir()) == []


def test_what_only_looks_like_a_ray_folder_is_left_alone(parent: Path) -> None:
    goal = parent / "goal"
    goal.mkdir()
    (goal / "precious").touch()
    (parent / "kneepoint-ray-link").symlink_to(goal)
    (parent / "kneepoint-ray-file").touch()
    if os.geteuid() == 0:
        others = parent / "kneepoint-ray-others"
        others.mkdir()
        os.chown(others, 65534, 65534)
    before = sorted(parent.iterdir())
    with ray_folder():
        pass
    assert sorted(parent.iterdir()) == before
    assert [path.name for path in goal.iterdir()] == ["precious"]
