"""The smaller programs on their command lines: check_trace, measure, synthesize."""

import subprocess
from pathlib import Path

import pytest

from tests.conftest import ROOT

BUILD = ROOT / "build"
SYNTHESIZE = {
    "--seed": "1",
    "--duration-s": "10",
    "--start-rate-mbps": "5",
    "--max-rate-mbps": "10",
}


def run(program: str, *words: str, given: bytes = b"") -> "subprocess.CompletedProcess[str]":
    assert (BUILD / program).exists(), f"build/{program} is missing: run `make build`"
    result = subprocess.run(
        [BUILD / program, *words], input=given, capture_output=True, check=False
    )
    return subprocess.CompletedProcess(
        result.args, result.returncode, result.stdout.decode(), result.stderr.decode()
    )


def synthesize(**changes: str) -> "subprocess.CompletedProcess[str]":
    options = SYNTHESIZE | {f"--{name.replace('_', '-')}": text for name, text in changes.items()}
    return run("synthesize", *(word for option in options.items() for word in option))


def expect_refused(result: "subprocess.CompletedProcess[str]", message: str) -> None:
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ") and result.stderr.count("\n") == 1
    assert message in result.stderr


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"duration_s": "0"}, "--duration-s 0 is outside [0.001, 86400]"),
        ({"duration_s": "1e300"}, "--duration-s 1e300 is outside"),
        ({"duration_s": "nan"}, "'nan' is not a number"),
        ({"seed": "-1"}, "is not a whole number"),
        ({"max_rate_mbps": "1e7"}, "--max-rate-mbps 1e7 is outside"),
        ({"start_rate_mbps": "-5"}, "--start-rate-mbps -5 is outside"),
        ({"sigma_packets_per_s": "-1"}, "--sigma-packets-per-s -1 is outside"),
        ({"outage_escape_per_s": "1e-300"}, "--outage-escape-per-s 1e-300 is outside"),
        ({"max_rate_mbps": "1e6"}, "--max-rate-mbps 1e+06 is too much for so long"),
        (
            {"max_rate_mbps": "2000", "duration_s": "3600"},
            "--max-rate-mbps 2000 is too much for so long: shorten --duration-s to 54.144",
        ),
    ],
)
def test_synthesize_refuses_what_is_no_link(changes: dict[str, str], message: str) -> None:
    expect_refused(synthesize(**changes), message)


def test_what_synthesize_makes_is_a_trace() -> None:
    for changes in ({}, {"sigma_packets_per_s": "0"}, {"duration_s": "0.001"}):
        made = synthesize(**changes)
        assert (made.returncode, made.stderr) == (0, "")
        checked = run("check_trace", "made", given=made.stdout.encode())
        assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


def test_check_trace_names_what_is_wrong() -> None:
    expect_refused(
        run("check_trace", "t", given=b"2\n-0\n"), "trace t, line 2: '-0' is not a whole"
    )
    expect_refused(run("check_trace"), "check_trace --help")


def test_check_trace_does_not_read_for_ever() -> None:
    with Path("/dev/zero").open("rb") as endless:
        result = subprocess.run(
            [BUILD / "check_trace", "t"], stdin=endless, capture_output=True, text=True, check=False
        )
    expect_refused(result, "trace t has more than 160000000 bytes; cut it")


def test_measure_names_file_line_and_remedy(tmp_path: Path) -> None:
    log = tmp_path / "up.log"
    log.write_text("9 + 1504\n10 - 1504 1\n5 # 1504\n")
    expect_refused(
        run("measure", str(log)),
        f"log {log}, line 3: is earlier than an event before it; is it a whole log of mahimahi?",
    )
    expect_refused(run("measure", "/dev/zero"), "log /dev/zero is not a regular file")
