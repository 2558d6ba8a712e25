"""What one run of 140 s of trace costs the emulator: CPU time, and instructions where valgrind is.

    python -m tests.benchmarks.emulator [--runs 50]

Needs build/emulate and build/networks/contest (`make bench` makes them). Each controller runs with
its default constants, in batch mode, so that traces are read once. CPU time is user plus system
time of the process, divided by its runs. Instructions are those that a further run adds to a batch,
counted by callgrind; they do not depend on what else the machine does.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

BUDGET_INSTRUCTIONS = 35e6
"""For a fixed window of 50."""

MOST_FUNCTIONS = 12


def line_of(network: dict[str, Any], controller: str) -> str:
    """Returns a batch's line, without its end."""
    return (
        f"--controller {controller} --uplink {network['uplink']['trace']}"
        f" --downlink {network['downlink']['trace']}"
        f" --delay-ms {network['uplink']['delay_ms']:.0f} --host-model {network['host_model']}"
        f" --host-latency-us {network['host_latency_us']}"
    )


def cpu_ms_per_run(line: str, runs: int) -> float:
    """Returns the CPU time of one run (ms)."""
    lines = "".join(f"{line} --seed {seed}\n" for seed in range(runs))
    before = os.times()
    result = subprocess.run(
        ["build/emulate", "--batch"], input=lines, check=True, capture_output=True, text=True
    )
    after = os.times()
    for answer in map(json.loads, result.stdout.splitlines()):
        if answer["status"] != "ok":
            raise SystemExit(f"error: {line}: {answer['reason']}")
    user_s = after.children_user - before.children_user
    system_s = after.children_system - before.children_system
    return (user_s + system_s) * 1000 / runs


def count_instructions(line: str, runs: int, folder: Path) -> tuple[int, Path]:
    """Returns the instructions of a batch, and callgrind's file."""
    profile = folder / f"callgrind.{runs}"
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}"]
    lines = f"{line}\n" * runs
    subprocess.run(
        [*command, "build/emulate", "--batch"],
        input=lines,
        check=True,
        capture_output=True,
        text=True,
    )
    total = re.search(r"^(?:summary|totals): (\d+)", profile.read_text(), re.MULTILINE)
    assert total is not None
    return int(total[1]), profile


def instructions_of_run(line: str, folder: Path) -> tuple[int, Path]:
    """Returns the instructions of one run after its traces were read, and callgrind's file."""
    one, _ = count_instructions(line, 1, folder)
    two, profile = count_instructions(line, 2, folder)
    return two - one, profile


def functions_of(profile: Path) -> list[tuple[int, str]]:
    """Returns where a batch's instructions went: the costliest functions, by themselves."""
    command = ["callgrind_annotate", "--threshold=100", str(profile)]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    costs: dict[str, int] = {}
    for count, name in re.findall(
        r"^ *([\d,]+) \([ \d.]+%\) +[^:\n]*:(.*?)(?:'\d+)?(?: \[.*\])?$", listing, re.MULTILINE
    ):
        costs[name] = costs.get(name, 0) + int(count.replace(",", ""))
    return sorted(((cost, name) for name, cost in costs.items()), reverse=True)[:MOST_FUNCTIONS]


def main() -> None:
    """Measures every controller, and the fixed window in detail."""
    parser = argparse.ArgumentParser(description="Measures what a run costs the emulator.")
    parser.add_argument("--runs", type=int, default=50, help="runs per controller (%(default)s)")
    runs: int = parser.parse_args().runs
    network = json.loads(Path("build/networks/contest/network.json").read_text())
    listing = subprocess.run(["build/emulate", "--list"], check=True, capture_output=True).stdout
    has_valgrind = shutil.which("valgrind") is not None
    print(f"One run of 140 s, in a batch of {runs}: CPU time in ms, millions of instructions")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for controller in json.loads(listing)["controllers"]:
            line = line_of(network, controller["name"])
            row = f"{controller['name']:20}{cpu_ms_per_run(line, runs):8.2f}"
            if has_valgrind:
                row += f"{instructions_of_run(line, folder)[0] / 1e6:8.1f}"
            print(row)
        if not has_valgrind:
            print("No valgrind, no instructions: apt-get install valgrind")
            return
        line = line_of(network, "fixed_window --set window=50")
        count, profile = instructions_of_run(line, folder)
        print(f"\nWindow 50: {count / 1e6:.1f} million (budget {BUDGET_INSTRUCTIONS / 1e6:g});")
        print("where those of two runs go, the reading of traces included:")
        for cost, function in functions_of(profile):
            print(f"{cost / 1e6:8.1f}  {function[:90]}")


if __name__ == "__main__":
    main()
