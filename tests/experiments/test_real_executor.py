"""Jobs in real time clean up, however they end."""

import dataclasses
import os
import pickle
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from kneepoint.engines.base import RunSpec
from kneepoint.engines.mahimahi.engine import MahimahiSettings
from kneepoint.networks.config import load_network
from kneepoint.networks.prepare import prepare_network
from tests.conftest import ROOT
from tests.engines.live_run import PATIENCE_S, nothing_is_left, observe
from tests.engines.real import real_engine, write_traces
from tests.experiments.fakes import built_spec, network
from tests.experiments.test_executor import Workflow, end, start_workflow

pytestmark = pytest.mark.real_time

MARGIN_S = 30

# Like a study.
DRIVER = """
import pickle, sys
from pathlib import Path
from kneepoint.runs.cluster import end_with_cluster
from kneepoint.runs.slots import SlotExecutor
end_with_cluster(Path(sys.argv[1]))
settings, specs = pickle.load(sys.stdin.buffer)
list(SlotExecutor(settings, 1, Path(sys.argv[1]).parent).execute(specs))
"""


@pytest.fixture(scope="module")
def workflow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workflow]:
    started = start_workflow(tmp_path_factory.mktemp("workflow"))
    yield started
    end(started.owner)


@pytest.fixture
def settings(tmp_path: Path) -> MahimahiSettings:
    return dataclasses.replace(real_engine(), folder=tmp_path)


def spec_for(settings: MahimahiSettings, duration_s: float) -> RunSpec:
    trace = "".join(f"{time_ms}\n" for time_ms in range(2, 1001, 2))
    link = network("wire", duration_s=duration_s, **write_traces(settings.folder, trace))
    return built_spec(12, engine="mahimahi", engine_sha256=settings.sha256, network=link)


def start_driver(workflow: Workflow, settings: MahimahiSettings) -> "subprocess.Popen[bytes]":
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER, workflow.file], cwd=ROOT, stdin=subprocess.PIPE
    )
    assert driver.stdin is not None
    driver.stdin.write(pickle.dumps((settings, [spec_for(settings, 100)])))
    driver.stdin.close()
    return driver


def test_killed_study_leaves_nothing_of_its_runs(
    workflow: Workflow, settings: MahimahiSettings
) -> None:
    driver = start_driver(workflow, settings)
    run = observe(settings.folder)
    end(driver)
    nothing_is_left(run, MARGIN_S)


def start_job(workflow: Workflow, folder: Path, name: str) -> "subprocess.Popen[bytes]":
    """Starts a rule's job in a folder of its own, on a network of 100 s."""
    wire = {"constant_mbps": 6}
    run = {"controller": "fixed_window", "network": "wire"}
    files = {
        "config.yaml": {
            "seed": 1,
            "showcase": run,
            "real_time": {"busy_us": 1e6, "probe": {**run, "duration_s": 100}},
        },
        "networks/wire.yaml": {
            "title": "A wire",
            "uplink": wire,
            "downlink": wire,
            "duration_s": 100,
        },
    }
    config = folder / "config/config.yaml"
    for file, content in files.items():
        (config.parent / file).parent.mkdir(parents=True, exist_ok=True)
        (config.parent / file).write_text(yaml.safe_dump(content))
    network, where = load_network(config, "wire"), config.parent / "networks/wire.yaml"
    prepare_network("wire", network, where, folder / "networks/wire")
    options = {
        "config": config,
        "networks": folder / "networks",
        "build": ROOT / "build",
        "cluster": workflow.file,
    }
    return subprocess.Popen(
        [
            *(sys.executable, "-m", "kneepoint.workflow.experiment", name),
            *(f"--{option}={value}" for option, value in options.items()),
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def test_killed_workflow_leaves_nothing_of_its_runs(
    workflow: Workflow, settings: MahimahiSettings
) -> None:
    """The last test of this file, because it kills the shared workflow."""
    jobs = [start_driver(workflow, settings)]
    folders = [settings.folder]
    for name in ("real_showcase", "probe"):
        folders.append(settings.folder / name)
        jobs.append(start_job(workflow, folders[-1], name))
    runs = [observe(folder) for folder in folders]
    end(workflow.owner)
    for run in runs:
        nothing_is_left(run, MARGIN_S)
    assert [job.wait(PATIENCE_S) for job in jobs] == [2, 2, 2]
