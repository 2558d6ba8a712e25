"""Results on held-out networks are read."""

import shutil
from pathlib import Path

import pytest

from kneepoint.analysis.results import Results
from kneepoint.common.errors import KneepointError
from kneepoint.common.tables import from_rows, write
from kneepoint.questions.held_out.plan import NETWORKS
from kneepoint.questions.held_out.tables import held_out
from kneepoint.runs.hold_out import SETTINGS


def test_settings_on_held_out_networks_are_read(workspace: Path) -> None:
    config, results = workspace / "config", workspace / "results"
    text = (config / "config.yaml").read_text().replace("[windows, fit]", "[windows, best]")
    (config / "config.yaml").write_text(
        f"{text}\n        hold_out: {{training: contest, networks: [slow]}}"
    )
    network = (config / "networks" / "contest.yaml").read_text()
    (config / "networks" / "slow.yaml").write_text(network.replace("A constant", "A slow"))
    study = (config / "studies" / "windows.yaml").read_text()
    tuned = "space: {window: {low: 1, high: 50}}\n        sampler: {kind: ternary}"
    (config / "studies" / "best.yaml").write_text(study.replace("table: 007-windows", tuned))
    shutil.copytree(results / "windows", results / "best")
    shutil.copytree(results / "windows", results / "hold_out")
    setting = {"controller": "fixed_window", "parameters": '{"window":12}', "best": True}
    setting |= {"study": "s", "study_power": 12.0, "study_runs": 1}
    bound = {"power": 100.0, "capacity_mbps": 5.0, "signal_delay_p95_ms": 50.0}
    settings = [setting | {"trial": n, "origin": "tuned"} for n in (0, 1)]
    networks = [bound | {"network": n, "is_training": n != "slow"} for n in ("contest", "slow")]
    for rows, schema in ((settings, SETTINGS), (networks, NETWORKS)):
        write(results / "hold_out" / schema.file, from_rows(schema, rows))
    found = held_out(Results.of(config / "config.yaml"))
    assert found is not None
    assert found.settings["parameter_window"].tolist() == [12, 12]
    assert found.networks["title"].tolist() == ["A constant link", "A slow link"]
    assert found.runs["parameter_window"].tolist() == [6, 12]
    (results / "hold_out" / "settings.parquet").unlink()
    with pytest.raises(KneepointError, match=r"hold_out/settings\.parquet: .*No such file"):
        held_out(Results.of(config / "config.yaml"))
