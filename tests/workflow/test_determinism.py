"""The same results, byte for byte, on any number of cores, killed or not."""

import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.workflow.conftest import STUDIES, Checkout, Finished

pytestmark = pytest.mark.slow

_PATIENCE_S = 600
_ALL_RUNS = 60 * 2 * 2
"""The runs of the study tpe: trials, networks, runs per trial."""


@pytest.fixture(scope="module")
def checkout(finished_workflow: Finished) -> Checkout:
    return finished_workflow.checkout


@pytest.fixture(scope="module")
def reference(finished_workflow: Finished) -> dict[str, bytes]:
    """The results of a workflow on one core."""
    assert len(finished_workflow.results) == 4 * len(STUDIES) + 11
    return finished_workflow.results


@pytest.mark.usefixtures("usual_signals")
def test_interrupted_and_killed_workflow_ends_in_the_same_bytes_on_two_cores(
    checkout: Checkout,
    reference: dict[str, bytes],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    arguments, targets = checkout.configure("two")
    command = ("--cores", "2", *arguments, "--", *targets)
    journal = checkout.folder / "results/two/tpe/runs.jsonl"

    interrupted = checkout.start(*command)
    _wait_for_lines(journal, 10, interrupted)
    interrupted.send_signal(signal.SIGINT)
    output, _ = interrupted.communicate()
    assert interrupted.returncode == -signal.SIGINT
    assert output.splitlines()[-1].startswith("error: interrupted; run the same command again")
    assert "Traceback" not in output and "Error in rule" not in output
    deadline = time.monotonic() + _PATIENCE_S
    while (left := _at_work_in(checkout)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []
    assert list(tmp_path.iterdir()) == []

    before = journal.read_bytes().count(b"\n")
    killed = checkout.start(*command)
    _wait_for_lines(journal, min(before + 10, _ALL_RUNS), killed)
    killed.kill()
    killed.communicate()
    kept = journal.read_bytes()
    (left_behind,) = tmp_path.iterdir()
    checkout.run(*command)
    assert list(tmp_path.iterdir()) == [], left_behind
    assert checkout.results("two") == reference
    content = journal.read_bytes()
    assert content.startswith(kept[: kept.rfind(b"\n") + 1])
    assert len(set(content.splitlines())) == content.count(b"\n")
    assert "Nothing to be done" in checkout.run(*command)


def _at_work_in(checkout: Checkout) -> list[str]:
    """Returns the processes that work in a checkout, including Ray's, which end with a delay."""
    return [path.parent.name for path in Path("/proc").glob("[0-9]*/cwd") if _leads(path, checkout)]


def _leads(link: Path, checkout: Checkout) -> bool:
    try:
        return link.readlink() == checkout.folder
    except OSError:  # it has just ended
        return False


def _wait_for_lines(path: Path, lines: int, process: "subprocess.Popen[str]") -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while process.poll() is None and time.monotonic() < deadline:
        if path.exists() and path.read_bytes().count(b"\n") >= lines:
            return
        time.sleep(0.005)
    pytest.fail("the study never came so far")
