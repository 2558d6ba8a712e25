"""Comparisons: settings under the same traffic on several networks, and studies of a network."""

import json
from pathlib import Path

import pytest
import yaml

from common.errors import KneepointError
from experiments.config import load_workflow
from experiments.results import read_table
from tests.experiments.wire import command, prepare_named, write

ROUTER = {
    "title": "A router",
    "uplink": {"rate_mbps": 1.5},
    "downlink": {"rate_mbps": 100},
    "delay_ms": 10,
    "uplink_queue": "droptail:packets=20",
    "duration_s": 12,
}
TRAFFIC = {
    "title": "A download and pings beside a long flow",
    "flows": {
        "long": {"transport": "tcp"},
        "web": {"transport": "tcp", "controller": "reno", "start_s": 4, "bytes": 30000},
    },
    "probes": {"ping": {"start_s": 5, "start_spread_s": 1, "count": 3}},
}
COMPARISON = {
    "title": "Two rules",
    "traffic": "web",
    "networks": ["router", "deep"],
    "settings": [{"controller": "reno"}, {"controller": "cubic"}],
    "engines": {"emulator": {"repeats": 2}},
}
STUDY = {
    "title": "The smallest buffer",
    "controller": "reno",
    "traffic": "web",
    "networks": ["router"],
    "space": {"network.queue.packets": {"values": [2, 20, 60]}},
    "objective": {"least": "network.queue.packets", "keeping": {"utilization": 0.9}},
}


@pytest.fixture
def config(tmp_path: Path) -> Path:
    folder = tmp_path / "config"
    write(folder / "traces.yaml", {})
    write(folder / "networks/router.yaml", ROUTER)
    write(folder / "networks/deep.yaml", {**ROUTER, "uplink_queue": "droptail:packets=100"})
    write(folder / "traffic/web.yaml", TRAFFIC)
    write(folder / "comparisons/rules.yaml", COMPARISON)
    write(folder / "studies/buffer.yaml", STUDY)
    settings = {"seed": 1, "studies": ["buffer"], "comparisons": ["rules"]}
    write(folder / "config.yaml", {**settings, "results": str(tmp_path / "results")})
    return folder / "config.yaml"


PRINTED = {
    "setting": 0,
    "network": "router",
    "figure": "web.completion_s",
    "value": 2,
    "step": 0.1,
    "place": "page 1",
}
FILES = {
    "study": "studies/buffer.yaml",
    "comparison": "comparisons/rules.yaml",
    "traffic": "traffic/web.yaml",
    "network": "networks/router.yaml",
}


def change(config: Path, file: str, **changes: object) -> None:
    path = config.parent / FILES[file]
    write(path, {**yaml.safe_load(path.read_text()), **changes})


def run(config: Path, name: str) -> int:
    folder = config.parent.parent
    for network in ("router", "deep"):
        prepare_named(folder, network, folder / "networks" / network)
    return command(folder, name)


def test_comparison_measures_flows_and_probes(config: Path) -> None:
    assert run(config, "comparisons/rules") == 0
    runs = read_table(config.parent.parent / "results/comparisons/rules/runs.parquet").to_pylist()
    places = [(each["controller"], each["network"]) for each in runs]
    assert places == [
        (rule, on) for rule in ("reno", "cubic") for on in ("router",) * 2 + ("deep",) * 2
    ]
    assert {each["traffic"] for each in runs} == {"web"}
    for each in runs:
        long, web = each["flows"]
        (ping,) = each["probes"]
        assert (each["status"], long["name"], web["name"], ping["name"]) == (
            "ok",
            "long",
            "web",
            "ping",
        )
        assert (long["controller"], web["controller"]) == (each["controller"], "reno")
        assert long["goodput_mbps"] > 0.8
        assert long["completion_s"] is None
        assert 0.2 < web["completion_s"] < 8
        assert ping["sent"] == 3 >= ping["answered"] > 0  # a full queue drops pings, too
        assert ping["rtt_mean_ms"] > 20
    seeds = [each["seed"] for each in runs]
    assert seeds[:4] == seeds[4:], "both rules meet the same chance"
    assert len(set(seeds)) == 4
    delays = {each["network"]: each["probes"][0]["rtt_mean_ms"] for each in runs}
    assert delays["deep"] > delays["router"], "a deeper buffer holds a longer queue"


def test_study_searches_a_network(config: Path) -> None:
    assert run(config, "buffer") == 0
    folder = config.parent.parent / "results/buffer"
    trials = read_table(folder / "trials.parquet").to_pylist()
    assert [trial["network_queue_packets"] for trial in trials] == [2, 20, 60]
    assert [trial["value"] for trial in trials][1:] == [20, 60]
    assert trials[0]["value"] > 60, "two packets keep no link busy"
    summary = json.loads((folder / "study.json").read_text())
    assert summary["objective"] == "least network.queue.packets"
    assert (summary["direction"], summary["best"]["value"]) == ("minimize", 20)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"uplink_queue": "codel:target=5,interval=100"},
            "uplink.queue: kernel cannot run",
        ),
        ({"uplink": {"rate_mbps": 1, "loss_period": 50}}, "uplink.loss_period: kernel"),
        ({"uplink": {"constant_mbps": 1.5}}, "uplink.constant_mbps: kernel"),
        ({"delay_step_ms": 5, "delay_period_s": 1}, "uplink.delay_step_ms: kernel"),
    ],
)
def test_kernel_is_asked_only_for_networks_that_it_can_make(
    config: Path, changes: dict[str, object], message: str
) -> None:
    change(config, "network", **changes)
    load_workflow(config)
    change(config, "comparison", engines={"emulator": {"repeats": 1}, "kernel": {"repeats": 1}})
    with pytest.raises(KneepointError, match=message) as caught:
        load_workflow(config)
    assert "comparisons/rules.yaml: kernel: network router: uplink" in str(caught.value)
    only = {"kernel": {"repeats": 1, "networks": ["deep"]}}
    change(config, "comparison", engines=only)
    assert load_workflow(config).comparisons["rules"].networks_on("kernel") == ("deep",)


@pytest.mark.parametrize(
    ("file", "changes", "message"),
    [
        ("study", {"space": {"network.queue": {"values": [1]}}}, "not a network parameter"),
        ("study", {"objective": {"least": "beta"}}, "least and keeping belong"),
        (
            "study",
            {"objective": {"least": "beta", "keeping": {"utilization": 1}}},
            "least is 'beta', which space does not search",
        ),
        (
            "study",
            {"traffic": None, "objective": {"flows": "worst"}},
            "needs traffic",
        ),
        ("study", {"traffic": "wob"}, "traffic lists 'wob'"),
        (
            "study",
            {"engine": "mahimahi", "host": {}},
            "mahimahi cannot run it",
        ),
        ("comparison", {"networks": ["router", "router"]}, "networks: .*'router' appears twice"),
        ("comparison", {"networks": ["rooter"]}, "unknown network 'rooter'"),
        ("comparison", {"traffic": ["web", "web"]}, "traffic: .*'web' appears twice"),
        ("comparison", {"engines": {"mahimahi": {"repeats": 1}}}, "emulator"),
        (
            "comparison",
            {"engines": {"kernel": {"repeats": 1, "networks": ["lake"]}}},
            "engines: kernel: networks 'lake' is not of the comparison",
        ),
        ("comparison", {"published": [PRINTED]}, "has published numbers, but no source"),
        (
            "comparison",
            {"source": "A report", "published": [{**PRINTED, "setting": 2}]},
            "published 0 names setting 2, but the last one is 1",
        ),
        (
            "comparison",
            {"source": "A report", "published": [{**PRINTED, "network": "lake"}]},
            "published 0: network 'lake' is not of the comparison",
        ),
        (
            "comparison",
            {"source": "A report", "published": [{**PRINTED, "high": 1}]},
            "high 1 must be greater than value 2",
        ),
        (
            "comparison",
            {"source": "A report", "published": [{**PRINTED, "figure": "wob.completion_s"}]},
            "published 0: unknown figure wob.completion_s; known: long.METRIC, web.METRIC",
        ),
        (
            "comparison",
            {"source": "A report", "published": [{**PRINTED, "figure": "ping.completion_s"}]},
            "unknown figure ping.completion_s; known: sent, answered, rtt_min_ms",
        ),
        (
            "traffic",
            {"flows": {"a": {"controller": "reno"}}},
            "no flow has the controller",
        ),
        (
            "traffic",
            {"flows": {"a": {"stop_s": 1, "start_s": 2}}},
            "after the latest start",
        ),
        (
            "traffic",
            {"flows": {"a": {"tcp": {"sack": True}}}},
            "its transport is datagrams",
        ),
        (
            "traffic",
            {"flows": {"a": {"transport": "tcp", "tcp": {"sack": False, "rack": True}}}},
            "rack: needs sack",
        ),
        ("traffic", {"flows": {"a": {"constants": {"beta": 1}}}}, "under study vary"),
        (
            "traffic",
            {"flows": {"a": {"start_s": 10, "start_spread_s": 2}}},
            "traffic/web.yaml: a begins up to 12 s after a run's start, but on network router a "
            "run ends at 12 s; lower start_s",
        ),
        ("traffic", {"probes": {"ping": {"start_s": 13}}}, "web.yaml: ping begins up to 13 s"),
        (
            "network",
            {"delay_ms": 10.5, "uplink": {"constant_mbps": 3}},
            "must be whole",
        ),
        ("network", {"duration_s": None}, "a constant rate needs one"),
        ("network", {"uplink": {"rate_mbps": 1, "sha256": "a" * 64}}, "remove sha256"),
        (
            "network",
            {"uplink": {"rate_mbps": 1, "loss_probability": 1.1}},
            "less than or equal to 1",
        ),
    ],
)
def test_mistake_is_named_before_anything_runs(
    config: Path, file: str, changes: dict[str, object], message: str
) -> None:
    change(config, file, **changes)
    with pytest.raises(KneepointError, match=message) as caught:
        load_workflow(config)
    assert str(caught.value).startswith(str(config.parent)), "it names a file"
