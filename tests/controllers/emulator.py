"""Functions with which these tests run the emulator."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

EMULATE = Path("build/emulate").absolute()


@dataclass(frozen=True)
class Link:
    """The traces of both directions."""

    uplink: Path
    downlink: Path


def write_small_link(folder: Path) -> Link:
    """Writes a link of 3 s: 2 Mbit/s, a gap of 300 ms, 6 Mbit/s; ACKs return at 1.2 Mbit/s."""
    times = [*range(6, 1000, 6), *range(1300, 3000, 2), 3000]
    uplink = folder / "uplink.trace"
    uplink.write_text("".join(f"{time}\n" for time in times))
    downlink = folder / "downlink.trace"
    downlink.write_text("".join(f"{time}\n" for time in range(10, 3001, 10)))
    return Link(uplink, downlink)


def emulate(
    link: Link, controller: str, parameters: dict[str, float], *options: str
) -> dict[str, Any]:
    """Returns the figures of one run."""
    command = [str(EMULATE), "--controller", controller]
    for name, value in parameters.items():
        command += ["--set", f"{name}={value}"]
    command += ["--uplink", str(link.uplink), "--downlink", str(link.downlink), *options]
    result = subprocess.run(command, check=True, capture_output=True, text=True)
    figures: dict[str, Any] = json.loads(result.stdout)
    return figures


def mean_figures(
    link: Link, controller: str, parameters: dict[str, float], seeds: int, *options: str
) -> dict[str, float]:
    """Returns the mean of each figure over runs with the seeds 0 to seeds - 1."""
    runs = [
        emulate(link, controller, parameters, "--seed", str(seed), *options)
        for seed in range(seeds)
    ]
    return {
        name: sum(run[name] for run in runs) / seeds
        for name in ("throughput_mbps", "queueing_delay_p95_ms", "signal_delay_p95_ms")
    }
