"""Golden virtual-time logs: every controller over the same three seconds, byte for byte.

After a change that is meant to change them: KNEEPOINT_UPDATE_GOLDEN=1 python -m pytest
tests/controllers/test_golden.py, and read the difference before it is committed.
"""

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.controllers.emulator import EMULATE, Link, emulate

GOLDEN = Path(__file__).parent.parent / "golden"


def controllers() -> list[str]:
    if not EMULATE.exists():
        return []  # the fixture _emulator_is_built says so
    listing = subprocess.run([EMULATE, "--list"], check=True, capture_output=True).stdout
    return [controller["name"] for controller in json.loads(listing)["controllers"]]


@pytest.mark.parametrize("controller", controllers())
def test_flow_log_is_golden(controller: str, small_link: Link, tmp_path: Path) -> None:
    log = tmp_path / "flow.log"
    emulate(small_link, controller, {}, "--seed", "1", "--flow-log", str(log))
    golden = GOLDEN / f"{controller}.flow.log"
    if os.environ.get("KNEEPOINT_UPDATE_GOLDEN"):
        golden.write_bytes(log.read_bytes())
    assert golden.exists(), f"{golden} is missing; see the top of this file"
    assert log.read_bytes() == golden.read_bytes()


def test_link_log_is_golden(small_link: Link, tmp_path: Path) -> None:
    log = tmp_path / "uplink.log"
    options = ["--uplink-queue", "droptail:packets=10", "--uplink-log", str(log)]
    emulate(small_link, "fixed_window", {"window": 20}, "--seed", "1", *options)
    lines = log.read_bytes().splitlines(keepends=True)
    assert lines[0].startswith(b"# mahimahi mm-link (Uplink) [")
    body = b"".join(line for line in lines if not line.startswith(b"#"))
    golden = GOLDEN / "uplink.log"
    if os.environ.get("KNEEPOINT_UPDATE_GOLDEN"):
        golden.write_bytes(body)
    assert body == golden.read_bytes()
