"""The same results, byte for byte, on any number of cores, killed or not."""

import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.workflow.conftest import STUDIES, Checkout, Finished

pytestmark = pytest.mark.slow

_PATIENCE_S = 600


@pytest.fixture(scope="module")
def checkout(finished_workflow: Finished) -> Checkout:
    return finished_workflow.checkout


@pytest.fixture(scope="module")
def reference(finished_workflow: Finished) -> dict[str, bytes]:
    """The results of a workflow on one core."""
    assert len(finished_workflow.results) == 4 * len(STUDIES) + 11
    return finished_workflow.results


def test_results_are_the_same_on_two_cores(checkout: Checkout, reference: dict[str, bytes]) -> None:
    arguments, targets = checkout.configure("two")
    checkout.run("--cores", "2", *arguments, "--", *targets)
    two = checkout.results("two")
    assert sorted(two) == sorted(reference)
    assert [path for path in two if two[path] != reference[path]] == []
    said = checkout.run("--cores", "2", *arguments, "--", *targets)
    assert "Nothing to be done" in said


def test_killed_workflow_goes_on_where_it_was(
    checkout: Checkout, reference: dict[str, bytes]
) -> None:
    arguments, targets = checkout.configure("killed")
    journal = checkout.folder / "results" / "killed" / "tpe" / "runs.jsonl"
    killed = checkout.start("--cores", "2", *arguments, "--", *targets)
    _wait_for_lines(journal, 10, killed)
    killed.kill()
    killed.communicate()
    kept = journal.read_bytes()
    checkout.run("--cores", "2", *arguments, "--", *targets)
    assert checkout.results("killed") == reference
    content = journal.read_bytes()
    assert content.startswith(kept[: kept.rfind(b"\n") + 1])
    assert len(set(content.splitlines())) == content.count(b"\n")


@pytest.mark.usefixtures("usual_signals")
def test_interrupted_workflow_leaves_nothing_and_says_one_line(checkout: Checkout) -> None:
    arguments, targets = checkout.configure("interrupted")
    interrupted = checkout.start("--cores", "2", *arguments, "--", *targets)
    _wait_for_lines(checkout.folder / "results/interrupted/tpe/runs.jsonl", 10, interrupted)
    interrupted.send_signal(signal.SIGINT)
    said, _ = interrupted.communicate()
    assert interrupted.returncode == -signal.SIGINT
    assert said.endswith(
        "\nerror: interrupted; run the same command again: finished runs are kept\n"
    )
    assert "Traceback" not in said and "Error in rule" not in said
    deadline = time.monotonic() + _PATIENCE_S
    while (left := _at_work_in(checkout)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert left == []


def _at_work_in(checkout: Checkout) -> list[str]:
    """The processes that work in a checkout, Ray's among them, which takes a moment to end."""
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
