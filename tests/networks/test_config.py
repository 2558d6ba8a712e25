from pathlib import Path

import pytest

from kneepoint.common.config_file import check_config
from kneepoint.common.errors import KneepointError
from kneepoint.networks.config import TraceSources, load_network, load_trace_catalogue
from tests.conftest import ROOT

GOOD = """\
title: A network
uplink: {trace: a.down}
downlink: {trace: a.up}
"""


def load(tmp_path: Path, text: str) -> object:
    (tmp_path / "networks").mkdir(exist_ok=True)
    (tmp_path / "networks" / "net.yaml").write_text(text)
    return load_network(tmp_path / "config.yaml", "net")


def test_load_network_fills_in_the_contest_settings(tmp_path: Path) -> None:
    load(tmp_path, GOOD)
    network = load_network(tmp_path / "config.yaml", "net")
    assert network.trace_names == ("a.down", "a.up")
    assert (network.delay_ms, network.uplink_queue, network.duration_s) == (20, "infinite", None)
    assert (network.host_model, network.is_synthetic) == ("event-loop", False)


def of_uplink(uplink: str, more: str = "") -> str:
    return f"title: A\nuplink: {{{uplink}}}\ndownlink: {{trace: a}}\n{more}"


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        (GOOD + "delay: 20\n", ["'delay'", "did you mean 'delay_ms'?"]),
        (GOOD + "delay_ms: fast\n", ["delay_ms: 'fast'"]),
        (GOOD + "delay_step_ms: 30\n", ["delay_step_ms and delay_period_s", "give both"]),
        (GOOD + "delay_step_ms: 0.5\ndelay_period_s: 1\n", ["delay_step_ms: 0.5", "whole"]),
        (GOOD + "uplink_queue: droptail:packets=9,packet=1\n", ["'packet'", "packets, bytes"]),
        (GOOD + "host_model: event-loop:wake_us=2e6\n", ["host_model", "wake_us", "2e6"]),
        (GOOD + "title: twice\n", ["line 4", "'title'", "remove one"]),
        ("title: A\nuplink: {trace: a}\n", ["downlink", "add it"]),
        ("title: [\n", ["line 2", "not valid YAML"]),
        ("", ["None", "mapping"]),
        (of_uplink(""), ["uplink: needs exactly one of trace, constant_mbps"]),
        (of_uplink("trace: a, constant_mbps: 1"), ["uplink: needs exactly one of trace"]),
        (of_uplink("trace: ../a"), ["uplink.trace: '../a'"]),
        (of_uplink("trace: a, cut: {start_s: 9, end_s: 9}"), ["uplink.cut: end_s 9", "start_s 9"]),
        (of_uplink("constant_mbps: 1, cut: {end_s: 9}"), ["uplink: cut", "remove it"]),
        (of_uplink("constant_mbps: 1"), ["duration_s", "add it"]),
        (
            of_uplink("synthetic: {seed: 1, duration_s: 9, start_rate_mbps: 5, max_rate_mbps: 4}"),
            ["uplink.synthetic: max_rate_mbps 4", "start_rate_mbps 5"],
        ),
        (of_uplink("trace: a, changes: [{at_s: 1, mbps: 2}]"), ["uplink: changes", "remove"]),
        (
            of_uplink("constant_mbps: 1, changes: [{at_s: 5, mbps: 2}, {at_s: 5, mbps: 1}]"),
            ["uplink: changes: at_s 5", "order them"],
        ),
        (
            of_uplink("constant_mbps: 1, changes: [{at_s: 9, mbps: 2}]", "duration_s: 9\n"),
            ["changes: at_s 9", "duration_s 9", "remove it"],
        ),
        (of_uplink("trace: a, impairments: ['jitter:mean=1']"), ["'jitter'", "did you mean"]),
    ],
)
def test_load_network_refuses(tmp_path: Path, text: str, parts: list[str]) -> None:
    with pytest.raises(KneepointError) as raised:
        load(tmp_path, text)
    assert str(raised.value).startswith(str(tmp_path / "networks" / "net.yaml"))
    assert all(part in str(raised.value) for part in parts), raised.value
    assert "\n" not in str(raised.value)


def test_trace_sources_want_a_folder_for_the_source_folder(tmp_path: Path) -> None:
    with pytest.raises(KneepointError, match="the key folder is missing; add it"):
        check_config({"source": "folder"}, TraceSources, tmp_path)


def test_every_committed_network_is_well_formed_and_its_traces_are_listed() -> None:
    config = ROOT / "config" / "config.yaml"
    catalogue = load_trace_catalogue(config)
    files = sorted((config.parent / "networks").glob("*.yaml"))
    assert files
    for file in files:
        assert set(load_network(config, file.stem).trace_names) <= set(catalogue)


def test_a_host_has_the_settings_that_a_network_does_not_state(tmp_path: Path) -> None:
    load(tmp_path, GOOD + "host_model: event-loop:wake_us=70,delays_us=0+9\nhost_latency_us: 9\n")
    host = load_network(tmp_path / "config.yaml", "net").host
    assert (host["model"], host["host_latency_us"], host["wake_us"]) == ("event-loop", 9, 70)
    assert (host["wake_mean_us"], host["delays_us"]) == (100, "0+9")
    load(tmp_path, GOOD + "host_model: ideal\n")
    ideal = load_network(tmp_path / "config.yaml", "net")
    assert ideal.host == {"model": "ideal", "host_latency_us": 0}
