"""Impairments of packets before a link, in whole runs."""

import json
import statistics
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kneepoint.networks.traffic import LINUX
from tests.controllers.emulator import EMULATE

SECONDS = 30
TRACE = "1\n"
"""A packet each millisecond."""


def run(
    folder: Path, is_trace: bool, impairments: dict[str, list[str]], seed: int = 1, **keys: object
) -> dict[str, Any]:
    """Returns the figures of a TCP flow, a flow of datagrams, and probes."""
    (folder / "trace").write_text(TRACE)
    kind: dict[str, Any] = {"trace": str(folder / "trace")} if is_trace else {"rate_mbps": 12}
    links = {
        direction: {**kind, "delay_ms": 20, "impairments": impairments.get(direction, []), **keys}
        for direction in ("uplink", "downlink")
    }
    tcp = {"transport": "tcp", "tcp": LINUX.model_dump(exclude_none=True)}
    scenario = {
        **links,
        "flows": [
            {"controller": "fixed_window", "parameters": {"window": 10}, **tcp},
            {"controller": "fixed_window", "parameters": {"window": 10}},
        ],
        "probes": [{"interval_ms": 10}],
        "host_model": "ideal",
        "duration_s": SECONDS,
        "seed": seed,
    }
    (folder / "scenario.json").write_text(json.dumps(scenario))
    command = [str(EMULATE), "--scenario", str(folder / "scenario.json")]
    answer = subprocess.run(command, check=True, capture_output=True)
    figures: dict[str, Any] = json.loads(answer.stdout)
    assert figures["status"] == "ok"
    return figures


def rtts_ms(figures: dict[str, Any]) -> list[float]:
    return [each for each in figures["probes"][0]["rtts_ms"] if each is not None]


@pytest.mark.parametrize("is_trace", [False, True])
@pytest.mark.parametrize("direction", ["uplink", "downlink"])
def test_each_delays_and_loses_as_stated(tmp_path: Path, direction: str, is_trace: bool) -> None:
    plain = run(tmp_path, is_trace, {})
    jitter = {direction: ["jitter-normal:mean=30,deviation=5"]}
    first, again, other = (run(tmp_path, is_trace, jitter, seed) for seed in (1, 1, 2))
    assert first == again != other
    added_ms = statistics.mean(rtts_ms(first)) - statistics.mean(rtts_ms(plain))
    assert added_ms == pytest.approx(30, abs=0.7)
    assert statistics.stdev(rtts_ms(first)) == pytest.approx(5, abs=0.5)

    off = run(tmp_path, is_trace, {direction: ["on_off:on=2,off=1"]})
    answered = off["probes"][0]["answered"] / off["probes"][0]["sent"]
    assert answered == pytest.approx(2 / 3, abs=0.01)
    assert (
        off[direction]["packets_lost"] > SECONDS / 3 * 100 > plain[direction]["packets_lost"] == 0
    )

    overtaking = run(tmp_path, is_trace, {direction: ["reordering:share=0.25,delay=10"]})
    late_ms = [each - min(rtts_ms(overtaking)) for each in rtts_ms(overtaking)]
    assert sum(each < 5 for each in late_ms) / len(late_ms) == pytest.approx(0.25, abs=0.03)


@pytest.mark.parametrize("is_trace", [False, True])
def test_what_is_lost_after_the_link_has_crossed_it(tmp_path: Path, is_trace: bool) -> None:
    before, after = (
        run(tmp_path, is_trace, {}, loss_probability=0.1, loss_after_link=is_after)
        for is_after in (False, True)
    )
    for figures in (before, after):
        entered = figures["packets_sent"] + figures["probes"][0]["sent"]
        assert figures["packets_lost"] / entered == pytest.approx(0.1, abs=0.01)
        assert figures["downlink"]["packets_lost"] > 100
    carried = [figures["uplink"]["throughput_mbps"] for figures in (before, after)]
    assert carried[1] / carried[0] == pytest.approx(1 / 0.9, abs=0.02)
