"""What a supervisor makes of a run without a result; a script takes the shells' place."""

import sys
from collections.abc import Iterator
from dataclasses import asdict

import pytest

from engines.mahimahi.diagnosis import ordinary_user
from engines.mahimahi.run_folder import RunFolder
from engines.mahimahi.supervisor import Request
from engines.supervision import SupervisedRuns
from tests.conftest import ROOT

SILENCE = '{"status": "failed", "reason": "silence", "packets_sent": 3, "acknowledgments": 0}'
BURST = '{"status": "failed", "reason": "burst", "packets_sent": 3, "acknowledgments": 2}'
AFTERMATH = "mm-delay: process exited with failure status 1"
COMPLAINT = "Died on std::runtime_error: up.trace: not sorted"


@pytest.fixture
def folder() -> Iterator[RunFolder]:
    made = RunFolder.make("kneepoint-test-", ordinary_user())
    yield made
    made.remove()


def answer_to(
    folder: RunFolder, said: str, sender_said: str = "", complaint: str = "", is_entry: bool = False
) -> tuple[str, str]:
    """Returns status and reason of a run with these last words."""
    script = (
        f"echo '{said}' > sender.out; echo '{sender_said}' > sender.err\n"
        f"echo '{complaint}'; echo '{AFTERMATH}'; exit 1\n"
    )
    program = folder.add("shells", f"#!/bin/sh\n{script}".encode(), 0o755)
    receiver = folder.add("receiver", (ROOT / "build/receiver").read_bytes(), 0o755)
    request = Request(
        folder=str(folder.path),
        sender="sender",
        receiver=str(receiver),
        measure="measure",
        keep_awake="keep_awake",
        keeps_awake=False,
        shells=[str(program)],
        sending=[],
        expected_s=1,
        log_end_s=1,
        time_limit_s=20,
        user=ordinary_user(),
        status=None,
        keep_log=None,
        is_entry=is_entry,
    )
    command = [sys.executable, "-m", "engines.mahimahi.supervisor"]
    answer = SupervisedRuns().carry_out(command, asdict(request), 60, folder=ROOT)
    return answer["status"], answer["reason"]


def test_silence_is_the_machines_fault(folder: RunFolder) -> None:
    assert answer_to(folder, SILENCE) == ("fault", "silence")


def test_shell_that_failed_is_why_nothing_was_heard(folder: RunFolder) -> None:
    """The sender may still have the time to say what it saw."""
    found = answer_to(folder, SILENCE, complaint=COMPLAINT)
    assert found == ("fault", "mahimahi: up.trace: not sorted")


@pytest.mark.parametrize("complaint", ["", COMPLAINT])
def test_silence_excuses_no_entry(folder: RunFolder, complaint: str) -> None:
    found = answer_to(folder, SILENCE, complaint=complaint, is_entry=True)
    assert found == ("failed", "silence")


def test_controller_that_was_heard_failed(folder: RunFolder) -> None:
    assert answer_to(folder, BURST, complaint=COMPLAINT) == ("failed", "burst")


def test_sender_that_refuses_is_an_error(folder: RunFolder) -> None:
    found = answer_to(folder, "", sender_said="error: no such controller")
    assert found == ("error", "the sender refuses: no such controller")


def test_shell_that_failed_is_quoted_without_the_aftermath(folder: RunFolder) -> None:
    assert answer_to(folder, "", complaint=COMPLAINT) == (
        "fault",
        "mahimahi: up.trace: not sorted",
    )
