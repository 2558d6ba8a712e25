from pathlib import Path

import pytest

from common.errors import KneepointError
from engines.mahimahi.install import install
from engines.mahimahi.remove import remove
from engines.mahimahi.system import Changes
from tests.engines.mahimahi.fakes import LEGACY, NFT, Machine


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.parametrize("chosen", ["", LEGACY, NFT])
def test_remove_undoes_everything(machine: Machine, chosen: str) -> None:
    machine.chosen = chosen
    before = machine.state()
    install(machine.system, machine.facts)
    assert machine.state() != before
    remove(machine.system)
    assert machine.state() == before


def test_remove_undoes_the_last_change_first(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    machine.chosen = LEGACY
    install(machine.system, machine.facts)
    capsys.readouterr()
    remove(machine.system)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == (
        "Selecting Removing Deleting Setting Removing".split()
    )


def test_remove_twice_changes_nothing_more(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    install(machine.system, machine.facts)
    remove(machine.system)
    before = machine.state()
    remove(machine.system)
    assert machine.state() == before
    assert "Nothing to undo" in capsys.readouterr().out


def test_remove_interrupted_anywhere_goes_on(tmp_path: Path) -> None:
    for breaks_after in range(20):
        machine = Machine(tmp_path / str(breaks_after))
        machine.chosen = LEGACY
        before = machine.state()
        install(machine.system, machine.facts)
        machine.breaks_after = len(machine.commands) + breaks_after
        try:
            remove(machine.system)
        except KeyboardInterrupt:
            machine.breaks_after = 1000
            remove(machine.system)
        assert machine.state() == before, f"broken after {breaks_after} commands"


def test_remove_leaves_what_was_there_before(machine: Machine) -> None:
    machine.installed |= {"mahimahi", "aglfn"}
    machine.system.ip_forward.write_text("1\n")
    before = machine.state()
    install(machine.system, machine.facts)
    remove(machine.system)
    assert machine.state() == before


def test_remove_keeps_what_others_need_by_now(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:
    install(machine.system, machine.facts)
    machine.installed.add("docker")
    machine.dependants = {"iptables": ["docker"], "libip6tc2": ["docker"]}
    remove(machine.system)
    assert machine.installed == {"bash", "iproute2", "docker", "iptables", "libip6tc2"}
    assert "Keeping libip6tc2 iptables: installed on request since, or" in capsys.readouterr().out


def test_remove_keeps_what_the_user_has_asked_for_since(machine: Machine) -> None:
    install(machine.system, machine.facts)
    machine.manual.add("gnuplot-nox")
    machine.dependants = {"aglfn": ["gnuplot-nox"]}
    remove(machine.system)
    assert machine.installed == {"bash", "iproute2", "gnuplot-nox", "aglfn"}


def test_remove_does_not_take_unmarked_packages_of_a_killed_apt_for_wanted(
    machine: Machine,
) -> None:
    before = machine.state()
    machine.breaks_after = 3  # after the installation, before apt-mark
    with pytest.raises(KeyboardInterrupt):
        install(machine.system, machine.facts)
    machine.breaks_after = 1000
    machine.manual |= machine.installed
    remove(machine.system)
    assert machine.state() == before


def test_remove_takes_what_is_half_installed(machine: Machine) -> None:
    before = machine.state()
    install(machine.system, machine.facts)
    machine.half_installed = {"libssl1.1"}
    remove(machine.system)
    assert machine.state() == before


def test_remove_leaves_an_alternative_that_was_chosen_since(machine: Machine) -> None:
    machine.chosen = NFT
    install(machine.system, machine.facts)
    machine.chosen = LEGACY
    remove(machine.system)
    assert machine.value == LEGACY
    assert str(machine.system.wrapper) not in machine.alternatives


def test_remove_does_not_touch_anything_by_a_record_that_it_cannot_read(machine: Machine) -> None:
    install(machine.system, machine.facts)
    machine.system.record.write_text('{"packages": ["bash"')
    before = machine.state()
    with pytest.raises(KneepointError, match=r"mahimahi.json: is not a record of `make mahimahi`"):
        remove(machine.system)
    assert machine.state() == before


def test_changes_are_read_as_they_were_written(machine: Machine) -> None:
    changes = Changes([], ["a"], ["a"], wrapper=True, alternative=LEGACY, ip_forward="0")
    changes.write(machine.system)
    assert Changes.read(machine.system) == changes
