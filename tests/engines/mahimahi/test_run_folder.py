import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kneepoint.engines.mahimahi.run_folder import RunFolder, run_folder


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RunFolder]:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with run_folder("run", None) as made:
        yield made


def test_run_folder_reads_plain_files(folder: RunFolder) -> None:
    folder.add("program", b"ours", 0o755)
    (folder.work / "said").write_bytes(b"theirs\xff")
    assert folder.read("program") == "ours"
    assert folder.read("work/said") == "theirs\ufffd"
    assert folder.read("work/nothing") == ""
    assert (folder.path / "program").stat().st_mode & 0o7777 == 0o755


@pytest.mark.parametrize("plant", ["link", "pipe", "folder"])
def test_run_folder_reads_nothing_else(folder: RunFolder, tmp_path: Path, plant: str) -> None:
    goal, planted = tmp_path / "goal", folder.work / "uplink.log"
    goal.write_text("precious")
    if plant == "link":
        planted.symlink_to(goal)
    elif plant == "pipe":
        os.mkfifo(planted)
    else:
        planted.mkdir()
    with pytest.raises(OSError, match=r"links|plain file"):
        folder.read("work/uplink.log")


@pytest.mark.skipif(os.geteuid() != 0, reason="NOT TESTED: files of others; only root makes them")
def test_run_folder_reads_no_file_of_somebody_else(folder: RunFolder) -> None:
    os.chown(folder.work, 65534, 65534)
    (folder.work / "sender.out").write_text("root's, by a hard link")
    with pytest.raises(OSError, match="is not a plain file of the run's user"):
        folder.read("work/sender.out")


def test_run_folder_writes_over_nothing_that_is_there(folder: RunFolder, tmp_path: Path) -> None:
    goal = tmp_path / "goal"
    goal.write_text("precious")
    (folder.path / "uplink.trace").symlink_to(goal)
    with pytest.raises(FileExistsError):
        folder.add("uplink.trace", b"1\n")
    assert goal.read_text() == "precious"


def test_run_folder_reads_a_limited_amount(folder: RunFolder) -> None:
    with (folder.work / "sender.err").open("wb") as file:
        file.truncate(1 << 30)
    assert len(folder.read("work/sender.err")) == 1 << 20


def test_run_folder_is_removed_and_what_it_links_to_is_not(
    folder: RunFolder, tmp_path: Path
) -> None:
    goal = tmp_path / "goal"
    goal.mkdir()
    (goal / "precious").touch()
    (folder.work / "link").symlink_to(goal)
    folder.remove()
    assert not folder.path.exists()
    assert (goal / "precious").exists()
