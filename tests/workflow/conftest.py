"""A separate checkout, with a configuration that runs in seconds and needs no download."""

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from kneepoint.engines.built import CORE, PROGRAMS, is_current
from tests.conftest import ROOT
from tests.programs import run_module

SOURCES = (
    "Snakefile controllers environment.yml kneepoint profiles reports requirements.txt search"
).split()
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"

NETWORK = {
    "title": "Two seconds of a cellular link",
    "uplink": {
        "synthetic": {
            "seed": 1,
            "duration_s": 2,
            "start_rate_mbps": 6,
            "max_rate_mbps": 12,
            "outage_escape_per_s": 50,
        }
    },
    "downlink": {"constant_mbps": 12},
    "duration_s": 2,
}
STUDIES: dict[str, dict[str, Any]] = {
    "grid": {
        "controller": "fixed_window",
        "space": {"window": {"values": [2, 10, 40]}},
        "runs_per_trial": 5,
    },
    "ternary": {
        "controller": "fixed_window",
        "space": {"window": {"low": 1, "high": 60}},
        "sampler": {"kind": "ternary"},
    },
    "tpe": {
        "controller": "delay_threshold",
        "networks": ["mini", "other"],
        "space": {"alpha": {"low": 0.1, "high": 10}, "rtt_threshold_ms": {"low": 50, "high": 200}},
        "sampler": {"kind": "tpe", "trials": 60, "startup_trials": 20},
        "runs_per_trial": 2,
    },
    "fit": {
        "controller": "fixed_window",
        "parameters": {"keepalive_ms": 1000},
        "host": {"host_latency_us": {"low": 0, "high": 3000}},
        "objective": {"fit": "printed"},
        "sampler": {"kind": "golden"},
    },
    "table": {"controller": "fixed_window", "table": "printed"},
    "worst": {
        "controller": "fixed_window",
        "space": {
            "network.delay_ms": {"low": 1, "high": 50},
            "network.synthetic.seed": {"values": [1, 2, 3]},
            "network.synthetic.max_rate_mbps": {"low": 6, "high": 20},
        },
        "objective": {"worst_case": {"against": {"controller": "delay_threshold"}}},
        "sampler": {"kind": "tpe", "trials": 20, "startup_trials": 10},
    },
}
HARDENING = {
    "title": "Hardened",
    "tune": "ternary",
    "worst_case": "worst",
    "rounds": 1,
    "repeats": 2,
}
REPEAT = {
    "title": "Again",
    "network": "mini",
    "repeats": 12,
    "settings": [{"controller": "fixed_window", "parameters": {"window": w}} for w in (12, 15)],
}
PRINTED = {
    "source": "a report",
    "controller": "fixed_window",
    "network": "mini",
    "columns": {
        "window": {"parameter": "window", "unit": "packets"},
        "power": {"metric": "power", "unit": "Mbit/s/s"},
    },
}


@dataclass(frozen=True)
class Checkout:
    """A folder in which a workflow can run."""

    folder: Path

    def start(self, *arguments: str) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [sys.executable, "-m", "snakemake", *arguments],
            cwd=self.folder,
            env=os.environ | {"PATH": PATH},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def run(self, *arguments: str, **environment: str) -> str:
        """Runs Snakemake, which must succeed; returns its output."""
        variables = {"PATH": PATH, **environment}
        done = run_module("snakemake", *arguments, cwd=self.folder, **variables)
        output = done.stdout + done.stderr
        assert done.returncode == 0, output
        return output

    def configure(self, name: str) -> tuple[list[str], list[str]]:
        """Writes a configuration with its own results; returns its arguments and targets."""
        results = f"results/{name}"
        content = {
            "seed": 5,
            "results": results,
            "studies": list(STUDIES),
            "repeats": ["again"],
            "hardening": {"hard": HARDENING},
            "hold_out": {"training": "mini", "networks": ["held", "fitted"], "repeats": 3},
            "showcase": {"controller": "timely", "network": "mini"},
        }
        self.write(f"config/{name}.yaml", content)
        targets = [f"{results}/{study}/study.json" for study in STUDIES]
        targets += [f"{results}/repeats/again/runs.parquet", f"{results}/showcase/runs.parquet"]
        targets += [f"{results}/hold_out/runs.parquet", f"{results}/hardening/hard/rounds.parquet"]
        return ["--configfile", f"config/{name}.yaml"], targets

    def results(self, name: str) -> dict[str, bytes]:
        """Returns the content of every result by its path."""
        folder = self.folder / "results" / name
        return {
            str(path.relative_to(folder)): path.read_bytes()
            for pattern in ("*.parquet", "*.json")
            for path in folder.rglob(pattern)
        }

    def write(self, path: str, content: object) -> None:
        """Writes a YAML file."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(yaml.safe_dump(content))


@dataclass(frozen=True)
class Finished:
    """A workflow that has run to its end on one core.

    Args:
        checkout: the checkout; tests undo their changes to it.
        command: the arguments for which nothing is left to do.
        results: the content of its results by their paths.
    """

    checkout: Checkout
    command: tuple[str, ...]
    results: dict[str, bytes]


@pytest.fixture(scope="session")
def finished_workflow(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """Runs once for the test files that use it, which share a process (see tests.conftest)."""
    checkout = make_checkout(tmp_path_factory.mktemp("finished"))
    arguments, targets = checkout.configure("one")
    command = (*arguments, "--", *targets)
    process = checkout.start("--cores", "1", *command)
    output, _ = process.communicate()
    assert process.returncode == 0, output
    return Finished(checkout, command, checkout.results("one"))


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """All inputs of the workflow, with built programs."""
    return make_checkout(tmp_path_factory.mktemp("checkout"))


def copy_sources(folder: Path, names: Sequence[str] = SOURCES) -> None:
    """Copies the inputs of the workflow into a folder."""
    for name in names:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, symlinks=True)
        else:
            shutil.copy2(ROOT / name, folder / name)


def make_checkout(folder: Path) -> Checkout:
    """Makes a checkout in an empty folder."""
    copy_sources(folder)
    (folder / "build").mkdir()
    for program in map(Path, PROGRAMS):
        if not program.exists():
            pytest.skip(f"NOT TESTED: {program} is missing; run `make build`")
        shutil.copy(program, folder / "build" / program.name)
    with chdir(ROOT):
        assert is_current(CORE, Path("config/controllers")), (
            "build/ is not what the sources are; run `make build`"
        )
    shutil.copytree(ROOT / "build/controllers", folder / "build/controllers")
    shutil.copytree(ROOT / "build/sources", folder / "build/sources")
    made = Checkout(folder)
    made.write("config/networks/mini.yaml", NETWORK)
    made.write("config/networks/other.yaml", {**NETWORK, "uplink": {"constant_mbps": 3}})
    made.write("config/networks/held.yaml", {**NETWORK, "uplink": {"constant_mbps": 5}})
    fitted = {"uplink": {"constant_mbps": 4}, "host_from": "fit"}
    made.write("config/networks/fitted.yaml", {**NETWORK, **fitted})
    made.write("config/repeats/again.yaml", REPEAT)
    made.write("config/published/printed.yaml", PRINTED)
    (folder / "config/published/printed.csv").write_text("window,power\n5,60\n20,40\n")
    made.write("config/traces.yaml", {})
    for name, study in STUDIES.items():
        made.write(f"config/studies/{name}.yaml", {"title": name, "networks": ["mini"], **study})
    return made
