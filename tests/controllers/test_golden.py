"""Golden virtual-time logs: controllers over the same three seconds, byte for byte.

A new controller needs no log; to add one, create an empty file NAME.flow.log in tests/golden.
KNEEPOINT_UPDATE_GOLDEN=1 python -m pytest tests/controllers/test_golden.py fills it in, and updates
all logs after an intended change; read the difference before you commit it.
"""

import os
from pathlib import Path

import pytest

from tests.controllers.emulator import Link, emulate

GOLDEN = Path(__file__).parent.parent / "golden"


@pytest.mark.parametrize(
    "controller", sorted(path.name.partition(".")[0] for path in GOLDEN.glob("*.flow.log"))
)
def test_flow_log_is_golden(controller: str, small_link: Link, tmp_path: Path) -> None:
    log = tmp_path / "flow.log"
    emulate(small_link, controller, {}, "--seed", "1", "--flow-log", str(log))
    golden = GOLDEN / f"{controller}.flow.log"
    if os.environ.get("KNEEPOINT_UPDATE_GOLDEN"):
        golden.write_bytes(log.read_bytes())
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
