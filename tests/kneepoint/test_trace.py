"""The command `kneepoint trace`."""

import hashlib
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kneepoint.networks.traces import format_trace
from tests.conftest import ROOT
from tests.programs import run_kneepoint

TIMES_MS = list(range(1, 3001))


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """A trace of three seconds, with a packet per millisecond."""
    assert (ROOT / "build/check_trace").exists(), "build/check_trace is missing: run `make build`"
    path = tmp_path / "mine.down"
    path.write_bytes(format_trace(TIMES_MS))
    return path


def ask(*words: str | Path) -> "subprocess.CompletedProcess[str]":
    return run_kneepoint("trace", *words, cwd=ROOT)


def answer(*words: str | Path) -> Any:
    result = ask(*words, "--json")
    assert (result.returncode, result.stderr) == (0, "")
    return json.loads(result.stdout)


def test_check_describes_each_trace(trace: Path) -> None:
    (found,) = answer("check", trace)
    assert found["mean_mbps"] == pytest.approx(12.032)
    assert found["sha256"] == hashlib.sha256(trace.read_bytes()).hexdigest()
    assert (found["opportunities"], found["duration_s"], found["outages"]) == (3000, 3, [])


def test_check_names_the_line_of_what_is_no_trace(trace: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad"
    bad.write_text("5\n4\n")
    result = ask("check", trace, bad, "--json")
    assert result.returncode == 1
    good, found = json.loads(result.stdout)
    assert good["problem"] is None
    assert "line 2: 4 ms follows 5 ms" in found["problem"]
    assert "not a trace: trace" in ask("check", bad).stdout


def test_a_cut_keeps_what_a_network_would(trace: Path, tmp_path: Path) -> None:
    found = answer("cut", trace, "--from-s", "1", "--to-s", "2.5", "--into", tmp_path / "part")
    assert (tmp_path / "part").read_bytes() == format_trace(list(range(1, 1501)))
    assert found["traces_yaml"] == f"part: {{sha256: {found['sha256']}}}"


def test_a_converted_log_is_the_trace_that_it_logged(trace: Path, tmp_path: Path) -> None:
    rows = "".join(f"{time_ms},1\n" for time_ms in [0, *TIMES_MS])
    (tmp_path / "log.csv").write_text(f"at,n\n{rows}")
    words = ["--time", "at", "--unit", "ms", "--packets", "n", "--into", f"{tmp_path}/again"]
    assert answer("convert", tmp_path / "log.csv", *words)["opportunities"] == 3001
    assert (tmp_path / "again").read_bytes() == b"0\n" + trace.read_bytes()


def test_plot_draws_each_trace(trace: Path, tmp_path: Path) -> None:
    path = tmp_path / "out.svg"
    (tmp_path / "two").write_bytes(format_trace([1, 2000]))
    found = answer("plot", trace, tmp_path / "two", "--bin-s", "1", "--into", path)
    of_first, of_second = (each["capacity_mbps"] for each in found["traces"])
    assert of_first == pytest.approx([12.032] * 3)
    assert of_second == pytest.approx([0.012032] * 2)
    assert path.read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["check", "{folder}/absent"], "absent: No such file or directory; check the path"),
        (["cut", "{trace}", "--to-s", "9", "--into", "{folder}/x"], "9 s, is beyond the end"),
        (
            ["cut", "{trace}", "--from-s", "2", "--to-s", "1", "--into", "{folder}/x"],
            "trace cut, from 2 to 1: end_s 1 must be greater than start_s 2; correct it",
        ),
        (["cut", "{trace}", "--to-s", "nan", "--into", "{folder}/x"], "--to-s"),
        (["cut", "/dev/null", "--to-s", "1", "--into", "{folder}/x"], "/dev/null: not a file"),
        (["cut", "{trace}", "--to-s", "1", "--into", "/proc/x.down"], "/proc/x.down: "),
        (["plot", "{trace}", "--into", "/proc/x.svg"], "/proc/x.svg: "),
        (
            ["cut", "{trace}", "--to-s", "1", "--into", "{trace}"],
            "mine.down: exists already; choose another name",
        ),
        (["check", "{trace}", "--outage-s", "nan"], "--outage-s"),
        (["plot", "{trace}", "--bin-s", "inf", "--into", "{folder}/x.svg"], "--bin-s"),
        (
            ["plot", "{trace}", "--into", "{folder}/x.gif"],
            "x.gif: unknown figure format; use .png",
        ),
        (
            ["convert", "{trace}", "--time", "t", "--into", "{folder}/x"],
            "give exactly one of --bytes, --packets and --rate",
        ),
        (
            ["convert", "{trace}", "--rate", "r", "--into", "{folder}/x"],
            "give exactly one of --time and --every-s",
        ),
    ],
)
def test_a_mistake_is_named(trace: Path, tmp_path: Path, words: list[str], message: str) -> None:
    before = trace.read_bytes()
    result = ask(*(word.format(trace=trace, folder=tmp_path) for word in words))
    assert result.returncode == 2
    assert result.stderr.startswith("error: ")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert trace.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["mine.down"]


@pytest.mark.parametrize(
    ("option", "value"), [("--to-s", "0"), ("--to-s", "1e300"), ("--from-s", "-1")]
)
def test_a_part_that_no_trace_has_is_refused_by_its_option(
    trace: Path, option: str, value: str
) -> None:
    words = {"--to-s": "1", "--into": "x", option: value}
    result = ask("cut", trace, *(word for pair in words.items() for word in pair))
    assert result.returncode == 2
    assert option in result.stderr.splitlines()[-1]


def test_what_is_too_large_can_be_cut(tmp_path: Path) -> None:
    large, micro = tmp_path / "5g.down", tmp_path / "in-us.down"
    large.write_bytes(b"".join(b"%d\n" % ms * 900 for ms in range(11_200)))
    micro.write_text("".join(f"{1_700_000_000_000_000 + 500 * k}\n" for k in range(100)))
    for path in (large, micro):
        (found,) = json.loads(ask("check", path, "--json").stdout)
        assert "cut" in found["problem"]
    cut = answer("cut", large, "--from-s", "1", "--to-s", "2", "--into", tmp_path / "part")
    assert (cut["opportunities"], cut["duration_s"]) == (900_000, 1)
    words = ("--from-s", "1700000000000", "--to-s", "1700000000040", "--into", tmp_path / "us")
    assert answer("cut", micro, *words)["opportunities"] == 80


def test_a_trace_in_microseconds_is_called_improbable(tmp_path: Path) -> None:
    path = tmp_path / "us.down"
    path.write_bytes(format_trace([1000 * ms for ms in range(1, 19_998)]))
    (found,) = answer("check", path)
    assert found["duration_s"] == 19_997 and "improbable" in found["improbable"]
    assert "in ms" in ask("check", path).stdout
    path.write_bytes(format_trace(TIMES_MS))
    (found,) = answer("check", path)
    assert found["improbable"] is None


def test_the_units_of_rates_are_read_and_said(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("t_s,throughput_kbps,dl\n" + "0,533,533\n20,533,533\n")
    words = ("convert", tmp_path / "log.csv", "--time", "t_s", "--unit", "s", "--json")
    named = ask(*words, "--rate", "throughput_kbps", "--into", tmp_path / "a")
    assert json.loads(named.stdout)["mean_mbps"] == pytest.approx(0.533, abs=1e-3)
    assert "kbit/s" in named.stderr
    taken = ask(*words, "--rate", "dl", "--into", tmp_path / "b")
    assert json.loads(taken.stdout)["mean_mbps"] == pytest.approx(533, abs=0.1)
    assert "Mbit/s" in taken.stderr and "--rate-unit" in taken.stderr
    given = answer(*words[:-1], "--rate", "dl", "--rate-unit", "kbit/s", "--into", tmp_path / "c")
    assert given["mean_mbps"] == pytest.approx(0.533, abs=1e-3)
