"""The memory of a workflow, in all its processes together, for a grid of many runs.

    python -m tests.benchmarks.grid_memory --runs 100000

Memory is the sum of the proportional set sizes (PSS: shared pages count once) of every process that
works in the workflow's folder, Snakemake and Ray included; the peak of samples every second.
"""

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

from kneepoint.common.tables import read
from kneepoint.runs.results import RUNS
from tests.workflow.conftest import Checkout, make_checkout

KEEPALIVES = range(10, 1010, 10)
"""Values of the second parameter of the grid."""
POLL_S = 1.0


def grid(runs: int) -> dict[str, Any]:
    """Returns a study of `runs` runs, each of two virtual seconds."""
    windows = range(1, 1 + max(1, runs // len(KEEPALIVES)))
    return {
        "title": "Grid",
        "controller": "fixed_window",
        "networks": ["mini"],
        "space": {
            "window": {"values": list(windows)},
            "keepalive_ms": {"values": list(KEEPALIVES)},
        },
    }


def memory_of(folder: Path) -> dict[str, int]:
    """Returns the memory (bytes) of the processes at work in a folder, by their names."""
    found: dict[str, int] = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if not (process / "cwd").readlink().is_relative_to(folder):
                continue
            name = (process / "comm").read_text().strip()
            lines = (process / "smaps_rollup").read_text().splitlines()
        except OSError:  # it has just ended
            continue
        kib = next((int(line.split()[1]) for line in lines if line.startswith("Pss:")), 0)
        found[name] = found.get(name, 0) + 1024 * kib
    return found


def measure(checkout: Checkout, runs: int) -> tuple[dict[str, int], float]:
    """Returns the peak memory, and the duration of the study (s)."""
    checkout.write("config/studies/grid.yaml", grid(runs))
    checkout.write("config/config.yaml", {"seed": 5, "studies": ["grid"]})
    began_s = time.monotonic()
    workflow = checkout.start("--cores", "2", "results/grid/study.json")
    peak: dict[str, int] = {}
    while workflow.poll() is None:
        now = memory_of(checkout.folder)
        peak = max(peak, now, key=lambda each: sum(each.values()))
        time.sleep(POLL_S)
    took_s = time.monotonic() - began_s
    assert workflow.returncode == 0, workflow.communicate()[0]
    assert read(checkout.folder / "results/grid/runs.parquet", RUNS).num_rows == runs
    return peak, took_s


def main() -> None:
    """Prints the peak, by process."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=100_000, help="in hundreds (%(default)s)")
    runs = parser.parse_args().runs // len(KEEPALIVES) * len(KEEPALIVES)
    with tempfile.TemporaryDirectory(prefix="kneepoint-grid-") as folder:
        peak, took_s = measure(make_checkout(Path(folder)), runs)
    for name, size in sorted(peak.items(), key=lambda each: -each[1]):
        print(f"{name:24}{size / 2**20:8.0f} MiB")
    print(f"{runs} runs: {sum(peak.values()) / 2**20:.0f} MiB at the peak, {took_s:.0f} s")


if __name__ == "__main__":
    main()
