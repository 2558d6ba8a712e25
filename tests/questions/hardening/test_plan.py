"""Tuning against worst cases, on the emulator."""

import json
from pathlib import Path

import pytest

from kneepoint.common.tables import read_frame
from kneepoint.questions.hardening.plan import ROUNDS
from kneepoint.runs.results import RUNS
from tests.conftest import ROOT
from tests.experiments import wire
from tests.programs import run_kneepoint

TRIALS = 4

TUNE = {
    **wire.STUDY,
    "space": {"window": {"low": 2, "high": 32}},
    "sampler": {"kind": "tpe", "trials": TRIALS, "startup_trials": 2},
}
WORST = {
    "title": "Worst",
    "controller": "fixed_window",
    "networks": ["wire"],
    "space": {"network.delay_ms": {"low": 1, "high": 50}},
    "objective": {"worst_case": {}},
    "sampler": {"kind": "tpe", "trials": TRIALS, "startup_trials": 2},
}
WANTED = {"title": "Hard", "tune": "tune", "worst_case": "worst", "rounds": 1, "repeats": 2}


def test_a_round_tunes_on_the_worst_cases_before_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    results = tmp_path / "results"
    configuration = {"seed": 3, "results": str(results), "studies": ["tune", "worst"]}
    wire.write(tmp_path / "config/config.yaml", {**configuration, "hardening": {"hard": WANTED}})
    wire.write(tmp_path / "config/networks/wire.yaml", wire.NETWORK)
    wire.write(tmp_path / "config/studies/tune.yaml", TUNE)
    wire.write(tmp_path / "config/studies/worst.yaml", WORST)
    wire.prepare_wire(tmp_path, tmp_path / "networks/wire")
    assert wire.command(tmp_path, "hardening/hard") == 0, capfd.readouterr().err
    rounds = read_frame(results / "hardening/hard/rounds.parquet", ROUNDS)
    assert rounds[["repeat", "round"]].to_numpy().tolist() == [[0, 0], [0, 1], [1, 0], [1, 1]]
    assert rounds["own"].between(0, 1.001).all() and (rounds["worst_case"] > 0).all()
    for network in map(json.loads, rounds["network"]):
        assert all(1 <= value <= 50 for value in network.values()) and len(network) == 1
    runs = read_frame(results / "hardening/hard/runs.parquet", RUNS)
    each = TRIALS * (1 + 2) + 2 * TRIALS  # the second tuning has the first worst case, too
    assert len(runs) == WANTED["repeats"] * each  # type: ignore[operator]
    worst = runs.groupby("trial")["network"].nunique().max()
    assert worst == 2
    (on_case, *_) = runs.loc[runs["network"] != "wire", "run_id"]
    alone = run_kneepoint("again", on_case, cwd=tmp_path, PYTHONPATH=str(ROOT))
    assert alone.returncode == 2 and alone.stderr.count("\n") == 1
    assert on_case[:16] in alone.stderr and "hardening/hard" in alone.stderr
