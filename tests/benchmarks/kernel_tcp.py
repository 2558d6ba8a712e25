"""The kernel's TCP beside the emulator's, on report 003's network.

    python -m tests.benchmarks.kernel_tcp --repeats 5 --at-once 6

Two congestion controls, three buffers, one queue and two. A run lasts 150 s: a long-lived flow from
the start, a ping a second from 30 s on, a download of 177,669 bytes at 120 s and later, the repeats
2.3 s apart. Throughput, RTT and loss events are of the 90 s before the download.
The kernel's answers are kept in build/kernel-tcp; those that are there are not made again.
"""

import argparse
import dataclasses
import itertools
import json
import statistics
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from engines.kernel.engine import KernelSettings

BUFFERS_PACKETS = (20, 50, 100)
FOLDER = Path("build/kernel-tcp")
_FROM_S, _TO_S, _END_S = 30, 120, 150
_APART_S, _EARLIER_S = 2.3, 0.1
_PAGE_BYTES = 177_669
_INTERVAL_S = 0.1
_LINUX: dict[str, float] = {"least_rto_ms": 200, "least_rto_margin_ms": 200}
_LINUX_CONSTANTS: dict[str, dict[str, float]] = {"reno": {}, "cubic": {"hystart": 1}}


@dataclasses.dataclass(frozen=True)
class Setting:
    """A congestion control, a buffer in packets (of each queue), and one queue or two."""

    controller: str
    packets: int
    queues: int

    def __str__(self) -> str:
        return f"{self.controller}-{self.packets}-{self.queues}"


@dataclasses.dataclass(frozen=True)
class Figures:
    """What is compared."""

    throughput_mbps: float
    rtt_ms: float
    events_a_minute: float
    download_s: float
    least_window_packets: float
    greatest_window_packets: float


def scenario(setting: Setting, repeat: int) -> dict[str, Any]:
    """Returns the scenario of a repeat, the same for both engines."""
    fair = setting.queues == 2
    queue = f"droptail:packets={setting.packets}"
    if fair:
        queue = f"drr:packets={setting.packets},classes=2,per_class=1"
    flow = {
        "controller": setting.controller,
        "constants": _LINUX_CONSTANTS[setting.controller],
        "transport": "tcp",
        "tcp": _LINUX,
    }
    others = {"class": 1} if fair else {}
    return {
        "uplink": {"rate_mbps": 1.5, "delay_ms": 10, "queue": queue},
        "downlink": {"rate_mbps": 100, "delay_ms": 10},
        "flows": [
            # The emulator repeats itself to the bit; its flows start a little apart.
            flow | {"start_s": _EARLIER_S * repeat},
            flow | {"start_s": _TO_S + _APART_S * repeat, "bytes": _PAGE_BYTES} | others,
        ],
        "probes": [{"start_s": _FROM_S} | others],
        "duration_s": _END_S,
        "interval_s": _INTERVAL_S,
        "seed": repeat,
    }


def kernel_figures(setting: Setting, repeat: int) -> Figures:
    """Runs a repeat on the kernel's rig, unless it is there."""
    path = FOLDER / f"{setting}-{repeat}.json"
    if not path.exists():
        answer = KernelSettings.of(Path("build")).open().answer(scenario(setting, repeat))
        path.write_text(json.dumps(answer))
    return figures_of(json.loads(path.read_text()))


def emulated_figures(setting: Setting, repeat: int) -> Figures:
    """Runs a repeat in virtual time."""
    line = json.dumps({"scenario": scenario(setting, repeat), "flows": True})
    command = ["build/emulate", "--batch"]
    result = subprocess.run(command, check=True, capture_output=True, text=True, input=line)
    return figures_of(json.loads(result.stdout))


def figures_of(answer: Mapping[str, Any]) -> Figures:
    """Returns the figures of an engine's answer."""
    flow, page = answer["flows"]
    part = slice(round(_FROM_S / _INTERVAL_S), round(_TO_S / _INTERVAL_S))
    windows = sorted(flow["window_by_interval_packets"][part])
    events = [time_s for time_s in flow["loss_events_s"] if _FROM_S <= time_s < _TO_S]
    rtts_ms = [rtt for rtt in answer["probes"][0]["rtts_ms"][: _TO_S - _FROM_S] if rtt is not None]
    return Figures(
        throughput_mbps=statistics.fmean(flow["throughput_by_interval_mbps"][part]),
        rtt_ms=statistics.fmean(rtts_ms),
        events_a_minute=len(events) * 60 / (_TO_S - _FROM_S),
        download_s=page["completion_s"] or float("nan"),
        least_window_packets=windows[len(windows) // 50],
        greatest_window_packets=windows[-1 - len(windows) // 50],
    )


def main() -> None:
    """Reads the command line; prints a table: the kernel's mean and its range, the emulator's."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--at-once", type=int, default=4)
    parser.add_argument("--only", nargs="+", metavar="SETTING", help="such as reno-20-1")
    arguments = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    known = {
        str(setting): setting
        for setting in itertools.starmap(
            Setting, itertools.product(("reno", "cubic"), BUFFERS_PACKETS, (1, 2))
        )
    }
    if unknown := set(arguments.only or ()) - set(known):
        parser.error(
            f"no setting is called {', '.join(sorted(unknown))}; there are: {' '.join(known)}"
        )
    settings = [known[name] for name in arguments.only or known]
    runs = [(setting, repeat) for repeat in range(arguments.repeats) for setting in settings]
    with ThreadPoolExecutor(arguments.at_once) as pool:
        kernel = dict(zip(runs, pool.map(lambda run: kernel_figures(*run), runs), strict=True))
    fields = [field.name for field in dataclasses.fields(Figures)]
    sys.stdout.write("| setting | " + " | ".join(fields) + " |\n|" + "---|" * (len(fields) + 1))
    for setting in settings:
        cells = []
        emulated = [emulated_figures(setting, repeat) for repeat in range(arguments.repeats)]
        for field in fields:
            of_kernel = [getattr(kernel[setting, r], field) for r in range(arguments.repeats)]
            ours = statistics.fmean(getattr(figures, field) for figures in emulated)
            mean, low, high = statistics.fmean(of_kernel), min(of_kernel), max(of_kernel)
            digits = 4 if field == "throughput_mbps" else 3
            told = [f"{value:.{digits}g}" for value in (mean, low, high, ours)]
            cells.append("{} ({} to {}) / {}".format(*told))
        sys.stdout.write(f"\n| {setting} | " + " | ".join(cells) + " |")
    sys.stdout.write("\n")


if __name__ == "__main__":
    main()
