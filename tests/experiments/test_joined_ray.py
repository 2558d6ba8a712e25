"""An existing Ray: files reach its nodes, nodes may die, and different nodes are refused."""

import errno
import os
import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.common.files import sha256_of
from kneepoint.engines.base import RunRecord, RunSpec
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.runs.cluster import Cluster, find_cluster, start_cluster
from kneepoint.runs.executor import LocalExecutor
from kneepoint.runs.load import load_workflow
from kneepoint.runs.ray_executor import RayExecutor, join
from kneepoint.runs.ray_node import run_here
from tests.conftest import ROOT
from tests.experiments.fakes import built_spec, network
from tests.ray_node import Nodes

pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Study:
    """An emulator with runs, in a folder that no worker reads."""

    settings: EmulatorSettings
    specs: list[RunSpec]

    def records(self) -> dict[str, RunRecord]:
        """The records of the runs in sequence on this machine."""
        return by_id(list(LocalExecutor(self.settings).execute(self.specs)))


def by_id(answers: list[list[RunRecord]]) -> dict[str, RunRecord]:
    return {record.run_id: record for some in answers for record in some}


@pytest.fixture
def study(tmp_path: Path) -> Study:
    if not (ROOT / "build/emulate").exists():
        pytest.skip("NOT TESTED: build/emulate is missing; run `make build`")
    (tmp_path / "build").mkdir()
    shutil.copy(ROOT / "build/emulate", tmp_path / "build")
    shutil.copytree(ROOT / "build/controllers", tmp_path / "build/controllers")
    trace = "\n".join(str(4 * i) for i in range(1, 500)) + "\n"
    (tmp_path / "up.trace").write_text(trace)
    link = {"trace": "up.trace", "trace_sha256": sha256_of(trace.encode())}
    place = network("steady", uplink=link, downlink=link, duration_s=2)
    settings = EmulatorSettings.of(tmp_path / "build/emulate")
    settings = EmulatorSettings(settings.sha256, settings.binary, tmp_path)
    specs = [
        built_spec(window, seed, engine="emulator", engine_sha256=settings.sha256, network=place)
        for window in range(1, 41)
        for seed in range(10)
    ]
    return Study(settings, specs)


@pytest.fixture
def token(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """Restores Ray's environment variables after the test."""
    kept = {name: value for name, value in os.environ.items() if name.startswith("RAY_")}
    yield monkeypatch
    for name in [name for name in os.environ if name.startswith("RAY_")]:
        del os.environ[name]
    os.environ.update(kept)


def test_node_that_dies_in_mid_study_changes_no_record(
    study: Study, token: pytest.MonkeyPatch
) -> None:
    with Nodes() as nodes:
        nodes.add()
        nodes.add()
        token.setenv("RAY_AUTH_TOKEN_PATH", nodes.environment["RAY_AUTH_TOKEN_PATH"])
        with closing(RayExecutor(join(nodes.address), study.settings)) as executor:
            answers = executor.execute(study.specs)
            got = [next(answers)]
            nodes.kill(2)
            got += answers
            # The remaining nodes continue, and a new node replaces the dead node.
            nodes.add()
            again = list(executor.execute(study.specs[:40]))
    assert by_id(got) == study.records()
    assert len(by_id(again)) == 40
    assert all(record.status == "ok" for record in by_id(got).values())


def test_node_runs_the_code_of_the_workflow_whatever_it_has_at_the_same_path(
    study: Study, token: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "kneepoint"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('an older version')\n")
    token.chdir(tmp_path)
    with Nodes() as nodes:
        token.setenv("RAY_AUTH_TOKEN_PATH", nodes.environment["RAY_AUTH_TOKEN_PATH"])
        with closing(RayExecutor(join(nodes.address), study.settings)) as executor:
            got = list(executor.execute(study.specs[:20]))
    assert len(by_id(got)) == 20


def test_node_that_differs_is_refused_by_name(
    study: Study, token: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    if shutil.which("setarch") is None:
        pytest.skip("NOT TESTED: no setarch (util-linux)")
    with Nodes(before=("setarch", "linux32")) as nodes:
        token.setenv("RAY_AUTH_TOKEN_PATH", nodes.environment["RAY_AUTH_TOKEN_PATH"])
        refusal = r"^node \S+: the architecture is \w+, but \w+ on the machine"
        with (
            closing(RayExecutor(join(nodes.address), study.settings)) as executor,
            pytest.raises(KneepointError, match=refusal),
        ):
            list(executor.execute(study.specs))
        # Clients with another token, or without a token, are refused.
        other = tmp_path / "other"
        other.write_text("f" * 64)
        token.setenv("RAY_AUTH_TOKEN_PATH", str(other))
        with pytest.raises(KneepointError, match=r"refuses the token in .*other; name"):
            join(nodes.address)
        token.setenv("RAY_AUTH_TOKEN_PATH", str(other.with_name("none")))
        with pytest.raises(KneepointError, match="get-auth-token"):
            join(nodes.address)


def test_ray_without_a_token_is_refused(token: pytest.MonkeyPatch) -> None:
    with Nodes(environment={"RAY_AUTH_MODE": "disabled"}) as nodes:
        token.setenv("RAY_AUTH_TOKEN_PATH", nodes.environment["RAY_AUTH_TOKEN_PATH"])
        with pytest.raises(KneepointError, match="RAY_AUTH_MODE=token"):
            join(nodes.address)


def test_full_disk_of_a_node_is_an_error_that_names_it(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(path: Path, _: bytes) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))

    monkeypatch.setattr("kneepoint.runs.ray_node.write_whole", fail)
    monkeypatch.setattr("ray.get", lambda content: content)
    sent = {"emulate": (sha256_of(b"content"), b"content")}
    answer = run_here(study.settings, study.specs[:1], {}, sent)
    assert isinstance(answer, str)
    assert re.match(r"node .*: .*emulate: No space left on device; free some space", answer)


def test_address_that_nobody_answers_is_refused() -> None:
    with pytest.raises(KneepointError, match=r"^ray_address 127.0.0.1:1: nothing answers there"):
        join("127.0.0.1:1")


def test_ray_that_ends_before_a_study_asks_for_it_is_an_error(tmp_path: Path) -> None:
    file = tmp_path / "cluster.json"
    with (
        start_cluster(file, 1, Cluster("127.0.0.1:1", "", is_joined=True)),
        pytest.raises(KneepointError, match=r"^ray_address 127.0.0.1:1: nothing answers there"),
    ):
        find_cluster(file)


def test_address_comes_from_the_configuration_or_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "config.yaml"
    config.write_text("seed: 1\nray_address: head:6379\n")
    assert load_workflow(config).ray_address == "head:6379"
    config.write_text("seed: 1\n")
    assert load_workflow(config).ray_address is None
    monkeypatch.setenv("KNEEPOINT_RAY_ADDRESS", "[::1]:6379")
    assert load_workflow(config).ray_address == "[::1]:6379"
    monkeypatch.setenv("KNEEPOINT_RAY_ADDRESS", "ray://head")
    with pytest.raises(KneepointError, match="KNEEPOINT_RAY_ADDRESS: 'ray://head' is not HOST"):
        _ = load_workflow(config).ray_address
