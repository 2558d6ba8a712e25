"""The command line of experiments, with the real emulator."""

import json
import os
from pathlib import Path

import pytest

from kneepoint.common.files import hold_lock
from kneepoint.common.tables import read, read_frame
from kneepoint.runs.results import RUNS, TRIALS
from tests.conftest import ROOT
from tests.experiments.wire import NETWORK, command, prepare_wire, write
from tests.experiments.wire import STUDY as WINDOWS
from tests.programs import run_kneepoint

EMULATE = ROOT / "build" / "emulate"

STUDY = {**WINDOWS, "runs_per_trial": 2}
REPEAT = {
    "title": "Again",
    "network": "wire",
    "repeats": 4,
    "settings": [{"controller": "fixed_window", "parameters": {"window": w}} for w in (12, 15)],
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A configuration and its prepared network."""
    if not EMULATE.exists():
        pytest.skip("NOT TESTED: build/emulate is missing; run `make build`")
    write(
        tmp_path / "config/config.yaml",
        {
            "seed": 1,
            "results": str(tmp_path / "out"),
            "studies": ["windows"],
            "repeats": ["again"],
            "showcase": {"controller": "timely", "network": "wire"},
        },
    )
    write(tmp_path / "config/networks/wire.yaml", NETWORK)
    write(tmp_path / "config/studies/windows.yaml", STUDY)
    write(tmp_path / "config/repeats/again.yaml", REPEAT)
    prepare_wire(tmp_path, tmp_path / "networks/wire")
    return tmp_path


def test_study_writes_its_results_which_are_verified(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert command(folder, "windows") == 0
    printed = capfd.readouterr()
    assert "windows: 3 trials, best" in printed.err
    assert printed.out == ""
    trials = read_frame(folder / "out/windows/trials.parquet", TRIALS)
    assert list(trials["parameter_window"]) == [2, 8, 32]
    runs = read_frame(folder / "out/windows/runs.parquet", RUNS)
    assert list(runs["trial"]) == [0, 0, 1, 1, 2, 2]
    assert list(runs["run"]) == [0, 1] * 3
    summary = json.loads((folder / "out/windows/study.json").read_text())
    assert summary["n_trials"] == 3
    assert summary["best"]["in_search"] == trials["value"].max()
    assert summary["failed"] == {"trials": 0, "reasons": {}}
    assert summary["best"]["parameters"]["keepalive_ms"] == 1000
    for text in (str(folder), str(ROOT), os.uname().nodename):
        for name in ("trials.parquet", "runs.parquet", "study.json"):
            assert text.encode() not in (folder / "out/windows" / name).read_bytes()

    options = ("verify", "--config", folder / "config/config.yaml")
    sound = run_kneepoint(*options, cwd=ROOT)
    assert (sound.returncode, sound.stdout[:12]) == (0, "windows: val")
    (folder / "out/windows/trials.parquet").unlink()
    broken = run_kneepoint(*options, cwd=ROOT)
    assert broken.returncode == 1
    assert "windows: trials.parquet is missing (" in broken.stdout


def test_replicates_are_run(folder: Path) -> None:
    assert command(folder, "repeats/again") == 0
    runs = read_frame(folder / "out/repeats/again/runs.parquet", RUNS)
    assert list(runs["trial"]) == [0] * 4 + [1] * 4
    assert list(runs["run"]) == [0, 1, 2, 3] * 2
    assert runs["seed"].nunique() == 8


def test_example_leaves_a_log(folder: Path) -> None:
    for _ in range(2):  # again, though the run is known
        assert command(folder, "showcase") == 0
        (run,) = read(folder / "out/showcase/runs.parquet", RUNS).to_pylist()
        assert (run["controller"], run["status"]) == ("timely", "ok")
        log = (folder / "out/showcase/uplink.log").read_text()
        assert log.startswith("# mahimahi mm-link (Uplink) [")
        assert str(folder / "out") not in log
        assert log.count(" - 1504 ") >= run["packets_delivered"] > 0
        told = (folder / "out/showcase/flow.log").read_text()
        assert 0 < told.count(" ack ") <= run["packets_delivered"] <= told.count(" sent ")
        for name in ("uplink.log", "flow.log"):
            (folder / "out/showcase" / name).unlink()


def test_unknown_experiment_is_refused(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert command(folder, "probes") == 2
    (said,) = capfd.readouterr().err.splitlines()
    assert all(part in said for part in ("config/config.yaml", "'probes'", "repeats/again"))


def test_mistake_in_any_study_is_found_before_anything_runs(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    write(folder / "config/studies/windows.yaml", STUDY | {"networks": ["fire"]})
    assert command(folder, "repeats/again") == 2
    printed = capfd.readouterr().err
    assert printed.startswith("error: ") and "unknown network 'fire'" in printed
    assert printed.count("\n") == 1
    assert not (folder / "out").exists()


def test_study_that_is_running_elsewhere_is_left_alone(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with hold_lock(folder / "out/windows/.lock"):
        assert command(folder, "windows") == 2
    assert f".lock: process {os.getpid()} holds the lock" in capfd.readouterr().err


def test_network_that_is_not_prepared_is_named(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "networks/wire/network.json").unlink()
    assert command(folder, "windows") == 2
    assert "networks/wire/network.json: cannot be used" in capfd.readouterr().err


def test_study_in_which_every_run_fails_is_still_a_result(folder: Path) -> None:
    """The link lasts a tenth of a second and its delay is long: nothing is delivered."""
    path = folder / "networks/wire/network.json"
    description = json.loads(path.read_text())
    description["uplink"]["delay_ms"] = 5000
    path.write_text(json.dumps(description))
    assert command(folder, "windows") == 0
    runs = read_frame(folder / "out/windows/runs.parquet", RUNS)
    assert set(runs["status"]) == {"failed"}
    assert all(runs["reason"])
    trials = read_frame(folder / "out/windows/trials.parquet", TRIALS)
    assert set(trials["state"]) == {"COMPLETE"}
    assert set(trials["value"]) == {0.0}
