"""The cost of runs in the emulator: CPU time, memory and, with valgrind, instructions.

    python -m tests.benchmarks.emulator [--runs 50]

Needs build/emulate and .kneepoint/networks/contest (`make bench` makes them). One flow is 140 s of
the contest's network, for each controller that needs no marks, with its defaults, in batch mode, so
that traces are read once; three and a hundred flows are separate scenarios, and an entry, the kit's
own sender, runs confined and trusted. CPU time is user plus system time of the process, divided by
its runs; memory is the peak of the process. Instructions, also of the same flow over TCP, are the
instructions that a further run adds to a batch, counted by callgrind; they do not depend on the
load of the machine.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kneepoint.engines.catalogue import load_catalogue

EMULATE = Path("build/emulate")
KIT = Path("kneepoint/entries/kit")
BUDGET_MILLIONS = 52
"""The budget of instructions for a fixed window of 50."""

BUDGET_MIB = 50


@dataclass(frozen=True)
class Cost:
    """The cost of one run."""

    cpu_ms: float
    memory_mib: float
    switches: float  # voluntary context switches


@dataclass(frozen=True)
class Load:
    """A scenario, and the budget of its cost."""

    title: str
    budget_cpu_ms: float
    scenario: dict[str, Any]


def tcp_flows(count: int) -> list[dict[str, Any]]:
    """Returns alternately Reno and CUBIC, each starting 50 ms after the flow before."""
    return [
        {"controller": ("reno", "cubic")[i % 2], "transport": "tcp", "start_s": i * 0.05}
        for i in range(count)
    ]


LOADS = (
    Load(
        "3 TCP flows, 1.5 Mbit/s, 300 s",
        20,
        {
            "uplink": {"rate_mbps": 1.5, "delay_ms": 10, "queue": "droptail:packets=100"},
            "downlink": {"rate_mbps": 100, "delay_ms": 10},
            "flows": tcp_flows(3),
            "host_model": "ideal",
            "duration_s": 300,
        },
    ),
    Load(
        "100 TCP flows, 100 Mbit/s, 60 s",
        3000,  # 20 times faster than real time
        {
            "uplink": {"rate_mbps": 100, "delay_ms": 10, "queue": "droptail:packets=1000"},
            "downlink": {"rate_mbps": 1000, "delay_ms": 10},
            "flows": tcp_flows(100),
            "host_model": "ideal",
            "duration_s": 60,
        },
    ),
)


def line_of(network: dict[str, Any], controller: str) -> str:
    """Returns a line of a batch, without its end."""
    return (
        f"--controller {controller} --uplink {network['uplink']['trace']}"
        f" --downlink {network['downlink']['trace']}"
        f" --delay-ms {network['uplink']['delay_ms']:.0f} --host-model {network['host_model']}"
        f" --host-latency-us {network['host_latency_us']}"
    )


def tcp_line_of(network: dict[str, Any], controller: str) -> str:
    """Returns the line of a batch for one TCP flow."""
    links = {
        direction: {name: network[direction][name] for name in ("trace", "delay_ms", "queue")}
        for direction in ("uplink", "downlink")
    }
    host = {name: network[name] for name in ("host_model", "host_latency_us")}
    flow = {"controller": controller, "transport": "tcp"}
    return json.dumps({"scenario": {**links, **host, "flows": [flow]}})


def cost_of(lines: list[str]) -> Cost:
    """Returns the cost of a batch per run."""
    with tempfile.TemporaryFile("w+") as file, tempfile.TemporaryFile("w+") as answers:
        file.writelines(f"{line}\n" for line in lines)
        file.seek(0)
        process = subprocess.Popen([EMULATE, "--batch"], stdin=file, stdout=answers)
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        answers.seek(0)
        for answer in map(json.loads, answers):
            if answer["status"] != "ok":
                raise SystemExit(f"error: {lines[0]}: {answer['reason']}")
    cpu_ms = (usage.ru_utime + usage.ru_stime) * 1000 / len(lines)
    return Cost(cpu_ms, usage.ru_maxrss / 1024, usage.ru_nvcsw / len(lines))


def count_instructions(line: str, runs: int, folder: Path) -> int:
    """Returns the instructions of a batch."""
    profile = folder / "callgrind"
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}"]
    lines = f"{line}\n" * runs
    subprocess.run(
        [*command, EMULATE, "--batch"], input=lines, check=True, capture_output=True, text=True
    )
    total = re.search(r"^(?:summary|totals): (\d+)", profile.read_text(), re.MULTILINE)
    assert total is not None
    return int(total[1])


def instructions_of_run(line: str, folder: Path) -> float:
    """Returns the instructions (millions) of one run, without reading its traces."""
    return (count_instructions(line, 2, folder) - count_instructions(line, 1, folder)) / 1e6


def measure_one_flow(runs: int, folder: Path, has_valgrind: bool) -> None:
    """Prints the cost of each controller, and of the fixed window in detail."""
    network = json.loads(Path(".kneepoint/networks/contest/network.json").read_text())
    print(f"One flow, 140 s, in a batch of {runs}: CPU ms, MiB, millions of instructions")
    print("(by datagrams; by TCP)")
    for controller in load_catalogue(EMULATE).controllers.values():
        if "counted_marks" in controller.needs:
            continue  # no queue of this network marks
        line = line_of(network, controller.name)
        cost = cost_of([f"{line} --seed {seed}" for seed in range(runs)])
        row = f"{controller.name:20}{cost.cpu_ms:8.2f}{cost.memory_mib:8.1f}"
        if has_valgrind:
            row += f"{instructions_of_run(line, folder):8.1f}"
            if "receiver_clock" not in controller.needs:
                row += f"{instructions_of_run(tcp_line_of(network, controller.name), folder):8.1f}"
        print(row)
    if has_valgrind:
        line = line_of(network, "fixed_window --set window=50")
        print(
            f"\nWindow 50: {instructions_of_run(line, folder):.1f} million"
            f" (budget {BUDGET_MILLIONS})"
        )


def measure_scenario(load: Load, runs: int, folder: Path, has_valgrind: bool) -> None:
    """Prints the cost of a scenario."""
    file = folder / "scenario.json"
    file.write_text(json.dumps(load.scenario))
    line = f"--scenario {file}"
    cost = cost_of([line] * runs)
    print(
        f"\n{load.title}: {cost.cpu_ms:.1f} ms of CPU time (budget {load.budget_cpu_ms:g}),"
        f" {load.scenario['duration_s'] * 1000 / cost.cpu_ms:.0f} times faster than real time,"
        f" {cost.memory_mib:.1f} MiB (budget {BUDGET_MIB})"
    )
    if has_valgrind:
        print(f"{instructions_of_run(line, folder):.1f} million instructions")


def measure_entry(runs: int, folder: Path) -> None:
    """Prints the cost of an entry, and of each switch between its process and the emulator."""
    sources = [path for path in KIT.glob("*/*.cc") if path.name != "receiver.cc"]
    entry = folder / "entry.so"
    includes = (f"-I{KIT / each}" for each in ("datagrump", "src"))
    subprocess.run(
        ["c++", "-std=gnu++20", "-O2", "-fPIC", "-shared", *includes, "-o", entry, *sources],
        check=True,
    )
    network = json.loads(Path(".kneepoint/networks/contest/network.json").read_text())
    line = line_of(network, "fixed_window --set window=50")
    own = cost_of([f"{line} --seed {seed}" for seed in range(runs)])
    line = line.replace("--controller fixed_window --set window=50", f"--entry {entry}")
    for title, option in (("confined", ""), ("trusted", " --trust-entries")):
        cost = cost_of([f"{line} --seed {seed}{option}" for seed in range(runs)])
        switch_us = (cost.cpu_ms - own.cpu_ms) * 1000 / cost.switches
        print(
            f"\nAn entry with a window of 50, {title}: {cost.cpu_ms:.0f} ms of CPU time, "
            f"{cost.switches:.0f} switches of context; without the {own.cpu_ms:.0f} ms of a "
            f"built-in sender's run, {switch_us:.1f} us for each, what the entry computes included"
        )


def main() -> None:
    """Measures one, three and a hundred flows, and an entry."""
    parser = argparse.ArgumentParser(description="Measures the cost of runs in the emulator.")
    parser.add_argument("--runs", type=int, default=50, help="runs per controller (%(default)s)")
    runs: int = parser.parse_args().runs
    has_valgrind = shutil.which("valgrind") is not None
    with tempfile.TemporaryDirectory() as name:
        measure_one_flow(runs, Path(name), has_valgrind)
        for load in LOADS:
            measure_scenario(load, min(runs, 5), Path(name), has_valgrind)
        measure_entry(min(runs, 10), Path(name))
    if not has_valgrind:
        print("\nNo valgrind, no instructions: apt-get install valgrind")


if __name__ == "__main__":
    main()
