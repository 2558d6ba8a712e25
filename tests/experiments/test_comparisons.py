"""Comparisons: settings under the same traffic on several networks, and studies of a network."""

import json
from pathlib import Path

import pytest

from kneepoint.common.tables import read
from kneepoint.runs.load import load_workflow
from kneepoint.runs.results import RUNS, TRIALS
from tests.experiments.test_config import write_files
from tests.experiments.wire import command, prepare_named


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return write_files(
        tmp_path / "config", "comparisons", config={"results": str(tmp_path / "results")}
    )


def run(config: Path, name: str) -> int:
    folder = config.parent.parent
    for network in ("router", "deep"):
        prepare_named(folder, network, folder / "networks" / network)
    return command(folder, name)


def test_comparison_measures_flows_and_probes(config: Path) -> None:
    assert run(config, "comparisons/rules") == 0
    runs = read(config.parent.parent / "results/comparisons/rules/runs.parquet", RUNS).to_pylist()
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
    trials = read(folder / "trials.parquet", TRIALS).to_pylist()
    assert [trial["network_queue_packets"] for trial in trials] == [2, 20, 60]
    assert [trial["value"] for trial in trials][1:] == [20, 60]
    assert trials[0]["value"] > 60, "two packets keep no link busy"
    summary = json.loads((folder / "study.json").read_text())
    assert summary["objective"] == "least network.queue.packets"
    assert (summary["direction"], summary["best"]["value"]) == ("minimize", 20)


def test_an_engine_may_have_some_of_the_networks(tmp_path: Path) -> None:
    """The kernel cannot emulate the other networks."""
    runs = {"engines": {"kernel": {"repeats": 1, "networks": ["deep"]}}}
    network = {"uplink_queue": "codel:target=5,interval=100"}
    config = write_files(tmp_path, "comparisons", network=network, comparison=runs)
    found = load_workflow(config).comparisons["rules"]
    assert found.networks_on("kernel") == ("deep",)
