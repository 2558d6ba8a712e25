"""Executors give the same records; the workflow's Ray ends with its workflow, other Rays do not."""

import json
import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil
import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.engines.base import RunRecord, RunSpec
from kneepoint.runs import slots
from kneepoint.runs.cluster import find_cluster, serves_here
from kneepoint.runs.executor import Executor, LocalExecutor
from kneepoint.runs.ray_executor import RayExecutor
from kneepoint.runs.slots import SlotExecutor
from tests.conftest import ROOT
from tests.engines.live_run import wait_until
from tests.experiments.fakes import FakeEngine, FakeSettings, measure, run_spec

pytestmark = pytest.mark.slow

_PATIENCE_S = 300
VITAL = {"gcs_server", "raylet"}

# Like a Snakefile: starts the cluster, and runs until it is killed or everything is done.
OWNER = """
import sys, time
from pathlib import Path
from kneepoint.runs.cluster import start_cluster
lock = start_cluster(Path(sys.argv[1]), 2)
for _ in range(12000):
    if Path(sys.argv[1]).with_name("end").exists():
        break
    time.sleep(0.05)
"""

# Like a study: ends with its workflow.
STUDY = """
import sys, time
from pathlib import Path
from kneepoint.runs.cluster import end_with_cluster
end_with_cluster(Path(sys.argv[1]))
time.sleep(600)
"""


# Like a study with runs on Ray: waits for its long runs.
DRIVER = """
import sys
from pathlib import Path
from kneepoint.runs.cluster import end_with_cluster, find_cluster
from kneepoint.common.errors import run_command_line
from kneepoint.runs.ray_executor import RayExecutor
from tests.experiments.fakes import run_spec
from tests.experiments.test_executor import SleepingSettings
file = Path(sys.argv[1])
def main():
    end_with_cluster(file)
    executor = RayExecutor(find_cluster(file), SleepingSettings())
    file.with_suffix(".attached").touch()
    list(executor.execute([run_spec()]))
run_command_line(main)
"""


@dataclass(frozen=True)
class SleepingSettings(FakeSettings):
    """Engines whose runs outlast the test."""

    def open(self) -> FakeEngine:
        return FakeEngine(_sleep)


def _sleep(spec: RunSpec) -> RunRecord:
    time.sleep(2 * _PATIENCE_S)
    return measure(spec)


@dataclass(frozen=True)
class RefusingSettings(FakeSettings):
    """Engines that cannot run window 13."""

    def open(self) -> FakeEngine:
        return FakeEngine(_refuse_13)


def _refuse_13(spec: RunSpec) -> RunRecord:
    if spec.parameters["window"] == 13:
        raise KneepointError("up.trace: No such file or directory")
    return measure(spec)


@dataclass(frozen=True)
class FailingSettings(FakeSettings):
    """Engines whose controller fails with every third seed."""

    def open(self) -> FakeEngine:
        return FakeEngine(_fail)


def _fail(spec: RunSpec) -> RunRecord:
    return RunRecord(spec.run_id, "failed", "it hangs") if spec.seed == 2 else measure(spec)


@dataclass
class Workflow:
    """A process that owns a cluster."""

    owner: "subprocess.Popen[bytes]"
    file: Path

    def processes(self) -> set[psutil.Process]:
        """The processes of its Ray."""
        return set(psutil.Process(self.owner.pid).children(recursive=True))


def start_workflow(folder: Path) -> Workflow:
    file = folder / "cluster.json"
    owner = subprocess.Popen([sys.executable, "-c", OWNER, file], cwd=ROOT)
    wait_until(file.exists)
    return Workflow(owner, file)


def are_gone(processes: Iterable[psutil.Process]) -> bool:
    return not any(map(is_alive, processes))


def is_alive(process: psutil.Process) -> bool:
    return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)


def end(process: "subprocess.Popen[bytes]") -> None:
    process.kill()
    process.wait()


@pytest.fixture(scope="module")
def workflow(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workflow]:
    started = start_workflow(tmp_path_factory.mktemp("workflow"))
    yield started
    processes = started.processes()
    end(started.owner)
    wait_until(lambda: are_gone(processes))


@pytest.fixture(params=["serial", "slots", "ray"])
def make_executor(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[FakeSettings], Executor]]:
    """Makes each executor from settings."""
    monkeypatch.setattr(slots, "_POLL_S", 0.001)
    with ExitStack() as stack:

        def make(settings: FakeSettings) -> Executor:
            if request.param == "serial":
                made: Executor = LocalExecutor(settings)
            elif request.param == "slots":
                made = SlotExecutor(settings, 2, tmp_path)
            else:
                file = request.getfixturevalue("workflow").file
                made = RayExecutor(find_cluster(file), settings)
            return stack.enter_context(closing(made))

        yield make


SPECS = [run_spec(window, seed) for window in range(1, 30) for seed in range(3)]


def test_executor_runs_everything_once(make_executor: Callable[[FakeSettings], Executor]) -> None:
    executor = make_executor(FakeSettings())
    for specs in (SPECS, SPECS[:1], []):
        records = [record for some in executor.execute(specs) for record in some]
        assert sorted(records, key=lambda r: r.run_id) == sorted(
            map(measure, specs), key=lambda r: r.run_id
        )


def test_executor_hands_over_a_run_that_failed_before_it_begins_another(
    make_executor: Callable[[FakeSettings], Executor],
) -> None:
    executor = make_executor(FailingSettings())
    portions = list(executor.execute(SPECS))
    ids = [record.run_id for portion in portions for record in portion]
    assert sorted(ids) == sorted(spec.run_id for spec in SPECS)
    assert not any(record.status == "failed" for each in portions for record in each[:-1])


def test_executor_passes_an_error_on(make_executor: Callable[[FakeSettings], Executor]) -> None:
    executor = make_executor(RefusingSettings())
    with pytest.raises(KneepointError, match=r"^up.trace: No such file or directory$"):
        list(executor.execute(SPECS))


def test_ray_listens_on_this_machine_only(workflow: Workflow) -> None:
    cluster = find_cluster(workflow.file)
    assert cluster.address.startswith("127.0.0.1:")
    listening = []
    for process in workflow.processes():
        with suppress(psutil.NoSuchProcess):  # Ray has ended it meanwhile
            found = process.net_connections()
            listening += [each.laddr.ip for each in found if each.status == psutil.CONN_LISTEN]
    assert len(listening) > 1
    assert all(address.endswith("127.0.0.1") for address in listening)


def test_ray_is_for_those_who_can_read_the_token(workflow: Workflow) -> None:
    token = Path(find_cluster(workflow.file).token)
    assert token.stat().st_mode & 0o777 == 0o600
    assert len(token.read_text()) >= 32
    processes = workflow.processes()
    vital = [each for each in processes if each.name() in VITAL]
    assert {each.name() for each in vital} == VITAL
    secret = token.read_text()
    assert secret not in workflow.file.read_text()
    assert not any(secret in str([each.cmdline(), each.environ()]) for each in processes)
    # Ray refuses clients without the token.
    assert all(each.environ()["RAY_AUTH_MODE"] == "token" for each in vital)


@pytest.mark.parametrize("program", sorted(VITAL))
def test_ray_that_dies_ends_its_studies_with_one_line(program: str, tmp_path: Path) -> None:
    dying = start_workflow(tmp_path)
    address = find_cluster(dying.file).address
    study = subprocess.Popen(
        [sys.executable, "-c", DRIVER, dying.file], cwd=ROOT, stderr=subprocess.PIPE, text=True
    )
    wait_until((tmp_path / "cluster.attached").exists)
    processes = dying.processes()
    (vital,) = (each for each in processes if each.name() == program)
    vital.kill()
    _, said = study.communicate()
    line = f"error: Ray at {address} ended; run the command again: finished runs are kept"
    # Ray's own library may notice the server's death first, when it submits a task.
    ours = [
        each for each in said.splitlines() if not re.match(r"\[[\d-]+ .*\] \w+\.cc:\d+: ", each)
    ]
    assert ours == [line] and said.endswith(line + "\n")
    assert study.returncode == 2
    with pytest.raises(KneepointError, match=r"Ray at .* ended"):
        find_cluster(dying.file)
    wait_until(lambda: are_gone(processes))
    end(dying.owner)


def test_killed_workflow_ends_its_own_ray_and_studies_but_no_other(
    workflow: Workflow, tmp_path: Path
) -> None:
    other = start_workflow(tmp_path)
    find_cluster(other.file)
    study = subprocess.Popen([sys.executable, "-c", STUDY, other.file], cwd=ROOT)
    processes = other.processes()
    assert {each.name() for each in processes} >= VITAL
    end(other.owner)
    wait_until(lambda: are_gone(processes))
    wait_until(lambda: study.poll() is not None)
    executor = RayExecutor(find_cluster(workflow.file), FakeSettings())
    assert [r for some in executor.execute(SPECS[:2]) for r in some]
    executor.close()


def test_workflow_that_ends_leaves_no_process_of_ray_and_no_folder(tmp_path: Path) -> None:
    ending = start_workflow(tmp_path)
    find_cluster(ending.file)
    processes = ending.processes()
    (raylet,) = (each for each in processes if each.name() == "raylet")
    (folder,) = re.findall(r"(/tmp/kneepoint\.ray\.\w+)/ray", raylet.cmdline()[1])
    (tmp_path / "end").touch()
    assert ending.owner.wait(_PATIENCE_S) == 0
    wait_until(lambda: are_gone(processes))
    assert not Path(folder).exists()


def test_cluster_that_nobody_asks_for_starts_no_ray_and_says_when_it_has_ended(
    tmp_path: Path,
) -> None:
    idle = start_workflow(tmp_path)
    assert "cluster" not in json.loads(idle.file.read_bytes())
    assert serves_here(idle.file)
    assert not idle.processes()
    end(idle.owner)
    with pytest.raises(KneepointError, match="the workflow has ended"):
        find_cluster(idle.file)
    study = subprocess.Popen([sys.executable, "-c", STUDY, idle.file], cwd=ROOT)
    assert study.wait(_PATIENCE_S) != 0
    assert serves_here(idle.file)
    idle.file.write_text(json.dumps({"host": "elsewhere"}))
    assert not serves_here(idle.file)
