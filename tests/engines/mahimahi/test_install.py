import itertools
import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest

from common.errors import KneepointError
from common.files import sha256_of
from engines.mahimahi.install import WRAPPER_SOURCE, compile_wrapper, install, wrapper_is_outdated
from engines.mahimahi.remove import remove
from engines.mahimahi.system import Changes, System, run_as_root
from tests.engines.mahimahi.fakes import LEGACY, NFT, Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def verbs(machine: Machine) -> list[str]:
    """The commands, without what only asks."""
    short = [" ".join(word for word in words if "=" not in word) for words in machine.commands]
    return [
        line.replace(" -q", "").replace(" -o", "").replace("--no-install-recommends ", "")
        for line in short
        if not any(word in line for word in ("--query", "--simulate", "update ", "dpkg"))
    ]


def test_install_changes_in_this_order(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    install(machine.system, machine.facts)
    wrapper = str(machine.system.wrapper)
    commands = [line.split() for line in verbs(machine)]
    assert [words[:4] for words in commands] == [
        ["apt-get", "update"],
        ["apt-get", "install", "--yes", "mahimahi"],
        ["apt-mark", "auto", "gnuplot-nox", "iptables"],
        ["cc", "-O2", "-Wall", "-Werror"],
        ["update-alternatives", "--install", "/usr/sbin/iptables", "iptables"],
        ["update-alternatives", "--set", "iptables", wrapper],
    ]
    assert machine.system.ip_forward.read_text() == "1\n"
    assert "\nnet.ipv4.ip_forward=1\n" in machine.system.ip_forward_at_boot.read_text()
    assert machine.value == wrapper
    assert f'-DIPTABLES="{NFT}"' in machine.system.wrapper.read_text()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == (
        "Fetching Installing Upgrading Setting Compiling Selecting".split()
    )


def test_install_records_what_was_not_there(machine: Machine) -> None:
    install(machine.system, machine.facts)
    assert json.loads(machine.system.record.read_text()) == {
        "installing": [],
        "packages": ["libssl1.1", "mahimahi", "aglfn", "gnuplot-nox", "libip6tc2", "iptables"],
        "named": ["mahimahi"],
        "wrapper": True,
        "wrapper_sha256": sha256_of(WRAPPER_SOURCE.read_bytes()),
        "alternative": "",
        "ip_forward": "0",
    }
    assert not machine.system.package_cache.exists()


def test_install_keeps_the_programs_beside_iptables(machine: Machine) -> None:
    install(machine.system, machine.facts)
    registration = next(words for words in machine.commands if "--install" in words)
    assert registration[6:] == [
        *("--slave", "/usr/sbin/iptables-restore", "iptables-restore", f"{NFT}-restore"),
        *("--slave", "/usr/sbin/iptables-save", "iptables-save", f"{NFT}-save"),
    ]


def test_install_wraps_the_iptables_that_was_chosen(machine: Machine) -> None:
    machine.chosen = LEGACY
    install(machine.system, machine.facts)
    assert f'-DIPTABLES="{LEGACY}"' in machine.system.wrapper.read_text()
    assert Changes.read(machine.system).alternative == LEGACY


def test_install_adds_only_what_is_needed(machine: Machine) -> None:
    machine.installed |= {"mahimahi", "iptables"}
    machine.system.ip_forward.write_text("1\n")
    install(machine.system, machine.facts)
    assert verbs(machine)[0].startswith("cc ")
    assert not machine.system.ip_forward_at_boot.exists()


def test_install_brings_iptables_alone_to_a_mahimahi_of_the_user(machine: Machine) -> None:
    machine.installed.add("mahimahi")
    install(machine.system, machine.facts)
    assert Changes.read(machine.system).packages == ["libip6tc2", "iptables"]
    assert "iptables" in machine.manual  # or apt's autoremove would take it


def test_install_does_nothing_twice(machine: Machine) -> None:
    install(machine.system, machine.facts)
    before, number = machine.state(), len(machine.commands)
    install(machine.system, machine.facts)
    assert machine.state() == before
    assert len(machine.commands) == number


def test_install_compiles_a_deleted_wrapper_again(machine: Machine) -> None:
    machine.chosen = LEGACY
    install(machine.system, machine.facts)
    machine.system.wrapper.unlink()
    install(machine.system, machine.facts)
    assert f'-DIPTABLES="{LEGACY}"' in machine.system.wrapper.read_text()
    assert Changes.read(machine.system).alternative == LEGACY


def test_install_wraps_the_best_iptables_where_the_earlier_one_is_gone(machine: Machine) -> None:
    machine.chosen = LEGACY
    install(machine.system, machine.facts)
    machine.system.wrapper.unlink()
    del machine.alternatives[LEGACY]
    install(machine.system, machine.facts)
    assert f'-DIPTABLES="{NFT}"' in machine.system.wrapper.read_text()


@pytest.mark.parametrize("has_record", [True, False])
def test_install_replaces_a_wrapper_of_an_earlier_version(
    machine: Machine, has_record: bool
) -> None:
    install(machine.system, machine.facts)
    current = machine.system.wrapper.read_text()
    assert not wrapper_is_outdated(machine.system)
    record = json.loads(machine.system.record.read_text())
    del record["wrapper_sha256"]  # as earlier versions wrote it
    machine.system.record.write_text(json.dumps(record))
    if not has_record:
        machine.system.record.unlink()
    machine.system.wrapper.write_text("an earlier version")
    assert wrapper_is_outdated(machine.system)
    install(machine.system, machine.facts)
    assert machine.system.wrapper.read_text() == current
    assert not wrapper_is_outdated(machine.system)
    assert machine.value == str(machine.system.wrapper)


def test_install_brings_a_compiler(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda _: None)
    install(machine.system, machine.facts)
    assert any({"install", "gcc", "libc6-dev"} <= set(words) for words in machine.commands)


def test_install_interrupted_anywhere_goes_on_and_is_undone(tmp_path: Path) -> None:
    for breaks_after in itertools.count():
        machine = Machine(tmp_path / str(breaks_after))
        pristine = machine.state()
        machine.breaks_after = breaks_after
        try:
            install(machine.system, machine.facts)
        except KeyboardInterrupt:
            machine.breaks_after = 1000
        else:
            break
        install(machine.system, machine.facts)
        assert machine.facts().missing == ()
        assert machine.value == str(machine.system.wrapper)
        remove(machine.system)
        assert machine.state() == pristine, f"broken after {breaks_after} commands"
    assert breaks_after > 5


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"tun": False}, "/dev/net/tun is missing"),
        ({"no_new_privileges": True}, "cannot gain privileges"),
        ({"capabilities": 0}, "run on the host itself"),
    ],
)
def test_install_changes_nothing_where_no_mahimahi_could_work(
    machine: Machine, change: dict[str, object], message: str
) -> None:
    before = machine.state()
    with pytest.raises(KneepointError, match=message):
        install(machine.system, lambda: replace(machine.facts(), **change))  # type: ignore[arg-type]
    assert machine.state() == before
    assert machine.commands == []


def test_install_without_network_names_the_cause(machine: Machine) -> None:
    machine.refuses = lambda words: (
        "E: Unable to locate package mahimahi" if ("install" in words) else ""
    )
    with pytest.raises(KneepointError, match=r"Unable to locate package mahimahi.*the network"):
        install(machine.system, machine.facts)
    assert not machine.system.record.exists()


@pytest.mark.skipif(shutil.which("cc") is None, reason="NOT TESTED: there is no C compiler")
def test_compile_wrapper_makes_a_program_that_calls_iptables(tmp_path: Path) -> None:
    iptables = tmp_path / "iptables-fake"
    iptables.write_text('#!/bin/sh\necho "$(id -u)=$(id -ru)" "$@"\n')
    iptables.chmod(0o755)
    system = System(tmp_path)
    system.wrapper.parent.mkdir(parents=True)
    compile_wrapper(system, str(iptables))
    result = run_as_root([str(system.wrapper), "-t", "nat"])
    uid, _, arguments = result.stdout.partition(" ")
    assert arguments == "-t nat\n"
    assert uid.partition("=")[0] == uid.partition("=")[2]
    assert system.wrapper.stat().st_mode & 0o6000 == 0


# What mahimahi is to iptables: set-user-id root, with its caller's environment.
SET_UID_CALLER = """
#include <unistd.h>
int main(int argc, char **argv) { return argc > 1 ? execv(argv[1], argv + 1) : 1; }
"""


@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("cc") is None,
    reason="NOT TESTED: a set-uid caller of the wrapper; that takes root and a C compiler",
)
def test_wrapper_hands_nothing_of_a_set_uid_callers_environment_on() -> None:
    # Not below pytest's folder, which only root may enter.
    with tempfile.TemporaryDirectory(dir="/tmp") as name:
        folder = Path(name)
        folder.chmod(0o755)
        if os.statvfs(folder).f_flag & os.ST_NOSUID:
            pytest.skip("NOT TESTED: a set-uid caller of the wrapper; /tmp is mounted nosuid")
        iptables, source, caller = folder / "iptables", folder / "caller.c", folder / "caller"
        iptables.write_text('#!/bin/sh\necho "$(id -u)=$(id -ru)"\nexec env -u PWD\n')
        iptables.chmod(0o755)
        source.write_text(SET_UID_CALLER)
        subprocess.run(["cc", "-o", caller, source], check=True)
        caller.chmod(0o4755)
        system = System(folder)
        system.wrapper.parent.mkdir(parents=True)
        compile_wrapper(system, str(iptables))
        result = subprocess.run(
            [caller, system.wrapper],
            env={"PATH": f"{folder}:/usr/bin:/bin", "XTABLES_LIBDIR": str(folder)},
            user="nobody",
            group="nogroup",
            extra_groups=[],
            check=True,
            capture_output=True,
            text=True,
        )
    first, *environment = result.stdout.splitlines()
    assert first == "0=0"
    assert environment == ["PATH=/usr/sbin:/usr/bin:/sbin:/bin"]


def test_wrapper_source_is_small_enough_to_be_read_by_who_installs_it() -> None:
    assert len(WRAPPER_SOURCE.read_text().splitlines()) <= 20
