"""The kernel's TCP in mahimahi's links."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.engines.base import RunSpec
from kneepoint.engines.emulator import EmulatorSettings
from kneepoint.engines.mahimahi import tcp
from kneepoint.engines.mahimahi.engine import MahimahiSettings
from kneepoint.engines.mahimahi.tcp import LinkLoad
from kneepoint.networks.scenario import Traffic
from kneepoint.networks.traffic import LINUX
from tests.conftest import ROOT
from tests.engines.real import real_engine, unless_disturbed, write_traces
from tests.experiments.fakes import built_spec, network

TCP = {"transport": "tcp", "tcp": LINUX.model_dump(exclude_none=True)}
SAMPLES = """\
100.0
ESTAB 0 0 100.64.0.4:6001 100.64.0.1:40001 cubic cwnd:10 rtt:104.5/20 data_segs_out:12
100.5
ESTAB 0 9 100.64.0.4:6001 100.64.0.1:40001 cubic cwnd:30 ssthresh:21 rtt:120.5/9 retrans:2/7 \
lost:3 data_segs_out:80
SYN-SENT 0 1 100.64.0.4:6002 100.64.0.1:40002 cubic cwnd:10
"""
SETTINGS = {
    "tcp_available_congestion_control": "reno cubic bbr",
    "tcp_allowed_congestion_control": "reno cubic",
    "tcp_congestion_control": "cubic",
}


def load(**flow: object) -> LinkLoad:
    return LinkLoad.of({"flows": [{"controller": "reno", **TCP, **flow}]}, 10, "traffic lake")


def test_samples_of_ss_are_sockets() -> None:
    (first_s, first), (then_s, then) = tcp.sockets_of(SAMPLES.splitlines())
    assert (first_s, first.window_packets, first.rtt_ms, first.is_repairing) == (
        100,
        10,
        104.5,
        False,
    )
    assert (then_s, then.local_port, then.remote_port) == (100.5, 6001, 40001)
    assert (then.ssthresh_packets, then.retransmissions, then.packets_sent) == (21, 7, 80)
    assert then.is_repairing


def test_answer_counts_from_the_first_sample() -> None:
    outside = (
        "100.5\nESTAB 0 0 100.64.0.1:40001 100.64.0.4:6001 x bytes_received:144800 data_segs_in:100"
    )
    answer = tcp.answer_to(load(), SAMPLES.splitlines(), outside.splitlines(), [])
    (flow,) = answer["flows"]
    assert flow["goodput_mbps"] == pytest.approx(144800 * 8 / 1e6 / 10)
    assert flow["mean_window_packets"] == 20
    assert flow["loss_events_s"] == [0.5]


@pytest.mark.parametrize(
    ("flow", "said"),
    [
        ({"transport": "datagrams"}, "transport"),
        ({"bytes": 1000}, "bytes"),
        ({"from": "far"}, "from"),
        ({"parameters": {"beta": 0.6}}, "beta"),
    ],
)
def test_flow_that_links_cannot_carry_is_refused(flow: dict[str, object], said: str) -> None:
    with pytest.raises(KneepointError, match=f"traffic lake.*{said}"):
        load(**flow)


@pytest.mark.parametrize(
    ("setting", "content", "controller", "remedy"),
    [
        ("tcp_available_congestion_control", "cubic", "reno", "modprobe tcp_reno"),
        ("tcp_allowed_congestion_control", "cubic", "reno", "'cubic reno'"),
        ("tcp_congestion_control", "bbr", "reno", "tcp_congestion_control=cubic"),
    ],
)
def test_kernel_that_cannot_says_what_to_do(
    tmp_path: Path, setting: str, content: str, controller: str, remedy: str
) -> None:
    for name, text in SETTINGS.items():
        (tmp_path / name).write_text(text)
    tcp.require_settings(load(controller=controller), tmp_path)
    (tmp_path / setting).write_text(content)
    with pytest.raises(KneepointError, match=f"{controller}.*{remedy}|{remedy}"):
        tcp.require_settings(load(controller=controller), tmp_path)


def run_of(settings: MahimahiSettings, controller: str = "reno", **options: object) -> RunSpec:
    """Six seconds on 6 Mbit/s with a queue of 20 packets."""
    trace = "".join(f"{time_ms}\n" for time_ms in range(2, 1001, 2))
    links: dict[str, Any] = write_traces(settings.folder, trace)
    links["uplink"] = {**links["uplink"], "queue": "droptail:packets=20"}
    traffic = Traffic("one", {"flow": {**TCP, **options}}, {"ping": {"interval_ms": 200}})
    return built_spec(
        controller=controller,
        parameters={"whole_packets": 1.0} if controller == "reno" else {},
        engine="mahimahi",
        engine_sha256=settings.digest_for(traffic),
        network=network("wire", duration_s=6, **links),
        traffic=traffic,
    )


def test_run_is_identified_by_the_kernel_and_not_by_our_controller(tmp_path: Path) -> None:
    settings = replace(real_engine(), folder=tmp_path)
    spec = run_of(settings)
    assert spec.engine_sha256 != settings.sha256
    assert "controller_sha256" not in spec.scenario()["flows"][0]


@pytest.mark.real_time
@unless_disturbed
def test_figures_of_a_flow_are_the_emulators(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    settings = replace(real_engine(), folder=tmp_path)
    opens_with = Path("/proc/sys/net/ipv4/tcp_congestion_control").read_text().strip()
    controller = (
        "bbr" if opens_with == "bbr" else "reno"
    )  # other controllers would keep BBR's pacing
    try:
        tcp.require_settings(load(controller=controller))
    except KneepointError as error:
        pytest.skip(f"NOT TESTED with the kernel's TCP in mahimahi: {error}")
    spec = run_of(settings, controller, start_s=1)
    real = settings.open().run(spec)
    emulated = (
        replace(EmulatorSettings.of(ROOT / "build/emulate"), folder=tmp_path).open().run(spec)
    )
    assert (real.status, real.reason) == ("ok", "")
    assert real.throughput_mbps == pytest.approx(emulated.throughput_mbps, rel=0.15)
    assert real.queueing_delay_p95_ms == pytest.approx(emulated.queueing_delay_p95_ms, abs=8)
    assert real.flows and emulated.flows and real.probes
    flow, expected = real.flows[0], emulated.flows[0]
    assert flow["controller"] == controller
    assert flow["rtt_p95_ms"] == pytest.approx(expected["rtt_p95_ms"], abs=15)
    assert flow["loss_events"] > 0 and expected["loss_events"] > 0
    assert 20 < real.probes[0]["answered"] <= real.probes[0]["sent"] <= 30


@pytest.mark.real_time
def test_congestion_control_that_the_kernel_lacks_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    settings = replace(real_engine(), folder=tmp_path)
    spec = replace(run_of(settings), controller="sprout", parameters={})
    with pytest.raises(KneepointError, match="no congestion control 'sprout'"):
        settings.open().run(spec)
