"""Downloads beside a long-lived flow: the kernel's TCP and the emulator's.

    python -m tests.benchmarks.downloads --runs 8

Needs `make build`, `make kernel-rig` and a quiet machine, and takes about five minutes per setting.
A download's time depends on its start within the long-lived flow's cycle, so every run has sixteen
downloads at random times, the same in both engines; the emulator makes ten times as many runs. A
line has the mean of each engine with its 95 % interval, and the p value of Welch's test.
"""

import argparse
import json
import os
import random
import statistics
import subprocess
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from scipy import stats

from kneepoint.common.errors import KneepointError, run_command_line
from kneepoint.engines.base import MachineFaultError
from kneepoint.engines.kernel.engine import KernelSettings
from kneepoint.engines.kernel.scenario import REQUEST_BYTES
from kneepoint.networks.traffic import LINUX

BYTES = 177_669
"""Report 003's page."""
DOWNLOADS, FIRST_S, GAP_S = 16, 30.0, (10.0, 20.0)
EMULATED = 10
"""Emulated runs per real run."""
PARAMETERS = {"reno": {"whole_packets": 1}, "cubic": {"whole_packets": 1, "hystart": 1}}


def scenario(controller: str, packets: int, seed: int) -> dict[str, Any]:
    """Returns report 003's network with a long-lived flow and downloads at random times."""
    chance = random.Random(seed)
    tcp = {"transport": "tcp", "tcp": LINUX.model_dump(exclude_none=True)}
    flow = {"controller": controller, "parameters": PARAMETERS[controller], **tcp}
    starts_s = [FIRST_S]
    for _ in range(DOWNLOADS - 1):
        starts_s.append(round(starts_s[-1] + chance.uniform(*GAP_S), 3))
    page = {**flow, "bytes": BYTES, "request_bytes": REQUEST_BYTES}
    return {
        "uplink": {"rate_mbps": 1.5, "delay_ms": 10, "queue": f"droptail:packets={packets}"},
        "downlink": {"rate_mbps": 100, "delay_ms": 10},
        "flows": [{**flow, "start_s": 1}, *({**page, "start_s": start_s} for start_s in starts_s)],
        "duration_s": starts_s[-1] + 2 * GAP_S[1],
        "seed": seed,
    }


def emulated(scenarios: Sequence[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yields the emulator's answers."""
    asked = "".join(json.dumps({"scenario": each, "flows": True}) + "\n" for each in scenarios)
    command = ["build/emulate", "--batch"]
    done = subprocess.run(command, input=asked, capture_output=True, check=True, text=True)
    yield from map(json.loads, done.stdout.splitlines())


def real(scenarios: Sequence[dict[str, Any]], busy_us: float) -> Iterator[dict[str, Any]]:
    """Yields the kernel's answers, without runs that the host disturbed."""
    settings = KernelSettings.of(Path("build"), busy_us)
    engines = [settings.open() for _ in scenarios]
    at_once = settings.runs_at_once(0, os.cpu_count() or 1)
    try:
        with ThreadPoolExecutor(at_once) as pool:
            for answer in pool.map(_answer, engines, scenarios):
                if answer and answer["scheduling_delay_p99_us"] <= busy_us:
                    yield answer
    finally:
        for engine in engines:
            engine.close()


def _answer(engine: Any, content: dict[str, Any]) -> dict[str, Any] | None:
    try:
        answer: dict[str, Any] = engine.answer(content)
    except MachineFaultError:
        return None
    return answer


def times_s(answers: Iterator[dict[str, Any]]) -> list[float]:
    """Returns the durations of downloads (s)."""
    found = [flow["completion_s"] for answer in answers for flow in answer["flows"][1:]]
    return [each for each in found if each is not None]


def told(values: Sequence[float]) -> str:
    """Returns a mean with its 95 % interval."""
    mean = statistics.fmean(values)
    low, high = stats.t.interval(0.95, len(values) - 1, mean, stats.sem(values))
    return f"{mean:.2f} [{low:.2f}, {high:.2f}] of {len(values)}"


def main() -> None:
    """Prints a line for each setting."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=8, help="on the kernel (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the first run (%(default)s)")
    parser.add_argument("--packets", type=int, nargs="+", default=[20, 50, 100], help="of buffer")
    parser.add_argument("--busy-us", type=float, default=1500, help="see real_time.busy_us")
    parser.add_argument("--controllers", nargs="+", choices=[*PARAMETERS], default=[*PARAMETERS])
    given = parser.parse_args()
    for packets in given.packets:
        for controller in given.controllers:
            seeds = range(given.seed, given.seed + EMULATED * given.runs)
            wanted = [scenario(controller, packets, seed) for seed in seeds]
            ours = times_s(emulated(wanted))
            kernels = times_s(real(wanted[: given.runs], given.busy_us))
            if len(kernels) < 2:
                raise KneepointError("the host was too busy; use fewer runs or reduce other load")
            welch = stats.ttest_ind(kernels, ours, equal_var=False)
            print(
                f"{controller:6}{packets:4} packets   kernel {told(kernels)}   "
                f"emulator {told(ours)}   p {welch.pvalue:.3f}",
                flush=True,
            )


if __name__ == "__main__":
    run_command_line(main)
