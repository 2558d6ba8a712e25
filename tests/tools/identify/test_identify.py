"""`kneepoint identify`: its output for senders and logs, and its errors."""

import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.experiments.wire import prepare_named, write
from tests.kneepoint.conftest import NETWORK, answer, ask, refused


@pytest.fixture(autouse=True, scope="module")
def other(workspace: Path) -> None:
    """Prepares a network on which no sender has run."""
    write(workspace / "config/networks/other.yaml", {**NETWORK, "uplink": {"constant_mbps": 3}})
    prepare_named(workspace, "other", workspace / ".kneepoint/networks/other")


@pytest.mark.slow
def test_a_sender_is_identified_and_predicted(workspace: Path) -> None:
    words = ("identify", "fixed_window:window=7", "--network", "wire", "--unseen", "other")
    found = answer(workspace, *words, "--runs", "2")
    assert found["behaves_like"].startswith("fixed_window with window 7 packets")
    assert len(found["families"]) == 11
    assert found["prediction"].keys() == {"other", "all"}
    assert found["prediction"]["all"]["ratio"] == 1


@pytest.mark.slow
def test_logs_are_identified(workspace: Path) -> None:
    log = workspace / "own.log"
    run = ["--network", "wire", "--controller", "rule", "--flow-log", str(log)]
    subprocess.run(
        [str(ROOT / "build/emulate"), *run], cwd=workspace, check=True, capture_output=True
    )
    (workspace / "own.txt").write_text("w = w + 1\n")
    result = ask(workspace, "identify", "own.log", "--rules", "own.txt")
    assert result.stdout.startswith("behaves like fixed_window with window 20 packets")
    assert "predicted" not in result.stdout and "w = w + " in result.stdout


def test_what_is_no_sender_is_refused(workspace: Path) -> None:
    assert "one.log" in refused(workspace, "identify", "one.log")
    wire = ("--network", "wire", "--unseen", "other")
    links = ("--network", "wire", "--unseen")
    assert "'fixed_windw'" in refused(workspace, "identify", "fixed_windw", *wire)
    assert "--unseen wire: " in refused(workspace, "identify", "fixed_window", *links, "wire")
    assert "'wirre'" in refused(workspace, "identify", "fixed_window", *links, "wirre")
    assert "a b: give one sender" in refused(workspace, "identify", "a", "b")
