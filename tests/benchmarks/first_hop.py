"""The loss of a burst in the first shell's device: real mahimahi beside the emulator.

    python -m tests.benchmarks.first_hop [--windows 400 1000 8000] [--runs 5] [--duration-s 30]

Needs the real mahimahi, the programs in build/ and .kneepoint/networks/contest, and a quiet
machine: the loss depends on whether sender and shell share a processor. Fixed windows start with a
burst: first on a link without opportunities until the burst is over, so that its queue has all
packets that the device let through, then on the contest's link. Each cell has the median of the
real runs, the mean on the emulated host, and the mean on a host with the scheduling delays of the
real runs' receiver; the last column is the median scheduling delay of the real runs.
"""

import argparse
import statistics
import tempfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from kneepoint.common.errors import KneepointError, run_command_line
from kneepoint.common.files import sha256_of
from kneepoint.engines.base import EngineSettings, MachineFaultError, RunRecord, RunSpec
from kneepoint.engines.catalogue import load_catalogue
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.engines.mahimahi.engine import MahimahiSettings
from kneepoint.networks.measured_delays import pooled_delays
from kneepoint.networks.scenario import PreparedNetwork

WINDOWS = (400, 600, 800, 1000, 1500, 2000, 4000, 6000, 8000)
EMULATED_RUNS = 20
SILENT_MS = 1500
"""Duration of the silence (ms), longer than the burst of any window."""


def joined_packets(log: Path) -> int:
    """Returns the number of a burst's datagrams that reached a link, by its log."""
    events = [line.split() for line in log.read_text().splitlines() if not line.startswith("#")]
    arrivals = [(int(event[0]), event[1]) for event in events if event[2] == "1504"]
    begin_ms = arrivals[0][0]
    return sum(kind == "+" and time_ms < begin_ms + SILENT_MS for time_ms, kind in arrivals)


def silent_network(folder: Path, contest: PreparedNetwork) -> PreparedNetwork:
    """Makes a network with a few opportunities for datagrams and, later, for acknowledgments."""
    links = {}
    for direction, begin_ms in (("uplink", SILENT_MS + 500), ("downlink", SILENT_MS + 600)):
        times_ms = range(begin_ms, begin_ms + 10)  # the kernel's own packets use some
        content = "".join(f"{time_ms}\n" for time_ms in times_ms).encode()
        (folder / direction).write_bytes(content)
        links[direction] = replace(
            getattr(contest, direction),
            trace=str(folder / direction),
            trace_sha256=sha256_of(content),
        )
    return replace(contest, name="silent", duration_s=(SILENT_MS + 700) / 1000, **links)


class Bench:
    """Runs both engines on both networks."""

    def __init__(self, folder: Path, duration_s: float, busy_us: float) -> None:
        self._log = folder / "uplink.log"
        self._contest = PreparedNetwork.load(Path(".kneepoint/networks/contest/network.json"))
        self._silent = silent_network(folder, self._contest)
        self._contest = replace(self._contest, duration_s=duration_s)
        self._real = MahimahiSettings.of(Path("build"), busy_us, keep_awake=True)
        self._emulated = EmulatorSettings.of(Path("build/emulate"))
        self._controller = load_catalogue(Path("build/emulate")).controllers["fixed_window"]

    def measure(self, window: int, runs: int) -> list[str]:
        """Returns a row of the table: the window, and each figure of all three hosts."""
        real_runs = [self._measure_real(window, seed) for seed in range(runs)]
        records = [record for _, record in real_runs]
        real = [_figures(*run) for run in real_runs]
        default, measured = (
            [
                _figures(*self._measure_emulated(window, seed, lateness))
                for seed in range(EMULATED_RUNS)
            ]
            for lateness in ([], records)
        )
        cells = []
        for place, form in enumerate((".0f", ".2f", ".0f")):
            first, *others = ([run[place] for run in each] for each in (real, default, measured))
            figures = (statistics.median(first), *map(statistics.mean, others))
            cells.append(" / ".join(f"{figure:{form}}" for figure in figures))
        delays_us = [record.scheduling_delay_p99_us or 0 for record in records]
        return [f"{window:,}", *cells, f"{statistics.median(delays_us) / 1000:.1f}"]

    def _measure_real(self, window: int, seed: int) -> tuple[int, RunRecord]:
        self._run(replace(self._real, keep_log=self._log), self._silent, window, seed)
        return joined_packets(self._log), self._run(self._real, self._contest, window, seed)

    def _measure_emulated(
        self, window: int, seed: int, measured: list[RunRecord]
    ) -> tuple[int, RunRecord]:
        silent, contest = (_as_late(each, measured) for each in (self._silent, self._contest))
        burst = self._run(self._emulated, silent, window, seed)
        joined = window - (burst.packets_dropped or 0)
        return joined, self._run(self._emulated, contest, window, seed)

    def _run(
        self, engine: EngineSettings, network: PreparedNetwork, window: int, seed: int
    ) -> RunRecord:
        parameters = {"window": float(window), "keepalive_ms": 10_000.0}
        spec = RunSpec.on(engine, self._controller, parameters, engine.place(network), seed)
        try:
            with closing(engine.open()) as opened:
                record = opened.run(spec)
        except MachineFaultError as error:
            raise KneepointError(f"window {window}: {error}") from None
        if record.status != "ok":
            raise KneepointError(f"window {window}: {record.reason}")
        return record


def _as_late(network: PreparedNetwork, measured: list[RunRecord]) -> PreparedNetwork:
    """Returns the network on a host with the scheduling delays of the receiver in real runs."""
    rows = pooled_delays(record.scheduling_delays_us or () for record in measured)
    if not rows:
        return network
    delays_us = "+".join(f"{row['delay_us']:.0f}" for row in rows)
    return network.with_host("wake_mean_us", 0).with_host("delays_us", delays_us)


def _figures(joined: int, record: RunRecord) -> tuple[float, float, float]:
    return joined, record.throughput_mbps or 0, record.signal_delay_p95_ms or 0


def main() -> None:
    """Measures every window."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--windows", type=int, nargs="+", default=WINDOWS)
    parser.add_argument("--runs", type=int, default=5, help="real runs (%(default)s)")
    parser.add_argument("--duration-s", type=float, default=30, help="of a run (%(default)s)")
    parser.add_argument("--busy-us", type=float, default=1000, help="as real_time.busy_us")
    arguments = parser.parse_args()
    head = ["window", "joined the queue", "Mbit/s", "signal delay, ms", "scheduling delay, ms"]
    print(" | ".join(["", *head, ""]).strip())
    print("|---" * len(head) + "|")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), arguments.duration_s, arguments.busy_us)
        for window in arguments.windows:
            print(f"| {' | '.join(bench.measure(window, arguments.runs))} |", flush=True)


if __name__ == "__main__":
    run_command_line(main)
