"""The parts of the installation that change no system; CI tests the installation itself."""

import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.engines import system
from kneepoint.engines.mahimahi.install import WRAPPER_SCRIPT
from kneepoint.engines.system import PIN, Changes, older_entries, read_plan

DEBIAN_12, UBUNTU = (
    {"ID": name, "VERSION_CODENAME": codename}
    for name, codename in (("debian", "bookworm"), ("ubuntu", "noble"))
)


@pytest.mark.parametrize(
    ("release", "source", "expected"),
    [
        (
            DEBIAN_12,
            "deb http://mirror.example bookworm main\n",
            "types: deb\nuris: http://mirror.example\nsuites: bullseye\ncomponents: main\n",
        ),
        (
            UBUNTU,
            "deb http://mirror.example noble main restricted\n"
            "deb http://mirror.example noble universe\n"
            "deb http://other.example focal main\n",
            "types: deb\nuris: http://mirror.example\nsuites: focal\ncomponents: main universe\n",
        ),
        (DEBIAN_12 | {"VERSION_CODENAME": "bullseye"}, "", ""),
        (UBUNTU | {"VERSION_CODENAME": "focal"}, "", ""),
    ],
)
def test_older_entries_are_derived_where_the_release_lacks_mahimahi(
    tmp_path: Path, release: dict[str, str], source: str, expected: str
) -> None:
    (tmp_path / "sources.list").write_text(source)
    assert older_entries(release, tmp_path) == expected


@pytest.mark.parametrize("release", [DEBIAN_12, UBUNTU])
def test_older_entries_refuse_a_system_without_entries(
    tmp_path: Path, release: dict[str, str]
) -> None:
    with pytest.raises(KneepointError, match=f"{tmp_path}: .*(bullseye|focal)"):
        older_entries(release, tmp_path)


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
    assert read_plan(simulation) == (["libssl1.1"], ["nginx"])


@pytest.mark.parametrize("content", ["no JSON", "[1]", '{"other": 1}'])
def test_changes_refuse_a_file_that_is_no_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    monkeypatch.setattr(system, "RECORD", tmp_path / "mahimahi.json")
    (tmp_path / "mahimahi.json").write_text(content)
    with pytest.raises(KneepointError, match=r"mahimahi.json: .*delete the file"):
        Changes.read()


# A caller of iptables like mahimahi: set-user-id root, with the environment of its caller.
SET_UID_CALLER = """
#include <unistd.h>
int main(int argc, char **argv) { return argc > 1 ? execv(argv[1], argv + 1) : 1; }
"""


@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("cc") is None,
    reason="NOT TESTED: a set-uid caller of the wrapper; that takes root and a C compiler",
)
@pytest.mark.parametrize(("mode", "ids"), [(0o4755, "0=0"), (0o755, "65534=65534")])
def test_wrapper_makes_a_set_uid_caller_root_and_drops_its_environment(mode: int, ids: str) -> None:
    # Not below pytest's folder, which only root may enter.
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        if os.statvfs(folder).f_flag & os.ST_NOSUID:
            pytest.skip("NOT TESTED: a set-uid caller of the wrapper; /tmp is mounted nosuid")
        iptables, source, caller = folder / "iptables", folder / "caller.c", folder / "caller"
        iptables.write_text('#!/bin/sh\necho "$(id -u)=$(id -ru)" "$@"\nexec env -u PWD\n')
        wrapper = folder / "wrapper"
        wrapper.write_text(WRAPPER_SCRIPT.format(iptables=iptables))
        source.write_text(SET_UID_CALLER)
        subprocess.run(["cc", "-o", caller, source], check=True)
        for program in (iptables, wrapper):
            program.chmod(0o755)
        caller.chmod(mode)
        result = subprocess.run(
            [caller, wrapper, "-t", "a b"],
            env={"PATH": f"{folder}:/usr/bin:/bin", "XTABLES_LIBDIR": str(folder)},
            user="nobody",
            group="nogroup",
            extra_groups=[],
            check=True,
            capture_output=True,
            text=True,
        )
    first, *environment = result.stdout.splitlines()
    assert first == f"{ids} -t a b"
    assert environment == ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"]
