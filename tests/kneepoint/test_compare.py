"""`kneepoint compare`: its output for pairs of emulated or planted runs."""

import json
import math
from pathlib import Path
from typing import Literal

import pytest

from kneepoint.analysis.frames import Record
from kneepoint.cli import compare
from kneepoint.cli.comparison import COMPARABLE, compare_settings, failures_in, text_of
from kneepoint.common.errors import KneepointError
from kneepoint.engines.base import RunRecord, RunSpec
from kneepoint.networks.scenario import PreparedLink, PreparedNetwork
from tests.experiments.wire import prepare_named, write
from tests.kneepoint.conftest import NETWORK, answer, ask, refused

WINDOWS = ("compare", "fixed_window:window=4", "fixed_window:window=12")


@pytest.fixture(scope="module", autouse=True)
def _other_networks(workspace: Path) -> None:
    """Prepares wires of other rates."""
    for name, rate in (("slow", 2), ("fast", 12)):
        link = {"constant_mbps": rate}
        write(
            workspace / f"config/networks/{name}.yaml",
            {**NETWORK, "uplink": link, "downlink": link},
        )
        prepare_named(workspace, name, workspace / ".kneepoint/networks" / name)


def test_pairs_share_network_and_seed(workspace: Path) -> None:
    words = ("--network", "wire", "--network", "slow", "--runs", "3", "--seed", "7")
    found = answer(workspace, *WINDOWS, *words)
    assert [each["network"] for each in found["networks"]] == ["wire", "slow"]
    for each in found["networks"]:
        assert [run["seed"] for run in each["runs"]] == [7, 8, 9]
        for window, name in ((4, "a"), (12, "b")):
            alone = ("run", "fixed_window", "--set", f"window={window}", "--seed", "8")
            run = answer(workspace, *alone, "--network", each["network"])
            assert run["power"] == each["runs"][1][name]
    assert found["overall"]["networks"] == 2 and found["overall"]["pairs"] == 6


def test_numbers_follow_from_the_runs(workspace: Path) -> None:
    words = ("--network", "wire", "--runs", "6", "--metric", "signal-delay")
    (found,) = answer(workspace, *WINDOWS, *words)["networks"]
    logs = [math.log(run["a"] / run["b"]) for run in found["runs"]]
    assert found["ratio"] == pytest.approx(math.exp(sum(logs) / 6))
    assert found["p"] == pytest.approx(2 / 64)  # all six agree
    assert found["low"] <= found["ratio"] <= found["high"]
    assert found["better"] == ("A" if found["high"] < 1 else "B")  # less delay is better


def test_default_networks_are_the_training_and_the_held_out_ones(workspace: Path) -> None:
    config = workspace / "config/held.yaml"
    held = {"training": "wire", "networks": ["slow", "fast"]}
    write(config, {"seed": 1, "studies": ["windows"], "hold_out": held})
    found = answer(workspace, *WINDOWS, "--config", "config/held.yaml", "--runs", "2")
    assert [each["network"] for each in found["networks"]] == ["wire", "slow", "fast"]
    assert found["left_out"] == []


def test_all_networks_are_those_that_a_flow_can_have_to_itself(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    router = {**NETWORK, "uplink": {"rate_mbps": 8}}
    shared = workspace / "config/networks/shared.yaml"
    write(shared, {**router, "uplink_queue": "drr:packets=9,classes=2,per_class=1"})
    monkeypatch.setattr(compare, "known_networks", lambda _: ["slow", "shared", "wire"])
    found = answer(workspace, *WINDOWS, "--networks", "all", "--runs", "2")
    assert [each["network"] for each in found["networks"]] == ["slow", "wire"]
    both = ("--networks", "all", "--network", "wire")
    assert "remove --network" in refused(workspace, *WINDOWS, *both)
    shared.unlink()


def test_network_that_cannot_be_prepared_is_left_out_and_named(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KneepointError("networks/unmade.yaml: cannot be prepared; correct it")

    config = workspace / "config/unmade.yaml"
    held = {"training": "wire", "networks": ["unmade"]}
    write(config, {"seed": 1, "studies": ["windows"], "hold_out": held})
    write(workspace / "config/networks/unmade.yaml", NETWORK)
    words = (*WINDOWS, "--config", "config/unmade.yaml", "--runs", "2")
    monkeypatch.setattr("kneepoint.cli.runs.prepare", fail)
    result = ask(workspace, *words)
    assert result.returncode == 0
    assert result.stdout.endswith("excluded, because they cannot be prepared: unmade\n")
    assert "\nwire " in result.stdout and "\nall " not in result.stdout
    named = ask(workspace, *WINDOWS, "--network", "wire", "--network", "unmade")
    assert (named.returncode, named.stdout) == (2, "")
    (workspace / "config/networks/unmade.yaml").unlink()


@pytest.mark.parametrize("unmade", [set(), {"lost"}, {"found"}, {"lost", "found"}])
def test_network_whose_host_a_study_finds_counts_if_it_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, unmade: set[str]
) -> None:
    names = ["found", "lost"]
    for name in names:
        write(tmp_path / f"networks/{name}.yaml", {**NETWORK, "host_from": "fit"})
    held = {"training": "found", "networks": ["lost"]}
    write(tmp_path / "config.yaml", {"seed": 1, "hold_out": held})

    def make(_config: Path, networks: list[str], _controllers: object, **_: object) -> None:
        if unmade & set(networks):
            raise KneepointError(f"{unmade}: not made")

    monkeypatch.setattr(compare, "make_what_is_missing", make)
    if unmade == set(names):
        with pytest.raises(KneepointError, match="not made"):
            compare._networks(tmp_path / "config.yaml", [], [])
        return
    found = compare._networks(tmp_path / "config.yaml", [], [])
    assert found == ([n for n in names if n not in unmade], list(unmade))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (WINDOWS, "has no hold_out; name networks: --network NAME"),
        ((*WINDOWS, "--network", "wires"), "unknown network 'wires'; did you mean 'wire'?"),
        ((*WINDOWS[:2], "fixed_window:window=4.0", "--network", "wire"), "are the same setting"),
        ((*WINDOWS[:2], "fixed_window:window", "--network", "wire"), "not CONTROLLER:NAME=VALUE"),
        ((*WINDOWS[:2], "fixed_window:window=x", "--network", "wire"), "not NAME=VALUE with a"),
        ((*WINDOWS[:2], "fixed_windo", "--network", "wire"), "did you mean 'fixed_window'?"),
        ((*WINDOWS[:2], "./mine.so", "--network", "wire"), "mine.so: No such file or directory"),
    ],
)
def test_mistake_is_one_line(workspace: Path, words: tuple[str, ...], message: str) -> None:
    assert message in refused(workspace, *words)


LINK = PreparedLink(rate_mbps=1)


def planted(
    powers: dict[str, list[tuple[float | None, float | None]]],
    metric: str = "power",
    paired_by: Literal["seed", "number"] = "seed",
) -> Record:
    """A comparison of runs with these figures; None stands for a failed run."""

    def record(value: float | None) -> RunRecord:
        if value is None:
            return RunRecord("id", "failed", "no datagram was delivered")
        return RunRecord("id", "ok", **{COMPARABLE[metric]: value})  # type: ignore[arg-type]

    runs = {
        network: {seed: (record(a), record(b)) for seed, (a, b) in enumerate(pairs, 1)}
        for network, pairs in powers.items()
    }
    network = PreparedNetwork("wire", LINK, LINK, 1, "ideal", 0)
    spec = RunSpec("emulator", "", "timely", "", {}, network, 1)
    return compare_settings([spec, spec], COMPARABLE[metric], runs, [], 1, paired_by)


def verdict(found: Record) -> str:
    return str(found["overall"]["verdict"])


def text(found: Record) -> str:
    return text_of(found, ["one", "other"])


CLEAR: list[tuple[float | None, float | None]] = [(2 + k / 100, 1.0) for k in range(8)]


def test_clear_difference_is_told() -> None:
    assert verdict(planted({"one": CLEAR})).startswith("A is better: 103 % more power than B (A/B")
    delays = verdict(planted({"one": CLEAR}, "signal-delay"))
    assert delays.startswith("B is better: 51 % less signal delay than A (A/B = 2.03")


def test_log_power_stands_beside_power() -> None:
    found = planted({"one": CLEAR, "two": [(math.e**2, math.e)] * 8})
    one, two = (each["log_power"] for each in found["networks"])
    assert (two["a"], two["b"], two["difference"]) == pytest.approx((2, 1, 1))
    assert one["a"] == pytest.approx(sum(math.log(a or 0) for a, _ in CLEAR) / 8)
    together = found["overall"]["log_power"]
    assert together["difference"] == pytest.approx((one["a"] - one["b"] + 1) / 2)
    assert one["low"] < one["difference"] < one["high"]
    assert "2.000" in text(found) and "log power" in text(found)
    delays = planted({"one": CLEAR}, "signal-delay")
    assert "log_power" not in delays["networks"][0] and "log power" not in text(delays)


def test_chance_is_not_told_as_a_difference() -> None:
    noisy = planted({"one": [(1.0, 1.1), (1.1, 1.0), (1.2, 1.0), (1.0, 1.2)] * 2})
    assert "is better" not in verdict(noisy) and "A/B = 1.00 [" in verdict(noisy)
    assert noisy["networks"][0]["enough_runs"] is None and "more than 8" in text(noisy)


def test_few_pairs_are_said_to_be_few() -> None:
    assert "give --runs 6" in text(planted({"one": CLEAR[:5]}))
    assert "Undecided: A/B = 2.00" in verdict(planted({"one": CLEAR[:1]}))
    assert "give --runs 6" not in text(planted({"one": CLEAR[:6]}))


@pytest.mark.parametrize("pairs", [2, 5])
def test_an_interval_is_not_contradicted_by_the_verdict(pairs: int) -> None:
    found = planted({"one": CLEAR[:pairs]})
    assert found["overall"]["low"] > 1 and found["overall"]["better"] is None
    assert verdict(found).startswith("Undecided: A/B = 2") and "--runs 6" in verdict(found)


def test_measured_runs_share_no_seed_and_have_no_option() -> None:
    said = text(planted({"one": CLEAR[:2]}, paired_by="number"))
    assert "seed" not in said and "--runs" not in said and "import 6 runs" in said


def test_failed_run_leaves_out_its_pair_and_is_told() -> None:
    found = planted({"one": [*CLEAR, (None, 1.0)], "two": [(1.0, None)]})
    assert [each["pairs"] for each in found["networks"]] == [8, 0]
    assert found["overall"]["networks"] == 1 and found["networks"][1]["ratio"] is None
    assert "failed" in verdict(found)
    assert failures_in(found) == [
        "failed: A on one, 1 of 9 runs: no datagram was delivered",
        "failed: B on two, 1 of 1 run: no datagram was delivered",
    ]
    json.dumps(found, allow_nan=False)
    assert "nothing to compare" in verdict(planted({"two": [(1.0, None)]}))


def test_enough_pairs_are_counted() -> None:
    steady: list[tuple[float | None, float | None]] = [(2.0, 1.0)] * 8
    assert "6 pairs per network would be enough" in text(planted({"one": steady}))
    noisy = text(planted({"one": steady, "two": [(k, 1.0) for k in range(1, 9)]}))
    assert "More pairs are needed to know A/B within 1 % on 1 of 2 networks" in noisy


def test_ratios_are_drawn(workspace: Path, tmp_path: Path) -> None:
    path = tmp_path / "figures/ratios.svg"
    words = ("--network", "wire", "--network", "slow", "--runs", "2", "--plot", str(path))
    assert ask(workspace, *WINDOWS, *words).returncode == 0
    assert path.read_bytes().startswith(b"<?xml")
    refused(workspace, *WINDOWS, "--plot", "ratios.gif")
