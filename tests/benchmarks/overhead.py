"""The cost of a run besides the emulator: Ray's calls, the journal, and asking and telling.

python -m tests.benchmarks.overhead [--runs 20000] [--workers 2]
"""

import argparse
import tempfile
import time
from contextlib import closing
from pathlib import Path

import optuna

from kneepoint.runs.cluster import open_cluster
from kneepoint.runs.journal import RunJournal
from kneepoint.runs.ray_executor import RayExecutor
from tests.experiments.fakes import FakeSettings, run_spec

_BATCH = 64


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--runs", type=int, default=20000, help="%(default)s")
    parser.add_argument("--workers", type=int, default=2, help="%(default)s")
    parser.add_argument("--trials", type=int, default=1000, help="of TPE (%(default)s)")
    arguments = parser.parse_args()
    specs = [run_spec(1 + i % 50, i) for i in range(arguments.runs)]
    with (
        open_cluster(arguments.workers) as cluster,
        closing(RayExecutor(cluster, FakeSettings())) as executor,
    ):
        list(executor.execute(specs[:_BATCH]))
        began_s = time.perf_counter()
        records = [record for some in executor.execute(specs) for record in some]
        ray_s = time.perf_counter() - began_s
    with (
        tempfile.TemporaryDirectory() as folder,
        RunJournal(Path(folder) / "runs.jsonl") as journal,
    ):
        began_s = time.perf_counter()
        for start in range(0, len(records), 16):
            journal.add(records[start : start + 16])
        journal_s = time.perf_counter() - began_s
        size = (Path(folder) / "runs.jsonl").stat().st_size
    print(f"Ray, {arguments.workers} workers: {1e6 * ray_s / len(specs):.0f} µs a run")
    print(f"journal: {1e6 * journal_s / len(specs):.0f} µs and {size / len(specs):.0f} bytes a run")
    for trials in (arguments.trials // 10, arguments.trials):
        print(f"TPE, 4 parameters, {trials} trials: {1e3 * _ask_and_tell(trials):.1f} ms a trial")


def _ask_and_tell(trials: int) -> float:
    """Returns the mean time of a trial of Optuna's TPE (s)."""
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1))
    began_s = time.perf_counter()
    for _ in range(trials):
        trial = study.ask()
        study.tell(trial, sum(trial.suggest_float(f"x{i}", 0, 1) for i in range(4)))
    return (time.perf_counter() - began_s) / trials


if __name__ == "__main__":
    main()
