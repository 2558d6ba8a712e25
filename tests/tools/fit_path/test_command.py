"""`kneepoint fit-path`: its output and files, and errors before any run."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from kneepoint.networks.config import Network
from tests.experiments.wire import prepare_named, write
from tests.kneepoint.conftest import answer, ask, refused

SCHEMES: list[dict[str, Any]] = [
    {
        "controller": "fixed_window",
        "parameters": {"window": window},
        "measured": {"throughput_mbps": mbps, "signal_delay_p95_ms + delay_ms": ms},
    }
    for window, mbps, ms in ((10, 2.98, 60), (40, 9.9, 40), (80, 9.9, 85))
]
PATH: dict[str, Any] = {
    "title": "My path",
    "network": "link",
    "space": {
        "network.rate_mbps": {"low": 2, "high": 40, "log": True},
        "network.delay_ms": {"low": 5, "high": 50},
    },
    "schemes": SCHEMES,
}
LINK = {"rate_mbps": 10}


@pytest.fixture
def folder(workspace: Path) -> Path:
    network = {"title": "A link", "uplink": LINK, "downlink": {"rate_mbps": 100}, "duration_s": 2}
    write(workspace / "config/networks/link.yaml", network)
    write(workspace / "path.yaml", PATH)
    prepare_named(workspace, "link", workspace / ".kneepoint/networks/link")
    return workspace


def test_a_fit_is_printed_and_written_as_a_network(folder: Path) -> None:
    schemes = []
    for scheme in SCHEMES:
        window = f"window={scheme['parameters']['window']}"
        run = answer(folder, "run", "fixed_window", "--set", window, "--network", "link")
        figures = run["throughput_mbps"], run["signal_delay_p95_ms"] + 20
        measured = dict(zip(scheme["measured"], figures, strict=True))
        schemes.append({**scheme, "measured": measured})
    write(folder / "path.yaml", {**PATH, "schemes": schemes})
    found = answer(folder, "fit-path", "path.yaml", "--into", "fitted.yaml", "--workers", "2")
    written = Network.model_validate(yaml.safe_load((folder / "fitted.yaml").read_text()))
    assert written.title == "My path"
    assert written.uplink.rate_mbps == found["parameters"]["network.rate_mbps"]["value"]
    rate, delay = (found["parameters"][f"network.{name}"] for name in ("rate_mbps", "delay_ms"))
    assert 9.5 < rate["value"] < 10.5 and rate["low"] < rate["value"] < rate["high"]
    assert 19 < delay["value"] < 21
    assert len(found["figures"]) == 6
    assert all(abs(each["fitted"] / each["measured"] - 1) < 0.1 for each in found["figures"])


def test_schemes_that_contradict_each_other_are_told_in_one_line(folder: Path) -> None:
    wrong = {"throughput_mbps": 9.9, "signal_delay_p95_ms + delay_ms": 400}
    write(
        folder / "path.yaml", {**PATH, "schemes": [*SCHEMES[:2], {**SCHEMES[2], "measured": wrong}]}
    )
    text = ask(folder, "fit-path", "path.yaml", "--into", "fitted.yaml").stdout
    (line,) = (each for each in text.splitlines() if "path.yaml" in each)
    assert line.startswith("path.yaml: ") and "fixed_window" in line and "check its figures" in line
    assert (folder / "fitted.yaml").is_file()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"network": "lnik"}, "'lnik'"),
        ({"space": {"network.queue.packets": {"low": 5, "high": 50}}}, "packets"),
        ({"space": {"network.delay_ms": {"low": -5, "high": 50}}}, "network.delay_ms -5"),
        ({"schemes": [{**SCHEMES[0], "controller": "timly"}, SCHEMES[1]]}, "timly"),
        ({"schemes": [{**SCHEMES[0], "parameters": {"windw": 3}}, SCHEMES[1]]}, "windw"),
    ],
)
def test_bad_paths_are_refused(folder: Path, changes: dict[str, Any], message: str) -> None:
    write(folder / "bad.yaml", {**PATH, **changes})
    line = refused(folder, "fit-path", "bad.yaml")
    assert "bad.yaml" in line and message in line
