"""CPU time of the emulator for one run of 140 s of trace, in batch mode, beside its budget.

    python -m tests.benchmarks.emulator [--runs 50]

Needs build/emulate and build/networks/contest (`make bench` makes them). Each controller runs with
its default constants. The figure is user plus system time of the process, divided by its runs.
"""

import argparse
import json
import os
import subprocess
from pathlib import Path
from typing import Any

BUDGET_MS = 10.0


def cpu_ms_per_run(network: dict[str, Any], controller: str, runs: int) -> float:
    """Returns the CPU time of one run (ms), traces read once for all of them."""
    line = (
        f"--controller {controller} --uplink {network['uplink']} --downlink {network['downlink']}"
        f" --delay-ms {network['delay_ms']} --host-model {network['host_model']}"
    )
    lines = "".join(f"{line} --seed {seed}\n" for seed in range(runs))
    before = os.times()
    result = subprocess.run(
        ["build/emulate", "--batch"], input=lines, check=True, capture_output=True, text=True
    )
    after = os.times()
    for answer in map(json.loads, result.stdout.splitlines()):
        if answer["status"] != "ok":
            raise SystemExit(f"error: {controller}: {answer['reason']}")
    user_s = after.children_user - before.children_user
    system_s = after.children_system - before.children_system
    return (user_s + system_s) * 1000 / runs


def main() -> None:
    """Measures every controller."""
    parser = argparse.ArgumentParser(description="Measures the emulator's CPU time for one run.")
    parser.add_argument("--runs", type=int, default=50, help="runs per controller (%(default)s)")
    runs: int = parser.parse_args().runs
    network = json.loads(Path("build/networks/contest/network.json").read_text())
    listing = subprocess.run(["build/emulate", "--list"], check=True, capture_output=True).stdout
    print(f"CPU time for one run of 140 s, {runs} runs in one batch (budget {BUDGET_MS:g} ms)")
    for controller in json.loads(listing)["controllers"]:
        print(f"{controller['name']:20}{cpu_ms_per_run(network, controller['name'], runs):8.2f} ms")


if __name__ == "__main__":
    main()
