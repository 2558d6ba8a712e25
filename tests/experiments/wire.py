"""A study on a constant link: the smallest configuration that runs."""

from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml

from kneepoint.common.errors import run_command_line
from kneepoint.networks.config import load_network
from kneepoint.networks.prepare import prepare_network
from kneepoint.workflow import experiment

NETWORK: dict[str, Any] = {
    "title": "A second of a wire",
    "uplink": {"constant_mbps": 6},
    "downlink": {"constant_mbps": 6},
    "duration_s": 1,
}
STUDY: dict[str, Any] = {
    "title": "Windows",
    "controller": "fixed_window",
    "networks": ["wire"],
    "space": {"window": {"values": [2, 8, 32]}},
}


def write(path: Path, content: object) -> None:
    """Writes a YAML file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(yaml.safe_dump(content))


def prepare_wire(folder: Path, into: Path) -> None:
    """Prepares the network wire of folder/config."""
    prepare_named(folder, "wire", into)


def prepare_named(folder: Path, name: str, into: Path) -> None:
    """Prepares a network of folder/config that needs no packaged trace."""
    config, where = folder / "config/config.yaml", folder / f"config/networks/{name}.yaml"
    prepare_network(name, load_network(config, name), where, into)


def command(folder: Path, name: str) -> int:
    """Runs an experiment of folder/config on folder/networks in this process; returns its
    status."""
    config, networks = folder / "config/config.yaml", folder / "networks"
    words = ["experiment", name, f"--config={config}", f"--networks={networks}", "--build=build"]
    with patch("sys.argv", words):
        try:
            run_command_line(experiment.main)
        except SystemExit as end:
            assert isinstance(end.code, int)
            return end.code
    return 0
