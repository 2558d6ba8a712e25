"""A supervisor's answer to a run without a result; a script stands in for the shells."""

from collections.abc import Iterator
from dataclasses import asdict

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.engines.base import MachineFaultError
from kneepoint.engines.mahimahi import supervisor
from kneepoint.engines.mahimahi.diagnosis import ordinary_user
from kneepoint.engines.mahimahi.engine import MahimahiSettings
from kneepoint.engines.mahimahi.run_folder import RunFolder, run_folder
from kneepoint.engines.mahimahi.supervisor import Request
from tests.conftest import ROOT

SILENCE = '{"status": "failed", "reason": "silence", "packets_sent": 3, "acknowledgments": 0}'
BURST = '{"status": "failed", "reason": "burst", "packets_sent": 3, "acknowledgments": 2}'
AFTERMATH = "mm-delay: process exited with failure status 1"
COMPLAINT = "Died on std::runtime_error: up.trace: not sorted"


@pytest.fixture
def folder() -> Iterator[RunFolder]:
    with run_folder("test", ordinary_user()) as made:
        yield made


def answer_to(
    folder: RunFolder, said: str, sender_said: str, complaint: str, is_entry: bool
) -> tuple[str, str]:
    """Returns status and reason of a run with these last words."""
    script = (
        f"echo '{said}' > sender.out; echo '{sender_said}' > sender.err\n"
        f"echo '{complaint}'; echo '{AFTERMATH}'; exit 1\n"
    )
    program = folder.add("shells", f"#!/bin/sh\n{script}".encode(), 0o755)
    folder.add("receiver", (ROOT / "build/receiver").read_bytes(), 0o755)
    folder.add("measure", b"""#!/bin/sh\necho '{"end_ms": 1000}'\n""", 0o755)
    request = Request(
        folder=str(folder.path),
        keeps_awake=False,
        shells=[str(program)],
        sending=[],
        expected_s=1,
        log_end_s=1,
        keep_log=None,
        is_entry=is_entry,
    )
    engine = MahimahiSettings("f" * 64, ROOT / "build", ROOT).open()
    try:
        answer = engine.supervise(supervisor.__name__, asdict(request), 1, where="a run")
    except MachineFaultError as fault:
        return "fault", str(fault)
    except KneepointError as error:
        return "error", str(error)
    return answer["status"], answer["reason"]


@pytest.mark.parametrize(
    ("said", "sender_said", "complaint", "is_entry", "answer"),
    [
        (SILENCE, "", "", False, ("fault", "silence")),
        # The sender in a failed shell may still print its report.
        (SILENCE, "", COMPLAINT, False, ("fault", "mahimahi: up.trace: not sorted")),
        (SILENCE, "", "", True, ("failed", "silence")),
        (SILENCE, "", COMPLAINT, True, ("failed", "silence")),
        (BURST, "", COMPLAINT, False, ("failed", "burst")),
        (
            "",
            "error: no such name",
            "",
            False,
            ("error", "a run: the sender refuses: no such name"),
        ),
        ("", "", COMPLAINT, False, ("fault", "mahimahi: up.trace: not sorted")),
    ],
)
def test_end_without_a_result_has_a_culprit(
    folder: RunFolder,
    said: str,
    sender_said: str,
    complaint: str,
    is_entry: bool,
    answer: tuple[str, str],
) -> None:
    assert answer_to(folder, said, sender_said, complaint, is_entry) == answer
