"""A guided study spends its runs in real mahimahi."""

import json
from pathlib import Path

import pytest

from kneepoint.common.tables import read_frame
from kneepoint.runs.results import RUNS
from tests.engines.real import real_engine
from tests.experiments.calibrated import CONFIRM
from tests.experiments.wire import NETWORK, command, prepare_wire, write
from tests.search.test_guided import STUDY

pytestmark = [pytest.mark.real_time, pytest.mark.slow]


def test_real_runs_are_few_and_real(tmp_path: Path) -> None:
    real_engine()
    sampler = {"kind": "random", "trials": 20}
    study = {**STUDY, "sampler": sampler, "real_runs": 4, "ask_ahead": 2}
    write(tmp_path / "config/networks/wire.yaml", {**NETWORK, "duration_s": 2})
    write(tmp_path / "config/studies/guided.yaml", study)
    config = {
        "seed": 5,
        "results": str(tmp_path / "results"),
        "studies": ["guided"],
        "confirm": CONFIRM,
        "real_time": {"busy_us": 1e6},
    }
    write(tmp_path / "config/config.yaml", config)
    prepare_wire(tmp_path, tmp_path / "networks/wire")
    calibrated = tmp_path / "results/calibration/network.json"
    calibrated.parent.mkdir(parents=True)
    calibrated.write_text((tmp_path / "networks/wire/network.json").read_text())
    assert command(tmp_path, "guided") == 0
    found = json.loads((tmp_path / "results/guided/study.json").read_text())
    runs = read_frame(tmp_path / "results/guided/runs.parquet", RUNS)
    assert set(runs["engine"]) == {"mahimahi"}
    assert set(runs["status"]) == {"ok"}
    assert 2 <= len(runs) == found["posterior"]["runs"] <= 4
    assert runs["scheduling_delay_p99_us"].notna().all()
