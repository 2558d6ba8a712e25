"""Entries in real mahimahi: the same trees, in the same sandbox, on real clocks and sockets."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from kneepoint.engines.base import RunRecord, RunSpec, run_reliably
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.engines.entry import Entry
from kneepoint.entries.collect import submission_at
from kneepoint.entries.entries import EntryBuilder
from kneepoint.networks.scenario import PreparedNetwork
from tests.conftest import ROOT
from tests.controllers.emulator import EMULATE
from tests.engines.real import real_engine, unless_disturbed
from tests.entries.building import link
from tests.entries.trees import PYTHON_CLASS, check_delays, crashing, flat_2013, kit

pytestmark = pytest.mark.real_time
WINDOW = 40


@pytest.fixture(autouse=True)
def _supervisors_find_our_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))


def steady(folder: Path) -> PreparedNetwork:
    """A link on which a window's delay is far above the host's delay, and its steps are far below
    it."""
    return link(folder, "link", 3, pause_ms=0)


def run(entry: Entry, folder: Path) -> RunRecord:
    settings = replace(real_engine(), folder=folder)
    network = settings.place(steady(folder))
    with closing(settings.open()) as engine:
        return run_reliably(engine, RunSpec.on(settings, entry, {}, network, 1))


@unless_disturbed
def require_agreement(entry: Entry, folder: Path, emulated: RunRecord) -> None:
    real = run(entry, folder)
    assert (real.status, emulated.status) == ("ok", "ok"), real.reason
    assert real.throughput_mbps == pytest.approx(emulated.throughput_mbps, rel=0.1)
    assert real.signal_delay_p95_ms == pytest.approx(emulated.signal_delay_p95_ms, rel=0.1)


def test_entries_run_in_real_time_as_in_virtual_time(tmp_path: Path, builder: EntryBuilder) -> None:
    kit(tmp_path / "anna", WINDOW)
    (tmp_path / "bob").mkdir()
    (tmp_path / "bob/sender.py").write_text(PYTHON_CLASS.replace("12", str(WINDOW)))
    settings = EmulatorSettings.of(EMULATE)
    network = replace(steady(tmp_path), host_latency_us=0)
    for name in ("anna", "bob"):
        made = builder.make(submission_at(tmp_path / name))
        assert made.built is not None, made.reason
        with closing(settings.open()) as engine:
            emulated = engine.run(RunSpec.on(settings, made.built, {}, network, 1))
        require_agreement(made.built, tmp_path, emulated)


def test_the_receiver_of_2013_shows_the_date_of_its_kit(
    tmp_path: Path, builder: EntryBuilder
) -> None:
    tree = check_delays(flat_2013(tmp_path / "anna"), 5000)
    made = builder.make(submission_at(tree))
    assert made.built is not None, made.reason
    assert run(made.built, tmp_path).status == "ok"


def test_an_entry_that_crashes_in_real_time_says_so(tmp_path: Path, builder: EntryBuilder) -> None:
    made = builder.make(submission_at(crashing(tmp_path / "anna")))
    assert made.built is not None, made.reason
    record = run(made.built, tmp_path)
    assert record.status == "failed" and "SIGABRT" in record.reason
