"""Ray and real time: runs wait for slots, survive their workers, and leave nothing behind."""

import dataclasses
import json
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml

from networks.config import load_network
from networks.prepare import TraceMaker, prepare_network
from search import executor as executor_module
from search.cluster import find_cluster
from search.engines.base import RunRecord, RunSpec
from search.engines.mahimahi.engine import MahimahiSettings
from search.errors import KneepointError
from search.executor import RayExecutor
from search.slots import probe_file
from tests.conftest import ROOT
from tests.search.fakes import FakeEngine, FakeSettings, measure, network, run_spec
from tests.search.live_run import (
    PATIENCE_S,
    nothing_is_left,
    observe,
    parent_of,
    wait_until,
)
from tests.search.real import real_engine, write_traces
from tests.search.test_executor import Workflow, end, is_gone

pytestmark = pytest.mark.real_time

START_S = 300
"""What Ray's start may take on a busy machine."""
MARGIN_S = 30
SLOTS = 2

# What a Snakefile does, for one core; the slots are those that the host's probe found.
OWNER = """
import sys, time
from pathlib import Path
from search.cluster import start_cluster
results = Path(sys.argv[1])
start_cluster(results / "cluster.json", 1, results, results / "cluster.log")
time.sleep(600)
"""

# What a study does.
DRIVER = """
import pickle, sys
from pathlib import Path
from search.cluster import end_with_cluster, find_cluster
from search.executor import RayExecutor
end_with_cluster(Path(sys.argv[1]))
settings, specs = pickle.load(sys.stdin.buffer)
list(RayExecutor(find_cluster(Path(sys.argv[1])), settings).execute(specs))
"""


@dataclass(frozen=True)
class SlowSettings(FakeSettings):
    """Runs that note when they began and ended; the first waits for the second.

    They take 2 s, time enough for Ray to begin others.
    """

    folder: str = ""
    is_real_time: bool = True

    def open(self) -> FakeEngine:
        return FakeEngine(self._run)

    def _run(self, spec: RunSpec) -> RunRecord:
        folder, begin = Path(self.folder), time.monotonic()
        (folder / f"{spec.run_id}.began").touch()
        wait_until(lambda: len(list(folder.glob("*.began"))) >= 2, START_S)
        time.sleep(2)
        (folder / f"{spec.run_id}.json").write_text(json.dumps([begin, time.monotonic()]))
        return measure(spec)


@dataclass(frozen=True)
class RefusingSettings(FakeSettings):
    """Real-time engines that refuse every run."""

    is_real_time: bool = True

    def open(self) -> FakeEngine:
        return FakeEngine(_refuse)


def _refuse(_: RunSpec) -> RunRecord:
    raise KneepointError("sender: was rebuilt during the study; start it again")


@pytest.fixture(scope="module")
def workflow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workflow]:
    results = tmp_path_factory.mktemp("results")
    probe_file(results).parent.mkdir()
    probe_file(results).write_text(json.dumps({"slots": SLOTS}))
    owner = subprocess.Popen([sys.executable, "-c", OWNER, results], cwd=ROOT)
    file = results / "cluster.json"
    wait_until(file.exists, START_S)
    started = Workflow(owner, file)
    pid = started.cluster_pid
    yield started
    end(owner)
    wait_until(lambda: is_gone(pid))


@pytest.fixture
def settings(tmp_path: Path) -> MahimahiSettings:
    return dataclasses.replace(real_engine(), folder=tmp_path)


def spec_for(settings: MahimahiSettings, duration_s: float) -> RunSpec:
    trace = "".join(f"{time_ms}\n" for time_ms in range(2, 1001, 2))
    link = network("wire", duration_s=duration_s, **write_traces(settings.folder, trace))
    return run_spec(12, engine="mahimahi", engine_sha256=settings.sha256, network=link)


def test_real_time_runs_wait_for_slots_and_say_that_they_do(
    workflow: Workflow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(executor_module, "_TICK_S", 0.05)
    executor = RayExecutor(find_cluster(workflow.file), SlowSettings(folder=str(tmp_path)))
    specs = [run_spec(seed=seed) for seed in range(4)]
    answers = list(executor.execute(specs))
    executor.close()
    assert sorted(
        (record for some in answers for record in some), key=lambda record: record.run_id
    ) == sorted(map(measure, specs), key=lambda record: record.run_id)
    assert [] in answers
    spans = [json.loads(path.read_text()) for path in tmp_path.glob("*.json")]
    at_once = [sum(begin <= moment < end for begin, end in spans) for moment, _ in spans]
    assert max(at_once) == SLOTS


def test_error_in_real_time_is_passed_on(workflow: Workflow) -> None:
    executor = RayExecutor(find_cluster(workflow.file), RefusingSettings())
    with pytest.raises(KneepointError, match=r"^sender: was rebuilt during the study; start it"):
        list(executor.execute([run_spec(seed=seed) for seed in range(3)]))
    executor.close()


def test_run_whose_worker_is_killed_is_run_again(
    workflow: Workflow, settings: MahimahiSettings
) -> None:
    executor = RayExecutor(find_cluster(workflow.file), settings)
    spec = spec_for(settings, 3)
    with ThreadPoolExecutor(1) as pool:
        answers = pool.submit(list, executor.execute([spec]))
        killed = observe(settings.folder)
        os.kill(parent_of(killed.supervisor), signal.SIGKILL)
        again = observe(settings.folder, other_than=killed)
        records = [record for some in answers.result(START_S) for record in some]
    executor.close()
    assert [(record.run_id, record.status) for record in records] == [(spec.run_id, "ok")]
    assert again.supervisor != killed.supervisor
    nothing_is_left(killed, MARGIN_S)
    nothing_is_left(again, MARGIN_S)


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
    run = observe(settings.folder, with_status=True)
    end(driver)
    nothing_is_left(run, MARGIN_S)


def start_job(workflow: Workflow, folder: Path, module: str) -> "subprocess.Popen[bytes]":
    """Starts what a rule starts, in a folder of its own, on a network of 100 s."""
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
    for name, content in files.items():
        (config.parent / name).parent.mkdir(parents=True, exist_ok=True)
        (config.parent / name).write_text(yaml.safe_dump(content))
    network, where = load_network(config, "wire"), config.parent / "networks/wire.yaml"
    prepare_network("wire", network, where, folder / "networks/wire", TraceMaker(folder, folder))
    options = {
        "config": config,
        "networks": folder / "networks",
        "out-dir": folder / "out",
        "build": ROOT / "build",
        "cluster": workflow.file,
    }
    return subprocess.Popen(
        [
            *(sys.executable, "-m", module),
            *(f"--{name}={value}" for name, value in options.items()),
            *(["--engine=mahimahi"] if module == "search.showcase" else []),
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )


def test_killed_workflow_leaves_nothing_of_its_runs(
    workflow: Workflow, settings: MahimahiSettings
) -> None:
    """The last test of this file: nobody has its Ray afterwards."""
    jobs = [start_driver(workflow, settings)]
    folders = [settings.folder]
    for module in ("search.showcase", "search.probe"):
        folders.append(settings.folder / module)
        jobs.append(start_job(workflow, folders[-1], module))
    runs = [observe(folder, with_status=True) for folder in folders]
    cluster = workflow.cluster_pid
    end(workflow.owner)
    for run in runs:
        nothing_is_left(run, MARGIN_S)
    wait_until(lambda: is_gone(cluster))
    assert [job.wait(PATIENCE_S) for job in jobs] == [2, 2, 2]
