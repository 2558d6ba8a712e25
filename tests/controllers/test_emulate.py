"""The command line of the emulator: one run, a batch, and its errors."""

import hashlib
import json
import math
import os
import re
import subprocess
from pathlib import Path
from typing import Any

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
        (["--network", "nowhere"], "--network 'nowhere' is not prepared here; kneepoint run"),
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
    line = _line(small_link, "--set window=1000000 --host-model event-loop:device_packets=0")
    batch = f"ulimit -v 50000; echo '{line}' | '{EMULATE}' --batch"
    answer = subprocess.run(["sh", "-c", batch], capture_output=True, text=True)
    assert json.loads(answer.stdout)["status"] == "fault"
    assert json.loads(answer.stdout)["reason"].startswith("out of memory; ")
    single = f"ulimit -v 50000; '{EMULATE}' {line}"
    result = subprocess.run(["sh", "-c", single], capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("error: out of memory; ")


def _memory_mib(scenario: dict[str, Any]) -> float:
    """Returns the peak memory of the process of a measured run."""
    request = json.dumps({"scenario": scenario, "flows": True})
    with subprocess.Popen(
        [EMULATE, "--batch"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as batch:
        assert batch.stdin is not None and batch.stdout is not None
        batch.stdin.write(f"{request}\n")
        batch.stdin.flush()
        assert json.loads(batch.stdout.readline())["status"] == "ok"
        status = Path(f"/proc/{batch.pid}/status").read_text()
        batch.stdin.close()
    most = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    assert most is not None
    return int(most[1]) / 1024


@pytest.mark.parametrize("hours", [2, pytest.param(24, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("link", "transport"), [("rate", "tcp"), ("trace", "datagrams"), ("fair", "tcp")]
)
def test_memory_does_not_grow_with_the_length_of_a_run(
    tmp_path: Path, link: str, transport: str, hours: int
) -> None:
    """At 415 packets per second, an earlier version took 13 to 23 bytes per packet."""
    trace = tmp_path / "mbps5.trace"
    trace.write_text("".join(f"{ms}\n" for ms in range(2, 10_001) if ms * 5 % 12 < 5))
    queue = "fq_codel:target=5,interval=100" if link == "fair" else "droptail:packets=100"
    shape = {"trace": str(trace)} if link == "trace" else {"rate_mbps": 5}
    scenario = {
        "uplink": {**shape, "delay_ms": 20, "queue": queue},
        "downlink": {"rate_mbps": 100, "delay_ms": 20},
        "flows": [{"controller": "reno", "transport": transport}],
        "duration_s": hours * 3600,
    }
    assert _memory_mib(scenario) < 25


def test_delays_of_hours_are_those_of_the_link(tmp_path: Path) -> None:
    """8,000 packets of 1504 bytes take 9,625.6 s at 10 kbit/s: 2^32 us are 4,295 s."""
    scenario = tmp_path / "slow.json"
    content: dict[str, Any] = {
        "uplink": {"rate_mbps": 0.01, "delay_ms": 20},
        "downlink": {"rate_mbps": 100, "delay_ms": 20},
        "flows": [
            {"controller": "fixed_window", "parameters": {"window": 8000, "keepalive_ms": 1e6}}
        ],
        "probes": [{"start_s": 10, "count": 1}],
        "host_model": "ideal",
        "duration_s": 43_200,
    }
    scenario.write_text(json.dumps(content))
    figures = json.loads(_run("--scenario", str(scenario)).stdout)
    (flow,) = figures["flows"]
    (probe,) = figures["probes"]
    assert flow["delay_p95_ms"] == pytest.approx(9_625_600, rel=1e-4)
    assert flow["rtt_p95_ms"] == pytest.approx(9_625_600, rel=1e-4)
    assert probe["rtt_p95_ms"] == pytest.approx(9_625_600, rel=1e-3)
    assert figures["uplink"]["queueing_delay_p95_ms"] == pytest.approx(9_624_400, rel=1e-3)
    assert figures["queueing_delay_p95_ms"] == pytest.approx(9_625_600, rel=1e-4)


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


def test_a_trace_that_ends_has_the_capacity_that_it_has_when_it_repeats(tmp_path: Path) -> None:
    """The queue uses the link's rate, which must not include the time after the trace."""
    trace = tmp_path / "mbps6.trace"
    trace.write_text("".join(f"{2 * i}\n" for i in range(1, 2501)))
    line = _line(Link(trace, trace), "--uplink-queue dualpi2 --set window=200")
    once, repeated = (
        json.loads(_run(*line.split(), *options).stdout) for options in ([], ["--duration-s", "5"])
    )
    assert once["packets_dropped"] == repeated["packets_dropped"]
    assert once["throughput_mbps"] == pytest.approx(repeated["throughput_mbps"], rel=0.01)


LIMITS: dict[str, tuple[dict[str, Any], float]] = {
    "10 kbit/s": ({"rate_mbps": 0.01, "delay_ms": 50}, 3600),
    "10 Gbit/s": ({"rate_mbps": 10_000, "delay_ms": 1}, 0.3),
    "no delay": ({"rate_mbps": 5, "delay_ms": 0}, 20),
    "one packet": ({"rate_mbps": 5, "delay_ms": 20, "queue": "droptail:packets=1"}, 20),
    "no delay, one packet": ({"rate_mbps": 5, "delay_ms": 0, "queue": "droptail:packets=1"}, 20),
}


@pytest.mark.parametrize("transport", ["datagrams", "tcp"])
@pytest.mark.parametrize("name", LIMITS)
def test_scenarios_at_their_limits_have_right_results(name: str, transport: str) -> None:
    """A window that fills the link reaches its rate, less the losses of a buffer of one packet."""
    link, duration_s = LIMITS[name]
    packets = link["rate_mbps"] * 1e3 * 2 * link["delay_ms"] / (8 * 1504)
    flow: dict[str, Any] = {"controller": "fixed_window", "transport": transport}
    if transport == "tcp":
        flow["tcp"] = {"delayed_ack_ms": 0}
    has_room = "queue" not in link
    window = math.ceil(packets) + 5 if has_room else 2
    requests = {
        "scenario": {
            "uplink": link,
            "downlink": {"rate_mbps": link["rate_mbps"], "delay_ms": link["delay_ms"]},
            "flows": [{**flow, "parameters": {"window": window, "keepalive_ms": 1e6}}],
            "host_model": "ideal",
            "duration_s": duration_s,
        },
        "flows": True,
    }
    answer = _run("--batch", given=json.dumps(requests))
    (figures,) = map(json.loads, answer.stdout.splitlines())
    assert figures["status"] == "ok"
    share = min(1.0, window / (packets + 1 + 80 / 1504))
    utilization = figures["uplink"]["utilization"]
    assert utilization == pytest.approx(share, rel=0.04)
    assert figures["packets_dropped"] == 0


def test_repeats_until_the_duration(small_link: Link) -> None:
    once = emulate(small_link, "fixed_window", {"window": 10})
    longer = emulate(small_link, "fixed_window", {"window": 10}, "--duration-s", "6")
    assert longer["packets_delivered"] == pytest.approx(2 * once["packets_delivered"], rel=0.1)
