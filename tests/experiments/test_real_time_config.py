"""Mistakes in what is said of real time: each is one line with its file, its value and a remedy."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from common.errors import KneepointError
from engines.mahimahi.diagnosis import read_facts, require_machine
from experiments.config import load_workflow
from tests.conftest import ROOT
from tests.experiments.listing import CATALOGUE
from tests.experiments.wire import command, prepare_wire

NETWORK = {
    "title": "Wire",
    "uplink": {"constant_mbps": 12},
    "downlink": {"constant_mbps": 12},
    "duration_s": 1,
}
STUDY: dict[str, Any] = {
    "title": "Windows",
    "controller": "fixed_window",
    "engine": "mahimahi",
    "networks": ["wire"],
    "space": {"window": {"low": 5, "high": 20}},
    "sampler": {"kind": "ternary"},
}
REPEAT: dict[str, Any] = {
    "title": "Again",
    "engine": "mahimahi",
    "network": "wire",
    "repeats": 3,
    "settings": [{"controller": "fixed_window", "constants": {"window": 12}}],
}
PROBE: dict[str, Any] = {"controller": "fixed_window", "network": "wire"}
CALIBRATION: dict[str, Any] = {
    "windows": [5, 12],
    "host": {"host_latency_us": {"values": [0, 100]}},
}
CONFIRM: dict[str, Any] = {"network": "wire", "calibration": CALIBRATION}
CONFIG: dict[str, Any] = {
    "seed": 1,
    "studies": ["windows"],
    "repeats": ["again"],
    "real_time": {"busy_us": 500, "probe": PROBE},
    "confirm": CONFIRM,
}


def write(folder: Path, **changes: dict[str, Any]) -> Path:
    files = {
        "config": ("config.yaml", CONFIG),
        "study": ("studies/windows.yaml", STUDY),
        "confirm_study": ("studies/confirm.yaml", STUDY),
        "repeat": ("repeats/again.yaml", REPEAT),
        "network": ("networks/wire.yaml", NETWORK),
    }
    for name, (path, content) in files.items():
        (folder / path).parent.mkdir(exist_ok=True, parents=True)
        (folder / path).write_text(yaml.safe_dump({**content, **changes.get(name, {})}))
    return folder / "config.yaml"


def calibration(**changes: Any) -> dict[str, Any]:
    return {"config": {"confirm": {**CONFIRM, "calibration": {**CALIBRATION, **changes}}}}


def probing(**changes: Any) -> dict[str, Any]:
    return {"config": {"real_time": {"probe": {**PROBE, **changes}}}}


def test_a_sound_configuration_is_split_by_engine(tmp_path: Path) -> None:
    workflow = load_workflow(write(tmp_path))
    workflow.check_against(CATALOGUE)
    assert workflow.of_engine("mahimahi") == (("windows",), ("again",))
    assert workflow.of_engine("emulator") == ((), ())
    assert workflow.settings.real_time.busy_us == 500
    probe = workflow.settings.real_time.probe
    assert probe is not None and probe.alone == 5
    assert workflow.settings.confirm is not None and workflow.settings.confirm.repeats == 3


MISTAKES: dict[str, tuple[dict[str, Any], str, str]] = {
    "unknown engine": (
        {"study": {"engine": "mahimai"}},
        "studies/windows.yaml",
        "'mahimai'",
    ),
    "unknown engine of a repeat": (
        {"repeat": {"engine": "ns3"}},
        "repeats/again.yaml",
        "it must be 'emulator' or 'mahimahi'",
    ),
    "host of a real engine": (
        {
            "study": {
                "space": {},
                "host": {"host_latency_us": {"low": 0, "high": 9}},
            }
        },
        "studies/windows.yaml",
        "only the emulator has a host model; remove host or use that engine",
    ),
    "reserved name": (
        {"config": {"studies": ["confirm"]}},
        "config.yaml",
        "'confirm' is a reserved name; rename the study",
    ),
    "probe of an unknown controller": (
        probing(controller="fixed_windw"),
        "config.yaml, real_time.probe",
        "unknown controller 'fixed_windw'; did you mean 'fixed_window'?",
    ),
    "probe of an unknown constant": (
        probing(constants={"widow": 3}),
        "config.yaml, real_time.probe",
        "has no parameter 'widow'; did you mean 'window'?",
    ),
    "probe on an unknown network": (
        probing(network="air"),
        "config.yaml",
        "unknown network 'air'; known: wire",
    ),
    "probe without a spread": (probing(alone=1), "config.yaml", "real_time.probe.alone: 1"),
    "busy from nothing on": (
        {"config": {"real_time": {"busy_us": 0}}},
        "config.yaml",
        "real_time.busy_us: 0",
    ),
    "calibration without values": (
        calibration(host={"host_latency_us": {"low": 0, "high": 100}}),
        "config.yaml",
        "host: host_latency_us has low and high, but calibration is a grid",
    ),
    "calibration of a misspelt setting": (
        calibration(host={"wak_mean_us": {"values": [100]}}),
        "config.yaml",
        "'wak_mean_us' is not a host parameter; did you mean 'wake_mean_us'?",
    ),
    "calibration of no window": (
        calibration(windows=[]),
        "config.yaml",
        "confirm.calibration.windows: []",
    ),
    "calibration of no host": (
        calibration(host={}),
        "config.yaml",
        "confirm.calibration.host: {}",
    ),
    "calibration of an impossible window": (
        calibration(windows=[5, 0]),
        "config.yaml, confirm.calibration",
        "window = 0 is outside [1, inf]",
    ),
    "calibration by an impossible spread": (
        calibration(wake_spread=[0, 4]),
        "config.yaml",
        "confirm.calibration.wake_spread.1: 4",
    ),
    "confirmed constant unknown": (
        {
            "config": {
                "confirm": {
                    **CONFIRM,
                    "settings": [{"controller": "delay_threshold", "constants": {"alfa": 1}}],
                }
            }
        },
        "config.yaml, confirm.settings",
        "has no parameter 'alfa'; did you mean 'alpha'?",
    ),
    "confirmed on an unknown network": (
        {"config": {"confirm": {**CONFIRM, "network": "air"}}},
        "config.yaml",
        "unknown network 'air'; known: wire",
    ),
    "confirm without calibration": (
        {"config": {"confirm": {"network": "wire"}}},
        "config.yaml",
        "confirm.calibration: is missing",
    ),
    "queue that mahimahi has otherwise": (
        {"network": {"uplink_queue": "codel:target=5,interval=100"}},
        "repeats/again.yaml: network wire: uplink.queue: mahimahi",
        "'codel:target=5,interval=100': its CoDel is not RFC 8289's; use codel-mahimahi",
    ),
    "queue that mahimahi has not": (
        {"network": {"downlink_queue": "fq_codel:target=5,interval=100"}},
        "repeats/again.yaml: network wire: downlink.queue: mahimahi",
        "it has infinite, droptail",
    ),
    "unknown key": (
        {"config": {"confirm": {**CONFIRM, "repeat": 2}}},
        "config.yaml",
        "confirm: unknown key 'repeat'; did you mean 'repeats'?",
    ),
}


@pytest.mark.parametrize(("changes", "where", "message"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_named(
    tmp_path: Path, changes: dict[str, Any], where: str, message: str
) -> None:
    with pytest.raises(KneepointError) as caught:
        load_workflow(write(tmp_path, **changes)).check_against(CATALOGUE)
    said = str(caught.value)
    assert said.startswith(f"{tmp_path}/{where}")
    assert message in said
    assert "\n" not in said


def test_study_without_mahimahi_ends_with_cause_and_cure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    if not (ROOT / "build/emulate").exists():
        pytest.skip("NOT TESTED: build/emulate is missing; run `make build`")
    try:
        require_machine(read_facts())
    except KneepointError as reason:
        pytest.skip(f"NOT TESTED where no mahimahi can work: {reason}")
    write(tmp_path / "config", config={"confirm": None, "results": str(tmp_path / "out")})
    prepare_wire(tmp_path, tmp_path / "networks/wire")
    monkeypatch.setenv("PATH", str(tmp_path / "tools"))
    assert command(tmp_path, "windows") == 2
    assert capfd.readouterr().err == (
        "error: mahimahi is not installed (mm-delay is not on the PATH); run `sudo make mahimahi`\n"
    )
    assert not (tmp_path / "out/windows/runs.parquet").exists()
