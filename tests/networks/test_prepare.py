import hashlib
import json
import subprocess
import sys
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest

import kneepoint.networks.prepare
from kneepoint.common.errors import KneepointError, run_command_line
from kneepoint.common.files import sha256_of
from kneepoint.networks.config import Cut, load_network
from kneepoint.networks.prepare import cut_trace, prepare_network
from kneepoint.networks.scenario import PreparedNetwork, Traffic, scenario_of
from kneepoint.networks.traces import format_trace, read_trace, times_of
from tests.conftest import ROOT
from tests.controllers.emulator import EMULATE
from tests.study_json import study_json

# A stand-in for build/synthesize, which checks its arguments.
SYNTHESIZE = """\
#!/bin/sh
[ "$*" = "--seed 7 --duration-s 60.0 --start-rate-mbps 5.0 --max-rate-mbps 12.0 \
--sigma-packets-per-s 200.0 --outage-escape-per-s 1.0" ] || { echo "error: $*" >&2; exit 2; }
echo 10; echo 20
"""


Prepare = Callable[..., tuple[int, str]]


@pytest.fixture
def prepare(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Prepare:
    """Prepares a network from the text of its file; returns the exit status and the messages."""
    catalogue = {}
    for name in ("networks", "traces"):
        (tmp_path / name).mkdir()
    for name, content in {"a": "0\n500\n1000\n1500\n2000\n", "bad": "5\n4\n"}.items():
        (tmp_path / "traces" / name).write_text(content)
        catalogue[name] = {"sha256": sha256_of(content.encode())}
    (tmp_path / "config.yaml").touch()
    (tmp_path / "synthesize").write_text(SYNTHESIZE)
    (tmp_path / "synthesize").chmod(0o755)
    monkeypatch.setattr(kneepoint.networks.prepare, "TRACES", tmp_path / "traces")
    monkeypatch.setattr(kneepoint.networks.prepare, "BUILT", tmp_path)

    def run(network: str, *options: str, others: dict[str, Any] | None = None) -> tuple[int, str]:
        (tmp_path / "networks/net.yaml").write_text(network)
        (tmp_path / "traces.yaml").write_text(json.dumps(catalogue | (others or {})))
        words = ["prepare", "--network", "net", *options]
        words += ["--config", f"{tmp_path}/config.yaml", "--into", f"{tmp_path}/into"]
        monkeypatch.setattr(sys, "argv", words)
        status = 0
        try:
            run_command_line(kneepoint.networks.prepare.main)
        except SystemExit as end:
            status = int(end.code or 0)
        return status, capsys.readouterr().err

    return run


def test_prepare_writes_traces_and_description(tmp_path: Path, prepare: Prepare) -> None:
    status, said = prepare(
        "title: A network\n"
        "uplink: {trace: a}\n"
        "downlink: {trace: a, cut: {start_s: 0.5, end_s: 1.5}}\n"
        "delay_ms: 30\ndelay_step_ms: 9\ndelay_period_s: 0.5\n"
        "uplink_queue: droptail:packets=9\nhost_latency_us: 700\n",
    )
    assert (status, said) == (0, "")
    into = tmp_path / "into"
    assert read_trace(into / "uplink.trace") == [0, 500, 1000, 1500, 2000]
    assert read_trace(into / "downlink.trace") == [500, 1000]
    others = {"delay_ms": 30, "delay_step_ms": 9, "delay_period_s": 0.5}
    assert json.loads((into / "network.json").read_text()) == {
        "name": "net",
        "title": "A network",
        "uplink": {
            "trace": str(into / "uplink.trace"),
            "trace_sha256": hashlib.sha256(b"0\n500\n1000\n1500\n2000\n").hexdigest(),
            "queue": "droptail:packets=9",
            **others,
        },
        "downlink": {
            "trace": str(into / "downlink.trace"),
            "trace_sha256": hashlib.sha256(b"500\n1000\n").hexdigest(),
            "queue": "infinite",
            **others,
        },
        "duration_s": None,
        "host_model": "event-loop",
        "host_latency_us": 700,
        # The downlink ends the run at 1000. The uplink has opportunities at 0, 500 and 1000: the
        # 501 signal delays are 1 and 500 to 1 ms, and element 475 is 475.
        "omniscient": {
            "capacity_mbps": 3 * 1504 * 8 / 1e6,
            "signal_delay_p95_ms": 475,
            "power": pytest.approx(3 * 1504 * 8 / 1e6 / 0.475),
        },
    }


def test_what_changes_within_a_run_reaches_the_emulator(tmp_path: Path, prepare: Prepare) -> None:
    status, said = prepare(
        "title: A network\nduration_s: 30\n"
        "uplink: {constant_mbps: 12.032, impairments: ['jitter-uniform:mean=30,deviation=2'],\n"
        "         changes: [{at_s: 10, mbps: 3.008}, {at_s: 20, mbps: 6.016}]}\n"
        "downlink: {constant_mbps: 12.032}\n",
    )
    assert (status, said) == (0, "")
    network = PreparedNetwork.load(tmp_path / "into/network.json")
    assert network.uplink.impairments == ("jitter-uniform:mean=30,deviation=2",)
    subject = {"controller": "fixed_window", "parameters": {"window": 200}}
    traffic = Traffic(options={"interval_s": 10})
    scenario = tmp_path / "scenario.json"
    scenario.write_text(json.dumps(scenario_of(network, traffic, subject, 3)))
    words = "--controller fixed_window --set window=200 --seed 3 --network "
    words += str(tmp_path / "into/network.json")
    by_scenario, by_network = (
        json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        for command in ([str(EMULATE), "--scenario", str(scenario)], [str(EMULATE), *words.split()])
    )
    rates = by_scenario["flows"][0]["throughput_by_interval_mbps"]
    datagrams = 1424 / 1504
    assert rates[:3] == pytest.approx([r * datagrams for r in (12.032, 3.008, 6.016)], rel=0.02)
    assert by_network["throughput_mbps"] == by_scenario["throughput_mbps"]


@pytest.mark.parametrize(
    ("uplink", "message"),
    [
        ("{trace: absent}", "uplink: {path}/traces/absent: No such file"),
        ("{trace: bad}", "uplink: trace bad, line 2: 4 ms follows 5 ms; times must not decrease"),
        ("{trace: bad, cut: {end_s: 1}}", "line 2: 4 ms follows 5 ms; times must not decrease"),
        (
            "{trace: a, cut: {end_s: 3}}",
            "uplink: the part's end, 3 s, is beyond the end of trace",
        ),
        (
            "{synthetic: {seed: 8, duration_s: 60, start_rate_mbps: 5, max_rate_mbps: 12}}",
            "uplink: {path}/synthesize: --seed 8",
        ),
        (
            "{trace: a, cut: {start_s: 1.9, end_s: 2}}\nduration_s: 0.05",
            "uplink: the run ends at 50 ms, before the uplink can deliver a packet",
        ),
        (
            "{trace: a, sha256: " + "f" * 64 + "}",
            "uplink: digest mismatch: the trace has SHA-256",
        ),
    ],
)
def test_prepare_refuses(tmp_path: Path, prepare: Prepare, uplink: str, message: str) -> None:
    status, said = prepare(f"title: A\nuplink: {uplink}\ndownlink: {{trace: a}}\n")
    assert status == 2
    assert said.startswith(f"error: {tmp_path}/networks/net.yaml: uplink: ")
    assert message.format(path=tmp_path) in said
    assert said.count("\n") == 1
    assert not (tmp_path / "into").exists()


NETWORK = "title: A\nuplink: {trace: a}\ndownlink: {trace: a}\nhost_from: fit\n"


def test_prepare_takes_the_host_that_a_study_found(tmp_path: Path, prepare: Prepare) -> None:
    found = {"host_latency_us": 350, "host_wake_mean_us": 75.5, "parameter_window": 12}
    (tmp_path / "study.json").write_text(study_json(searched=found))
    status, said = prepare(NETWORK, "--fitted", str(tmp_path / "study.json"))
    assert (status, said) == (0, "")
    network = json.loads((tmp_path / "into/network.json").read_text())
    assert network["host_latency_us"] == 350
    assert network["host_model"] == "event-loop:wake_mean_us=75.5"


@pytest.mark.parametrize("text", ["", "{}", study_json(searched={"parameter_window": 3})])
def test_prepare_refuses_a_study_without_a_host(
    tmp_path: Path, prepare: Prepare, text: str
) -> None:
    (tmp_path / "study.json").write_text(text)
    status, said = prepare(NETWORK, "--fitted", str(tmp_path / "study.json"))
    assert status == 2
    assert said.startswith(f"error: {tmp_path}/study.json: cannot be used")


def test_cut_trace_parts_join_to_the_whole() -> None:
    times_ms = [0, 1, 999, 1000, 1001, 2000, 3000]
    cuts = (Cut(start_s=0, end_s=1), Cut(start_s=1, end_s=3))
    first, second = (times_of(cut_trace(BytesIO(format_trace(times_ms)), "t", c)) for c in cuts)
    assert first == [1, 999, 1000]
    assert [*first, *(time_ms + 1000 for time_ms in second)] == times_ms[1:]


def test_cut_trace_refuses_a_part_without_opportunities() -> None:
    with pytest.raises(KneepointError, match="t has no opportunity from 1 s to 2 s"):
        cut_trace(BytesIO(b"1\n5000\n"), "t", Cut(start_s=1, end_s=2))


def test_prepare_makes_every_committed_network_that_needs_no_download(tmp_path: Path) -> None:
    config = ROOT / "config" / "config.yaml"
    names = [file.stem for file in (config.parent / "networks").glob("*.yaml")]
    for name in names:
        network = load_network(config, name)
        if not network.trace_names:
            prepare_network(name, network, config, tmp_path / name, ROOT / "build")
            trace = tmp_path / name / "uplink.trace"
            if network.uplink.rate_mbps is None:
                assert read_trace(trace)[-1] > 0
            else:
                assert trace.read_text() == ""


def test_trace_that_is_not_the_catalogues_is_refused(tmp_path: Path, prepare: Prepare) -> None:
    network = "title: A network\nuplink: {trace: a}\ndownlink: {trace: a}\n"
    status, said = prepare(network, others={"a": {"sha256": "0" * 64}})
    assert status == 2
    assert f"{tmp_path}/traces/a: cannot be used" in said
    assert "traces.yaml" in said and "snakemake" in said
    assert not (tmp_path / "into").exists()
