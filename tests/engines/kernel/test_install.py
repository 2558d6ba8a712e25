from dataclasses import replace
from pathlib import Path

import pytest

from engines.kernel.diagnosis import Facts
from engines.kernel.install import install
from engines.mahimahi.remove import remove
from engines.mahimahi.system import Changes
from tests.engines.kernel.test_diagnosis import HEALTHY
from tests.engines.mahimahi.fakes import NEEDS, Machine

LACKING = replace(HEALTHY, missing=("ethtool", "iperf3"))


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    for package in ("ethtool", "iperf3"):
        monkeypatch.setitem(NEEDS, package, [package])
    return Machine(tmp_path)


@pytest.mark.parametrize("facts", [HEALTHY, LACKING])
def test_install_adds_what_is_missing_and_remove_takes_it_away(
    machine: Machine, facts: Facts
) -> None:
    before = set(machine.installed)
    install(machine.system, facts)
    assert machine.installed - before == set(facts.missing)
    assert Changes.read(machine.system).packages == list(facts.missing)
    remove(machine.system)
    assert machine.installed == before


def test_interrupted_installation_is_resumed(machine: Machine) -> None:
    Changes(installing=["iperf3"], packages=["iperf3"]).write(machine.system)
    install(machine.system, LACKING)
    assert {"ethtool", "iperf3"} <= machine.installed
    assert Changes.read(machine.system).installing == []
