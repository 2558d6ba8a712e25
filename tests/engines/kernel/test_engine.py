"""The kernel's rig: its figures, the ends of runs, and the cleanup.

Everything here is a real run of a few seconds; figures are compared loosely.
"""

import copy
import dataclasses
import json
import os
import pickle
import signal
import statistics
import subprocess
import sys
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.engines.base import AGES, SHARES, MachineFaultError
from kneepoint.engines.kernel import diagnosis, run
from kneepoint.engines.kernel.engine import KernelEngine, KernelSettings
from kneepoint.networks.traffic import LINUX
from tests.conftest import ROOT
from tests.engines.kernel.bufferbloat import BUFFERBLOAT
from tests.engines.live_run import PATIENCE_S, descendants, lives, wait_until
from tests.engines.real import kernel_engine, unless_disturbed

pytestmark = pytest.mark.real_time

WORKER = """
import pickle, sys
settings, scenario = pickle.load(sys.stdin.buffer)
settings.open().answer(scenario)
"""


@pytest.fixture
def settings() -> KernelSettings:
    return kernel_engine()


def scenario(**changes: Any) -> dict[str, Any]:
    return {**copy.deepcopy(BUFFERBLOAT), **changes}


def short(**changes: Any) -> dict[str, Any]:
    """One flow for three seconds."""
    flows = [{"controller": "reno", "transport": "tcp"}]
    return scenario(**{"flows": flows, "probes": [], "duration_s": 3, "interval_s": 0.5} | changes)


def in_path(folder: Path, name: str, script: str) -> str:
    """Writes a program; returns a search path on which it comes first."""
    program = folder / name
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    return f"{folder}:{diagnosis.SEARCH_PATH}"


@unless_disturbed
def test_bufferbloat_of_the_kernel_is_like_the_emulators(
    settings: KernelSettings, tmp_path: Path
) -> None:
    content = scenario(probes=[{"interval_ms": 100}])
    content["flows"][0]["start_s"] = 1
    ours = settings.open().answer(content)
    file = tmp_path / "s.json"
    file.write_text(json.dumps(content))
    command: list[str | Path] = [ROOT / "build/emulate", "--scenario", file]
    emulated = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    for place in ("uplink", "downlink"):
        assert set(emulated[place]) == set(ours[place])
    assert set(emulated["flows"][0]) == set(ours["flows"][0])
    assert set(emulated["probes"][0]) == set(ours["probes"][0])
    emulators_own = {
        "signal_delay_p50_ms",
        "packets_lost",
        *AGES,
        "jains_index",
        "convergence_s",
        *SHARES,
    }
    assert set(emulated) - emulators_own | {
        "scheduling_delay_p99_us",
        "scheduling_delays_us",
    } == set(ours)
    assert 0 < ours["scheduling_delay_p99_us"] <= ours["scheduling_delays_us"][-1]
    idle_ms = [rtt_ms for rtt_ms in ours["probes"][0]["rtts_ms"][2:9] if rtt_ms]
    assert 20.4 <= min(idle_ms) <= 21.5
    assert ours["uplink"]["utilization"] == pytest.approx(
        emulated["uplink"]["utilization"], rel=0.03
    )
    for name in ("throughput_by_interval_mbps", "window_by_interval_packets", "rtt_by_interval_ms"):
        assert len(ours["flows"][0][name]) == 15
    assert 90 < max(ours["flows"][0]["window_by_interval_packets"]) < 250
    assert max(ours["uplink"]["queue_by_interval_packets"]) == pytest.approx(100, abs=2)
    assert ours["uplink"]["packets_dropped"] > 0
    assert 0 < len(ours["flows"][0]["loss_events_s"]) <= 4
    assert 1.0 < (ours["flows"][1]["completion_s"] or 0) < 10
    assert ours["flows"][1]["packets_sent"] >= 123  # 177,669 bytes


@unless_disturbed
def test_receive_buffer_limits_what_is_in_flight(settings: KernelSettings) -> None:
    tcp = {**LINUX.model_dump(exclude_none=True), "receive_buffer_bytes": 40 * 1448}
    flow = {"controller": "cubic", "transport": "tcp", "tcp": tcp}
    answer = settings.open().answer(short(flows=[flow]))
    # The window is half of the buffer or, since Linux 6.6, up to two thirds; 2.5 packets propagate.
    assert 14 <= max(answer["uplink"]["queue_by_interval_packets"]) <= 26


@unless_disturbed
def test_a_flow_may_stop_before_the_run(settings: KernelSettings) -> None:
    flow = {"controller": "reno", "transport": "tcp", "stop_s": 1}
    answer = settings.open().answer(short(flows=[flow]))
    first, *_, last = answer["flows"][0]["throughput_by_interval_mbps"]
    assert first > 0.5 and last == 0


@unless_disturbed
def test_two_classes_keep_pings_out_of_the_long_flows_queue(settings: KernelSettings) -> None:
    uplink = {**BUFFERBLOAT["uplink"], "queue": "drr:packets=100,classes=2,per_class=1"}
    flows = [
        {"controller": "cubic", "transport": "tcp", "class": 1},
        {"controller": "reno", "transport": "tcp", "start_s": 3, "bytes": 177_669},
    ]
    probes = [{"start_s": 2, "interval_ms": 200}]
    answer = settings.open().answer(
        scenario(uplink=uplink, flows=flows, probes=probes, duration_s=6, interval_s=1)
    )
    assert max(answer["uplink"]["queue_by_interval_packets"]) > 50
    before_download_ms = answer["probes"][0]["rtts_ms"][:5]
    assert statistics.fmean(before_download_ms) < 35
    assert 1.8 < answer["flows"][1]["completion_s"] < 2.6  # half of the link: 2 s


@pytest.mark.usefixtures("settings", "usual_signals")
def test_command_prints_the_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "s.json"
    file.write_text(json.dumps(short(duration_s=1, interval_s=0)))
    monkeypatch.setattr(sys, "argv", ["run", str(file)])
    before = signal.getsignal(signal.SIGTERM)
    try:
        run.main()
    finally:
        signal.signal(signal.SIGTERM, before)
    answer = json.loads(capsys.readouterr().out)
    assert answer["flows"][0]["controller"] == "reno"
    assert "window_by_interval_packets" not in answer["flows"][0]
    file.write_text("{}")
    with pytest.raises(KneepointError, match=f"^{file}: "):
        run.main()
    assert capsys.readouterr().out == ""


@pytest.mark.usefixtures("settings")
def test_connections_open_without_the_hosts_congestion_control() -> None:
    """BBR would leave connections paced even after another congestion control is set."""
    ask = (
        "from pathlib import Path\n"
        "from kneepoint.engines.kernel.rig import Rig\n"
        "from kneepoint.engines.kernel.scenario import scenario_of\n"
        "from tests.engines.kernel.bufferbloat import BUFFERBLOAT\n"
        "rig = Rig(scenario_of(BUFFERBLOAT, 's'), Path('build/delay_line'))\n"
        "with rig.server.entered():\n"
        "    print(Path('/proc/sys/net/ipv4/tcp_congestion_control').read_text().strip())\n"
    )
    command = [*diagnosis.UNSHARE, sys.executable, "-c", ask]
    path = os.environ | {"PATH": diagnosis.SEARCH_PATH}  # a user's own PATH may lack ip and tc
    said = subprocess.run(command, env=path, capture_output=True, text=True, cwd=ROOT, check=False)
    assert said.stdout.strip() == "reno", said.stderr


@pytest.mark.parametrize("kind", ["htb", "pfifo"])
def test_queue_discipline_that_the_kernel_lacks(
    settings: KernelSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    said = "echo 'Error: Specified qdisc kind is unknown.' >&2; exit 2"
    script = f'case "$*" in *{kind}*) {said};; esac; PATH=${{PATH#*:}}; exec tc "$@"'
    monkeypatch.setenv("PATH", in_path(tmp_path, "tc", script))
    with pytest.raises(KneepointError, match=rf"no queue discipline .* {kind}; .*sch_{kind}"):
        settings.open().answer(short())


def test_server_that_does_not_answer(
    settings: KernelSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = "echo 'iperf3: error - something is wrong' >&2; exit 1"
    monkeypatch.setenv("PATH", in_path(tmp_path, "iperf3", script))
    with pytest.raises(MachineFaultError, match=r"iperf3's server .*: something is wrong"):
        settings.open().answer(short())


@pytest.mark.parametrize(
    ("script", "reason"),
    [("exec sleep 60", "the client does not answer"), ("exit 1", "the delay line ended")],
)
def test_link_that_hands_on_nothing(
    settings: KernelSettings, tmp_path: Path, script: str, reason: str
) -> None:
    in_path(tmp_path, "delay_line", script)
    broken = dataclasses.replace(
        settings, build=tmp_path, sha256=KernelSettings.of(tmp_path).sha256
    )
    with pytest.raises(MachineFaultError, match=reason):
        broken.open().answer(short())


def start(
    settings: KernelSettings, background: ThreadPoolExecutor
) -> tuple[KernelEngine, Future[dict[str, Any]], dict[int, str], int]:
    """Starts a long run; returns its processes once there is traffic, and unshare's id."""
    opened = settings.open()
    future = background.submit(opened.answer, short(duration_s=100, probes=[{}]))
    found: dict[int, str] = {}

    def has_traffic() -> bool:
        if opened._supervisor is not None:
            found.update(descendants(opened._supervisor.pid))
        names = [
            name for pid, name in found.items() if lives(pid)
        ]  # found also has the rig's own ping
        return names.count("iperf3") == 2 and "ping" in names and "delay_line" in names

    wait_until(has_traffic)
    assert opened._supervisor is not None
    return opened, future, found, opened._supervisor.pid


def nothing_is_left(found: dict[int, str], starter: int) -> None:
    wait_until(lambda: not any(map(lives, [starter, *found])))


@pytest.mark.parametrize(
    ("victim", "number", "reason"),
    [
        ("engine", None, "was stopped"),
        ("python", signal.SIGTERM, "was stopped"),
        ("python", signal.SIGKILL, "was stopped|was killed"),
        ("unshare", signal.SIGKILL, "was stopped|was killed"),
        ("delay_line", signal.SIGKILL, "the delay line ended"),
        ("iperf3", signal.SIGKILL, "iperf3"),
        ("ping", signal.SIGKILL, "ping"),
    ],
)
def test_run_that_is_ended_is_a_fault_and_leaves_nothing(
    settings: KernelSettings,
    background: ThreadPoolExecutor,
    victim: str,
    number: int | None,
    reason: str,
) -> None:
    opened, future, found, starter = start(settings, background)
    if number is None:
        opened.stop()
    else:
        alive = {starter: "unshare", **{pid: name for pid, name in found.items() if lives(pid)}}
        os.kill(next(pid for pid, name in alive.items() if victim in name), number)
    with pytest.raises(MachineFaultError, match=reason):
        future.result(PATIENCE_S)
    nothing_is_left(found, starter)


@pytest.mark.usefixtures("usual_signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_killed_worker_leaves_nothing(settings: KernelSettings, number: int) -> None:
    worker = subprocess.Popen(
        [sys.executable, "-c", WORKER], cwd=ROOT, stdin=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert worker.stdin is not None
    pickle.dump((settings, short(duration_s=100)), worker.stdin)
    worker.stdin.close()
    found: dict[int, str] = {}

    def has_traffic() -> bool:
        found.update(descendants(worker.pid))
        return list(found.values()).count("iperf3") == 2

    wait_until(has_traffic)
    worker.send_signal(number)
    worker.wait(PATIENCE_S)
    nothing_is_left(found, worker.pid)
