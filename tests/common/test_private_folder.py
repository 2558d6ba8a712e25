"""Temporary folders are private; the next owner removes the folders of killed processes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kneepoint.common.files import private_folder, write_whole
from tests.conftest import ROOT

KILLED = """
import os, pathlib, signal
from kneepoint.common.files import private_folder
with private_folder("test", pathlib.Path({parent!r})) as folder:
    (folder / "made").mkdir()
    os.kill(os.getpid(), signal.SIGKILL)
"""


def leave_one(tmp_path: Path) -> Path:
    """Returns the folder of an owner that was killed."""
    before = set(tmp_path.iterdir())
    script = KILLED.format(parent=str(tmp_path))
    subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=False)
    (left,) = set(tmp_path.iterdir()) - before
    return left


def test_a_folder_is_private_and_does_not_stay(tmp_path: Path) -> None:
    with private_folder("test", tmp_path) as folder:
        assert folder.stat().st_mode & 0o777 == 0o700
        write_whole(folder / "token", "secret", mode=0o600)
        assert (folder / "token").stat().st_mode & 0o777 == 0o600
        with private_folder("test", tmp_path) as other:
            assert not list(other.iterdir())
        assert folder.exists()
    assert list(tmp_path.iterdir()) == []


def test_the_folder_of_a_killed_owner_is_removed(tmp_path: Path) -> None:
    with private_folder("test", tmp_path) as living:
        left = leave_one(tmp_path)
        assert (left / "made").exists()
        with private_folder("test", tmp_path) as folder:
            assert sorted(tmp_path.iterdir()) == sorted([living, folder])


KEEPER = """
import os, signal, subprocess, sys, tempfile
from kneepoint.common.files import keep_temporary_files
folder = keep_temporary_files("test")
assert os.path.dirname(tempfile.mkdtemp()) == str(folder)
subprocess.run(["mktemp", "-d"], check=True, stdout=subprocess.DEVNULL)
subprocess.run([sys.executable, "-c", "import tempfile; tempfile.mkdtemp()"], check=True)
print(len(list(folder.iterdir())))
if sys.argv[1:]:
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_process_and_what_it_starts_leave_nothing_even_if_killed(tmp_path: Path) -> None:
    def keep(*words: str) -> str:
        return subprocess.run(
            [sys.executable, "-uc", KEEPER, *words],
            cwd=ROOT,
            env={**os.environ, "TMPDIR": str(tmp_path)},
            check=False,
            capture_output=True,
            text=True,
        ).stdout

    assert keep() == "3\n"
    assert list(tmp_path.iterdir()) == []
    assert keep("killed") == "3\n"
    (left,) = tmp_path.iterdir()
    assert keep() == "3\n"
    assert list(tmp_path.iterdir()) == [], left


WRITER = """
import os, pathlib, signal
from kneepoint.common.files import write_folder, write_whole
os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)
{call}
"""


@pytest.mark.parametrize(
    "call",
    [
        "write_whole(pathlib.Path('runs.jsonl'), 'half')",
        "write_folder(pathlib.Path('entry'), {pathlib.Path('law.cc'): 'half'})",
    ],
)
def test_the_file_of_a_killed_writer_is_removed(tmp_path: Path, call: str) -> None:
    subprocess.run(
        [sys.executable, "-c", WRITER.format(call=call)],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        check=False,
    )
    (left,) = tmp_path.iterdir()
    assert left.name.startswith(".")
    write_whole(tmp_path / "other", "whole")
    assert [path.name for path in tmp_path.iterdir()] == ["other"]


def test_what_a_living_process_writes_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sync = os.fsync

    def write_another(descriptor: int) -> None:
        monkeypatch.setattr(os, "fsync", sync)
        write_whole(tmp_path / "b", "whole")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", write_another)
    write_whole(tmp_path / "a", "whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


MANY = """
import pathlib
from kneepoint.common.files import private_folder
for _ in range(100):
    with private_folder("test", pathlib.Path({parent!r})) as folder:
        (folder / "made").mkdir()
"""


def test_owners_that_come_and_go_at_once_do_not_meet(tmp_path: Path) -> None:
    script = MANY.format(parent=str(tmp_path))
    owners = [
        subprocess.Popen([sys.executable, "-c", script], cwd=ROOT, stderr=subprocess.PIPE)
        for _ in range(4)
    ]
    assert [owner.communicate()[1] for owner in owners] == [b""] * 4
    assert list(tmp_path.iterdir()) == []


def test_what_only_looks_like_a_folder_of_ours_is_left_alone(tmp_path: Path) -> None:
    goal = tmp_path / "goal"
    goal.mkdir()
    (goal / "precious").touch()
    (tmp_path / "kneepoint.test.11111111").symlink_to(goal)
    os.mkfifo(tmp_path / "kneepoint.test.22222222")
    (tmp_path / ".kneepoint.yaml").touch()
    if os.geteuid() == 0:
        others = tmp_path / "kneepoint.test.33333333"
        others.mkdir()
        os.chown(others, 65534, 65534)
    before = sorted(tmp_path.iterdir())
    with private_folder("test", tmp_path):
        pass
    assert sorted(tmp_path.iterdir()) == before
    assert [path.name for path in goal.iterdir()] == ["precious"]
