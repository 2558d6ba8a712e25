"""Studies on every kind of Ray, killed at random moments: their tables stay the same to the byte.

    python -m tests.soak.study --rounds 20 --seed 1

A round is a SIGKILL of the driver, a worker or a node when the journal has a random number of runs;
a driver that ends is started again. Rounds alternate between a study and a race, with one, two and
four workers and on two nodes of Ray. The references run on one worker without interruption.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from itertools import cycle, islice, product
from pathlib import Path

from kneepoint.common.tables import read
from kneepoint.runs.results import RUNS
from tests.ray_node import Nodes
from tests.workflow.conftest import Checkout, make_checkout

STUDY = {
    "title": "Soak",
    "controller": "delay_threshold",
    "networks": ["mini", "other", "held"],
    "space": {"alpha": {"low": 0.1, "high": 10}, "rtt_threshold_ms": {"low": 50, "high": 200}},
    "sampler": {"kind": "tpe", "trials": 200, "startup_trials": 20},
    "runs_per_trial": 2,
}
RACE = {
    **STUDY,
    "sampler": {"kind": "tpe", "trials": 100, "startup_trials": 20},
    "runs_per_trial": 4,
    "race": {},
}
STUDIES = {"plain": STUDY, "raced": RACE}
TABLES = ("runs.parquet", "trials.parquet", "study.json")
LAYOUTS = ("1 worker", "2 workers", "4 workers", "2 nodes")
_POLL_S = 0.02
_LONGEST_S = 600
"""Time limit for a driver to reach the next number of runs (s); beyond it, the driver hangs."""


@dataclass
class Tally:
    """The numbers of killed processes, by kind, and of started drivers."""

    kills: dict[str, int]
    starts: int = 0


@dataclass
class Driver:
    """A study under way.

    Args:
        checkout: the checkout in which it runs.
        layout: one of LAYOUTS.
        study: one of STUDIES.
        nodes: the Ray to join; None: the driver has its own.
    """

    checkout: Checkout
    layout: str
    study: str
    nodes: Nodes | None

    @property
    def folder(self) -> Path:
        """The folder of the results."""
        return self.checkout.folder / "results" / self._name / self.study

    @property
    def _name(self) -> str:
        return self.layout.replace(" ", "-")

    def start(self) -> None:
        """Starts or resumes the study."""
        config = f"config/{self._name}.yaml"
        content = {"seed": 5, "results": f"results/{self._name}", "studies": [self.study]}
        self.checkout.write(config, content)
        environment = {**os.environ, **(self.nodes.environment if self.nodes else {})}
        if self.nodes:
            environment["KNEEPOINT_RAY_ADDRESS"] = self.nodes.address
        cores = "1" if self.nodes else self.layout.partition(" ")[0]
        command = [
            sys.executable,
            "-m",
            "kneepoint.workflow.experiment",
            "--config",
            config,
            "--cores",
            cores,
        ]
        self.log = self.checkout.folder / f"{self._name}.log"
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                [*command, self.study],
                cwd=self.checkout.folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )

    def wait_for(self, runs: int) -> None:
        """Waits until the journal holds `runs` runs, or the driver has ended."""
        journal = self.folder / "runs.jsonl"
        deadline = time.monotonic() + _LONGEST_S
        while self.process.poll() is None:
            if journal.exists() and journal.read_bytes().count(b"\n") > runs:
                return
            if time.monotonic() > deadline:
                self.process.kill()
                raise AssertionError(f"{self.layout}: hangs; see {self.log}")
            time.sleep(_POLL_S)

    def known(self) -> int:
        """The number of runs in the journal."""
        journal = self.folder / "runs.jsonl"
        return max(0, journal.read_bytes().count(b"\n") - 1) if journal.exists() else 0

    def kill(self, what: str) -> None:
        """Kills the driver, a worker or a node: of a Ray of its own, its one raylet."""
        if what == "driver":
            self.process.kill()
            self.process.wait()
        elif what == "node" and self.nodes:
            self.nodes.kill(self.nodes.count - 1)
            self.nodes.add()
        else:
            root = self.nodes.pid if self.nodes else self.process.pid
            wanted = "ray::" if what == "worker" else "raylet"
            for pid in islice(_descendants(root, wanted), 1):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)


def soak(folder: Path, rounds: int, seed: int) -> Tally:
    """Runs the references and the rounds in an empty folder.

    Raises:
        AssertionError: a table differs, or a driver hangs, or fails without a kill.
    """
    checkout = make_checkout(folder)
    for name, content in STUDIES.items():
        checkout.write(f"config/studies/{name}.yaml", content)
    checkout.write("config/config.yaml", {"seed": 5, "studies": list(STUDIES)})
    checkout.run("--cores", "1", *(f"results/{name}/study.json" for name in STUDIES))
    draw = random.Random(seed)
    tally = Tally({"driver": 0, "worker": 0, "node": 0})
    places = product(LAYOUTS[::-1], STUDIES)  # two nodes first, for short soaks
    turns = list(islice(cycle(places), rounds))
    for layout, study in dict.fromkeys(turns):
        reference = folder / "results" / study
        runs = read(reference / "runs.parquet", RUNS).num_rows
        found = _soak_one(checkout, layout, study, runs, turns.count((layout, study)), draw, tally)
        differing = [
            name
            for name in TABLES
            if (found / name).read_bytes() != (reference / name).read_bytes()
        ]
        assert not differing, f"{study}, {layout}, seed {seed}: {', '.join(differing)} differ"
    return tally


def _soak_one(
    checkout: Checkout,
    layout: str,
    study: str,
    runs: int,
    rounds: int,
    draw: random.Random,
    tally: Tally,
) -> Path:
    """Runs and kills one study; returns its folder."""
    with ExitStack() as stack:
        nodes = stack.enter_context(Nodes()) if layout == "2 nodes" else None
        if nodes:
            nodes.add()
        driver = Driver(checkout, layout, study, nodes)
        driver.start()
        stack.callback(lambda: driver.process.kill())
        tally.starts += 1
        # Moments are ascending numbers of finished runs, below the total.
        moments = sorted(draw.sample(range(int(0.9 * runs)), rounds))
        # Even a short soak kills each kind of process once, and one of two nodes.
        first = LAYOUTS.index(layout) + list(STUDIES).index(study) + 2
        for turn, moment in enumerate(moments):
            what = list(tally.kills)[(first + turn) % len(tally.kills)]
            driver.wait_for(moment)
            if driver.process.poll() == 0:  # it ended before the kill: start again
                shutil.rmtree(driver.folder)
                driver.start()
                tally.starts += 1
                driver.wait_for(moment)
            assert driver.process.poll() is None, driver.log.read_text()[-2000:]
            print(f"{study}, {layout}: kills the {what} after {driver.known()} runs", flush=True)
            driver.kill(what)
            tally.kills[what] += 1
            if what == "driver" or (what == "node" and not nodes):
                driver.process.wait(_LONGEST_S)
                driver.start()
                tally.starts += 1
        status = driver.process.wait(_LONGEST_S)
        assert status == 0, f"{layout}: status {status}: {driver.log.read_text()[-2000:]}"
    return driver.folder


def _descendants(root: int, name: str) -> Iterator[int]:
    """Yields the descendants of a process that have this name."""
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        with suppress(OSError):
            if Path(f"/proc/{pid}/comm").read_text().startswith(name):
                yield pid
            for task in Path(f"/proc/{pid}/task").iterdir():
                waiting += map(int, (task / "children").read_text().split())


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=20, help="kills (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the moments (%(default)s)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kneepoint-soak-") as folder:
        tally = soak(Path(folder), arguments.rounds, arguments.seed)
    killed = ", ".join(f"{count} of a {what}" for what, count in tally.kills.items())
    print(f"The same bytes after {arguments.rounds} kills ({killed}), {tally.starts} starts")


if __name__ == "__main__":
    main()
