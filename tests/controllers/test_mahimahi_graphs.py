"""mahimahi's own scripts read our log and print our figures, digit for digit."""

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.controllers.emulator import Link, emulate

SETTINGS = [
    ("fixed_window", {"window": 12}),
    ("delay_threshold", {}),
]


def _printed(scripts: Path, *command: str) -> str:
    environment = os.environ | {"PATH": f"{scripts}:{os.environ['PATH']}"}
    result = subprocess.run(
        [str(scripts / command[0]), *command[1:]],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return result.stderr


def _number(text: str, pattern: str) -> str:
    found = re.search(pattern, text)
    assert found, f"no {pattern!r} in {text!r}"
    return found[1]


@pytest.mark.parametrize(("controller", "parameters"), SETTINGS)
def test_scripts_print_our_figures(
    scripts: Path, contest: Link, tmp_path: Path, controller: str, parameters: dict[str, float]
) -> None:
    log = tmp_path / "uplink.log"
    figures = emulate(contest, controller, parameters, "--uplink-log", str(log))
    expect_printed(scripts, log, figures)


def expect_printed(scripts: Path, log: Path, figures: Mapping[str, float]) -> None:
    """Fails unless mahimahi's script prints a log's figures."""
    throughput = _printed(scripts, "mm-throughput-graph", "500", str(log))
    assert _number(throughput, r"Average capacity: ([\d.]+)") == f"{figures['capacity_mbps']:.2f}"
    assert (
        _number(throughput, r"Average throughput: ([\d.]+)") == f"{figures['throughput_mbps']:.2f}"
    )
    assert _number(throughput, r"\(([\d.]+)% utilization") == f"{100 * figures['utilization']:.1f}"
    queueing = _number(throughput, r"per-packet queueing delay: ([\d.]+)")
    signal = _number(throughput, r"signal delay: ([\d.]+)")
    assert queueing == f"{figures['queueing_delay_p95_ms']:.0f}"
    assert signal == f"{figures['signal_delay_p95_ms']:.0f}"


def test_delay_script_accepts_our_log(scripts: Path, small_link: Link, tmp_path: Path) -> None:
    log = tmp_path / "uplink.log"
    emulate(small_link, "fixed_window", {"window": 12}, "--uplink-log", str(log))
    _printed(scripts, "mm-delay-graph", str(log))


def test_scripts_agree_on_a_run_with_drops(scripts: Path, contest: Link, tmp_path: Path) -> None:
    """mm-throughput-graph 0.98 fails at a drop, also in mm-link's own logs; it gets the other
    events."""
    log = tmp_path / "uplink.log"
    options = ["--uplink-queue", "codel:target=5,interval=100", "--uplink-log", str(log)]
    figures = emulate(contest, "fixed_window", {"window": 50}, *options)
    lines = log.read_text().splitlines(keepends=True)
    drops = [line.split() for line in lines if " d " in line]
    assert sum(int(packets) for _, _, packets, _ in drops) == figures["packets_dropped"] > 0
    log.write_text("".join(line for line in lines if " d " not in line))
    printed = _printed(scripts, "mm-throughput-graph", "500", str(log))
    assert _number(printed, r"Average throughput: ([\d.]+)") == f"{figures['throughput_mbps']:.2f}"
