"""How well the emulator predicts entries in real mahimahi: ten entries, three runs each.

    python -m tests.tools.contest.benchmarks.real

Each run takes 140 s of real time; --slots sets the number of concurrent runs. Prints each entry's
mean throughput and signal delay, real and emulated (network contest-2026); and the median absolute
error and the median error for this host's latency, the latency of 2017, and a host with the
scheduling delays of these real runs.
"""

import argparse
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory

from kneepoint.engines.base import EngineSettings, RunRecord, RunSpec
from kneepoint.engines.catalogue import load_catalogue
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.engines.entry import Entry
from kneepoint.engines.mahimahi.engine import MahimahiSettings
from kneepoint.entries.build import Compiler
from kneepoint.entries.collect import submission_at
from kneepoint.entries.confine import Confined
from kneepoint.entries.entries import EntryBuilder
from kneepoint.networks.measured_delays import pooled_delays, with_delays
from kneepoint.networks.scenario import PreparedNetwork
from kneepoint.runs.executor import Executor, LocalExecutor
from kneepoint.runs.slots import SlotExecutor
from tests.entries.trees import edit, kit, twin

NETWORK = Path(".kneepoint/networks/contest-2026/network.json")
FIGURES = ("throughput_mbps", "signal_delay_p95_ms", "power")
HOSTS_US = (0, 600)
BUSY_US = 3000.0


PEAK_MS = 20
PEAK = f"""
  static double window = 10, min_ms = 1e9;
  static uint64_t quiet_until_ms = 0;
  const double rtt_ms = timestamp_ack_received - send_timestamp_acked;
  min_ms = std::min(min_ms, rtt_ms);
  if (rtt_ms <= min_ms + {PEAK_MS}) {{
    window += 1 / window;
  }} else if (timestamp_ack_received > quiet_until_ms) {{
    window = std::max(2.0, window / 2);
    quiet_until_ms = timestamp_ack_received + rtt_ms;
  }}
  the_window = window;
"""
MISSING_START = f"""
  static bool starts = true;
  static double min_ms = 1e9;
  const double rtt_ms = timestamp_ack_received - send_timestamp_acked;
  min_ms = std::min(min_ms, rtt_ms);
  if (starts) ++the_window;
  if (starts and rtt_ms > min_ms + {PEAK_MS}) {{
    the_window /= 2;
    starts = false;
  }}
"""


def reacting(folder: Path, rule: str) -> Path:
    """Writes an entry with a rule for `the_window` at each acknowledgment."""
    made = kit(folder)
    code = made / "datagrump/controller.cc"
    edit(code, "#include <iostream>", "#include <algorithm>\n#include <iostream>")
    edit(
        code,
        "Controller::Controller",
        "static unsigned int the_window = 10;\nController::Controller",
    )
    edit(code, "return WINDOW;", "return the_window;")
    edit(code, "timestamp_ack_received) {", "timestamp_ack_received) {" + rule)
    return made


def write_entries(folder: Path) -> list[Path]:
    """Writes ten entries: windows, controllers with their defaults, and two sensitive to the host.

    One halves its window at RTT peaks of 20 ms; the other ends its start at the first such peak.
    """
    catalogue = load_catalogue(Path("build/emulate"))
    made = [kit(folder / f"window-{window}", window) for window in (5, 12, 50)]
    for name in ("aimd_rtt", "delay_band", "delay_threshold", "fast_tcp", "timely"):
        parameters = catalogue.controller(name, "benchmark").complete({}, "benchmark")
        made.append(twin(folder / name, name, parameters))
    made.append(reacting(folder / "rtt-peaks", PEAK))
    made.append(reacting(folder / "missing-start", MISSING_START))
    return made


def run_all(
    executor: Executor,
    engine: EngineSettings,
    entries: list[Entry],
    runs: int,
    network: PreparedNetwork,
) -> dict[str, list[RunRecord]]:
    """Returns the successful runs, by the names of entries."""
    network = engine.place(network)
    specs = [
        RunSpec.on(engine, entry, {}, network, seed)
        for seed in range(1, runs + 1)
        for entry in entries
    ]
    names = {spec.run_id: spec.controller for spec in specs}
    found: dict[str, list[RunRecord]] = {entry.name: [] for entry in entries}
    for records in executor.execute(specs):
        for record in records:
            if record.status == "ok":
                found[names[record.run_id]].append(record)
            else:
                print(f"{names[record.run_id]}: {record.status}: {record.reason}", flush=True)
    executor.close()
    return found


def mean_of(records: list[RunRecord], figure: str) -> float:
    """Returns the mean of a figure."""
    return mean(float(getattr(record, figure)) for record in records)


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=3, help="of each entry (%(default)s)")
    parser.add_argument("--slots", type=int, default=2, help="real runs at once (%(default)s)")
    arguments = parser.parse_args()
    with TemporaryDirectory(prefix="kneepoint-contest-") as work:
        confined = Confined(Path("build/confine").resolve())
        builder = EntryBuilder(Compiler(Path(".kneepoint/contest").resolve(), confined))
        made = [builder.make(submission_at(path)) for path in write_entries(Path(work))]
    entries = [each.built for each in made if each.built is not None]
    assert len(entries) == len(made), [each.reason for each in made]
    emulator = EmulatorSettings.of(Path("build/emulate"))
    real = MahimahiSettings.of(Path("build"), BUSY_US, keep_awake=True)
    network = PreparedNetwork.load(NETWORK).with_host("host_latency_us", HOSTS_US[0])
    measured = run_all(SlotExecutor(real, arguments.slots), real, entries, arguments.runs, network)
    delays = pooled_delays(
        record.scheduling_delays_us or () for records in measured.values() for record in records
    )
    print("scheduling delays (us):", *(f"{row['delay_us']:.0f}" for row in delays))
    hosts = {f"latency {us} us": network.with_host("host_latency_us", us) for us in HOSTS_US}
    hosts["with these scheduling delays"] = with_delays(network, delays)
    for host, its in hosts.items():
        found = run_all(LocalExecutor(emulator, 2), emulator, entries, 8, its)
        print(f"host {host}: real, emulated, error")
        errors: dict[str, list[float]] = {figure: [] for figure in FIGURES}
        for name, records in measured.items():
            words = [f"{name:16}"]
            for figure in FIGURES:
                own, other = (mean_of(runs, figure) for runs in (records, found[name]))
                error = 100 * (other / own - 1)
                errors[figure].append(error)
                words.append(f"{own:8.3f} {other:8.3f} {error:+6.2f} %")
            print("  ".join(words))
        for figure, values in errors.items():
            off = median(abs(value) for value in values)
            print(f"{figure}: median error {off:.2f} %, bias {median(values):+.2f} %")


if __name__ == "__main__":
    main()
