"""How well the emulator predicts entries in real mahimahi: eight entries, three runs each.

    python -m tests.benchmarks.contest_real

Each run takes 140 s of real time; as many go on at once as --slots says. Prints each entry's mean
throughput and signal delay, real and emulated (network contest-2026), and, for this host's latency
and that of 2017, the median of the absolute errors and the median error.
"""

import argparse
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory

from contest.build import Compiler
from contest.collect import submission_at
from contest.confine import Confined
from contest.entries import EntryBuilder
from engines.base import EngineSettings, RunRecord, RunSpec
from engines.catalogue import load_catalogue
from engines.emulator import EmulatorSettings
from engines.entry import Entry
from engines.mahimahi.engine import MahimahiSettings
from experiments.executor import Executor, LocalExecutor
from experiments.slots import SlotExecutor
from networks.scenario import PreparedNetwork
from tests.contest.trees import kit, twin

NETWORK = Path("build/networks/contest-2026/network.json")
FIGURES = ("throughput_mbps", "signal_delay_p95_ms", "power")
HOSTS_US = (0, 600)
BUSY_US = 3000.0


def write_entries(folder: Path) -> list[Path]:
    """Writes eight entries: three windows, and five controllers with their defaults."""
    catalogue = load_catalogue(Path("build/emulate"))
    made = [kit(folder / f"window-{window}", window) for window in (5, 12, 50)]
    for name in ("aimd_rtt", "delay_band", "delay_threshold", "fast_tcp", "timely"):
        constants = catalogue.controller(name, "benchmark").complete({}, "benchmark")
        made.append(twin(folder / name, name, constants))
    return made


def run_all(
    executor: Executor, engine: EngineSettings, entries: list[Entry], runs: int, host_us: float = 0
) -> dict[str, dict[str, float]]:
    """Returns the mean of each figure by the names of entries."""
    network = PreparedNetwork.load(NETWORK).with_host("host_latency_us", host_us)
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
            found[names[record.run_id]].append(record)
            if record.status != "ok":
                print(f"{names[record.run_id]}: {record.status}: {record.reason}", flush=True)
    executor.close()
    return {
        name: {
            figure: mean(getattr(each, figure) for each in records if each.status == "ok")
            for figure in FIGURES
        }
        for name, records in found.items()
    }


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=3, help="of each entry (%(default)s)")
    parser.add_argument("--slots", type=int, default=2, help="real runs at once (%(default)s)")
    arguments = parser.parse_args()
    with TemporaryDirectory(prefix="kneepoint-contest-") as work:
        confined = Confined(Path("build/confine").resolve())
        builder = EntryBuilder(Compiler(Path("build/contest").resolve(), confined))
        made = [builder.make(submission_at(path)) for path in write_entries(Path(work))]
    entries = [each.built for each in made if each.built is not None]
    assert len(entries) == len(made), [each.reason for each in made]
    emulator = EmulatorSettings.of(Path("build/emulate"))
    real = MahimahiSettings.of(Path("build"), BUSY_US, keep_awake=True)
    emulated = {
        host_us: run_all(LocalExecutor(emulator, 2), emulator, entries, 8, host_us)
        for host_us in HOSTS_US
    }
    measured = run_all(SlotExecutor(real, arguments.slots), real, entries, arguments.runs)
    for host_us, found in emulated.items():
        print(f"host latency {host_us} us: real, emulated, error")
        errors: dict[str, list[float]] = {figure: [] for figure in FIGURES}
        for name, figures in measured.items():
            words = [f"{name:16}"]
            for figure in FIGURES:
                error = 100 * (found[name][figure] / figures[figure] - 1)
                errors[figure].append(error)
                words.append(f"{figures[figure]:8.3f} {found[name][figure]:8.3f} {error:+6.2f} %")
            print("  ".join(words))
        for figure, values in errors.items():
            off = median(abs(value) for value in values)
            print(f"{figure}: median error {off:.2f} %, bias {median(values):+.2f} %")


if __name__ == "__main__":
    main()
