"""The command line of the emulator: one run, a batch, and what it refuses."""

import hashlib
import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.controllers.emulator import EMULATE, Link, emulate


def _run(*words: str, given: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(EMULATE), *words], input=given, capture_output=True, text=True)


def _line(link: Link, *options: str) -> str:
    words = ["--controller", "fixed_window", "--uplink", str(link.uplink)]
    return " ".join([*words, "--downlink", str(link.downlink), *options])


def test_batch_answers_each_line_as_a_run_of_its_own(small_link: Link) -> None:
    lines = [_line(small_link, "--set", f"window={w}", "--seed", str(w)) for w in (3, 30, 3)]
    answers = _run("--batch", given="".join(f"{line}\n" for line in lines)).stdout.splitlines()
    alone = [
        emulate(small_link, "fixed_window", {"window": w}, "--seed", str(w)) for w in (3, 30, 3)
    ]
    assert [json.loads(answer) for answer in answers] == alone


def test_batch_survives_a_bad_line(small_link: Link) -> None:
    good = _line(small_link)
    answers = _run("--batch", given=f"{good}\n--controler x\n\n{good}\n").stdout.splitlines()
    status = [json.loads(answer)["status"] for answer in answers]
    assert status == ["ok", "error", "error", "ok"]
    assert "unknown option '--controler'" in json.loads(answers[1])["reason"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--set", "window=0"], "window = 0 is outside"),
        (["--set", "windwo=3"], "fixed_window has no parameter windwo"),
        (["--host-model", "fast"], "host model fast: it is unknown"),
        (["--network", "nowhere"], "--network 'nowhere' is not prepared; in the repository: snake"),
        (["--network", "nowhere/network.json"], "nowhere/network.json cannot be read"),
        (["--uplink-log", "/no/such/folder/log"], "cannot write /no/such/folder/log"),
    ],
)
def test_bad_arguments_exit_with_2_and_one_line(
    small_link: Link, options: list[str], message: str
) -> None:
    result = _run(*_line(small_link).split(), *options)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("error: ") and result.stderr.count("\n") == 1
    assert message in result.stderr


def test_a_pipe_is_no_trace(small_link: Link, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    result = _run(*_line(Link(pipe, small_link.downlink)).split())
    assert result.returncode == 2
    refusal = f"trace {pipe} is not a regular file; copy its content into one"
    assert result.stderr == f"error: {refusal}\n"


def test_a_trace_of_another_digest_is_refused(small_link: Link) -> None:
    content = small_link.uplink.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    words = [*_line(small_link).split(), "--uplink-sha256", digest]
    assert _run(*words).returncode == 0
    small_link.uplink.write_bytes(content[:-5])
    result = _run(*words)
    assert (result.returncode, result.stdout) == (2, "")
    assert str(small_link.uplink) in result.stderr
    for each in (digest, hashlib.sha256(content[:-5]).hexdigest(), "run the workflow again"):
        assert each in result.stderr


def test_memory_that_runs_out_is_no_failure_of_the_controller(small_link: Link) -> None:
    line = _line(small_link, "--duration-s", "86400")
    batch = f"ulimit -v 100000; echo '{line}' | '{EMULATE}' --batch"
    answer = subprocess.run(["sh", "-c", batch], capture_output=True, text=True)
    assert json.loads(answer.stdout)["status"] == "fault"
    assert json.loads(answer.stdout)["reason"].startswith("out of memory; ")
    single = f"ulimit -v 100000; '{EMULATE}' {line}"
    result = subprocess.run(["sh", "-c", single], capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("error: out of memory; ")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("2\n1\n", "line 2: 1 ms follows 2 ms"),
        (None, "cannot be read"),
    ],
)
def test_bad_traces_are_refused(
    small_link: Link, tmp_path: Path, content: str | None, message: str
) -> None:
    bad = tmp_path / "bad.trace"
    if content is not None:
        bad.write_text(content)
    result = _run(*_line(Link(bad, small_link.downlink)).split())
    assert result.returncode == 2
    assert str(bad) in result.stderr and message in result.stderr


def test_a_controller_that_delivers_nothing_fails_with_its_reason(tmp_path: Path) -> None:
    trace = tmp_path / "late.trace"
    trace.write_text("10\n")
    result = _run(*_line(Link(trace, trace)).split())
    assert result.returncode == 3
    assert json.loads(result.stdout) == {"status": "failed", "reason": "no datagram was delivered"}


def test_repeats_until_the_duration(small_link: Link) -> None:
    once = emulate(small_link, "fixed_window", {"window": 10})
    longer = emulate(small_link, "fixed_window", {"window": 10}, "--duration-s", "6")
    assert longer["packets_delivered"] == pytest.approx(2 * once["packets_delivered"], rel=0.1)
