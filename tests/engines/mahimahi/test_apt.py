import re
from pathlib import Path

import pytest

from common.errors import KneepointError
from engines.mahimahi.apt import (
    PIN,
    Plan,
    older_entries,
    plan_installation,
    prepare_folders,
    read_plan,
)
from tests.engines.mahimahi.fakes import Machine

DERIVED = "types: deb\nuris: http://mirror.example\nsuites: bullseye\ncomponents: main\n"


def test_older_entries_are_derived_on_a_later_debian(tmp_path: Path) -> None:
    assert older_entries(Machine(tmp_path).system) == DERIVED


@pytest.mark.parametrize(
    "release", ["ID=debian\nVERSION_CODENAME=bullseye\n", "ID=ubuntu\nVERSION_CODENAME=focal\n"]
)
def test_older_entries_are_not_needed_where_the_release_has_mahimahi(
    tmp_path: Path, release: str
) -> None:
    machine = Machine(tmp_path)
    (tmp_path / "etc/os-release").write_text(release)
    assert older_entries(machine.system) == ""


def test_older_entries_are_derived_on_a_later_ubuntu(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    (tmp_path / "etc/os-release").write_text("ID=ubuntu\nVERSION_CODENAME=noble\n")
    (tmp_path / "etc/apt/sources.list").write_text(
        "deb http://mirror.example noble main restricted\n"
        "deb http://mirror.example noble universe\n"
        "deb http://mirror.example noble-updates main\n"
        "deb http://other.example focal main\n"
    )
    assert older_entries(machine.system) == (
        "types: deb\nuris: http://mirror.example\nsuites: focal\ncomponents: main universe\n"
    )


@pytest.mark.parametrize("release", ["ID=debian\n", "ID=ubuntu\nVERSION_CODENAME=noble\n"])
def test_prepare_folders_refuses_a_system_without_entries(tmp_path: Path, release: str) -> None:
    machine = Machine(tmp_path)
    (tmp_path / "etc/apt/sources.list").unlink()
    (tmp_path / "etc/os-release").write_text(release)
    with pytest.raises(
        KneepointError, match=r"has no source entry of .* to derive that of an older"
    ):
        prepare_folders(machine.system)


def test_prepare_folders_leaves_those_of_the_system_alone(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    apt = tmp_path / "etc/apt"
    (apt / "preferences.d").mkdir()
    (apt / "preferences.d/theirs").write_text("their pin\n")
    (apt / "sources.list.d/theirs.sources").write_text("their entry\n")
    (apt / "sources.list.d/theirs.disabled").write_text("not read by apt\n")
    before = {path: path.read_text() for path in apt.rglob("*") if path.is_file()}
    for _ in range(2):  # again, after an interruption
        prepare_folders(machine.system)
        folder = machine.system.package_cache
        assert {path.name: path.read_text() for path in (folder / "entries").iterdir()} == {
            "kneepoint.sources": DERIVED,
            "system.list": "deb http://mirror.example bookworm main\n",
            "theirs.sources": "their entry\n",
        }
        assert {path.name: path.read_text() for path in (folder / "preferences").iterdir()} == {
            "kneepoint": PIN,
            "theirs": "their pin\n",
        }
    assert {path: path.read_text() for path in apt.rglob("*") if path.is_file()} == before


def test_pin_is_below_everything_that_is_there() -> None:
    priorities = re.findall(r"Pin: release n=(\w+)\nPin-Priority: (\d+)\n", PIN)
    assert [name for name, _ in priorities] == ["bullseye", "focal"]
    assert all(0 < int(priority) < 100 for _, priority in priorities)


def test_read_plan_tells_new_from_upgraded_and_removed() -> None:
    simulation = """\
Reading package lists...
Inst libssl1.1 (1.1.1w-0+deb11u1 Debian:11.11/oldoldstable [amd64])
Inst libc6 [2.36-9] (2.36-10 Debian:12.15/oldstable [amd64])
Remv nginx [1.22]
Conf libssl1.1 (1.1.1w-0+deb11u1 Debian:11.11/oldoldstable [amd64])
"""
    assert read_plan(simulation) == Plan(new=["libssl1.1"], upgraded=["libc6"], removed=["nginx"])


def test_plan_installation_refuses_to_remove(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.conflicts = ["nginx"]
    with pytest.raises(KneepointError, match="apt would remove nginx to install mahimahi"):
        plan_installation(machine.system, ["mahimahi"], fix_broken=False)


def test_plan_installation_says_why_apt_cannot(tmp_path: Path) -> None:
    machine = Machine(tmp_path)
    machine.refuses = lambda command: (
        "W: Failed to fetch http://mirror.example  Could not resolve\n"
        if "update" in command
        else "E: Unable to locate package mahimahi\n"
    )
    with pytest.raises(KneepointError, match=r"mahimahi .*Could not resolve.*; check the network"):
        plan_installation(machine.system, ["mahimahi"], fix_broken=False)
