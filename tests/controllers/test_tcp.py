"""TCP's windows under periodic loss against RFC 9438, section 5.1, and what several flows share."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.controllers.emulator import EMULATE

SEGMENT_BITS = 1448 * 8
INTERVALS = 100

# Mean windows in segments: RTT in s, probability of loss, Reno, CUBIC with C = 0.4.
PUBLISHED = [
    (0.1, 1e-2, 12, 12),
    (0.1, 1e-3, 38, 38),
    (0.1, 1e-4, 120, 187),
    (0.1, 1e-5, 379, 1054),
    (0.01, 1e-2, 12, 12),
    (0.01, 1e-3, 38, 38),
    (0.01, 1e-4, 120, 120),
    (0.01, 1e-5, 379, 379),
]


def run(folder: Path, **scenario: Any) -> dict[str, Any]:
    file = folder / "scenario.json"
    file.write_text(json.dumps({"host_model": "ideal", **scenario}))
    result = subprocess.run([EMULATE, "--scenario", file], check=True, capture_output=True)
    figures: dict[str, Any] = json.loads(result.stdout)
    return figures


def tcp(controller: str, **changes: Any) -> dict[str, Any]:
    return {"controller": controller, "transport": "tcp", **changes}


def mean_window(folder: Path, controller: str, rtt_s: float, loss: float, expected: float) -> float:
    """Returns the mean window over 20 losses.

    CUBIC takes hundreds of losses to find where its windows stay, so that the first loss comes
    where RFC 9438 expects one: at 4 / (3 + beta) of the mean window, reached from the mean by
    C t^3 or by a segment a round. Without fast convergence: the flow is alone, and the analysis
    leaves that out.
    """
    link = {"rate_mbps": 100000, "delay_ms": rtt_s * 500}
    constants: dict[str, float] = {"initial_window": expected, "initial_ssthresh": expected}
    first = 1 / loss / 2
    if controller == "cubic":
        constants["fast_convergence"] = 0
        peak = expected * 4 / 3.7
        climb_s = min(((peak - expected) / 0.4) ** (1 / 3), (peak - expected) * rtt_s)
        first = (expected + peak) / 2 * climb_s / rtt_s
    cycle_s = max(1 / loss / expected, 1) * rtt_s
    duration_s = (first * loss + 20) * cycle_s
    figures = run(
        folder,
        uplink={**link, "loss_period": round(1 / loss), "loss_first": round(first)},
        downlink=link,
        flows=[tcp(controller, constants=constants, tcp={"delayed_ack_ms": 0})],
        duration_s=duration_s,
        interval_s=duration_s / INTERVALS,
    )
    rates = figures["flows"][0]["throughput_by_interval_mbps"][INTERVALS // 4 : INTERVALS]
    return float(sum(rates) / len(rates) * 1e6 / SEGMENT_BITS * rtt_s)


@pytest.mark.parametrize(("rtt_s", "loss", "reno", "cubic"), PUBLISHED)
def test_mean_windows_are_those_of_rfc_9438(
    tmp_path: Path, rtt_s: float, loss: float, reno: float, cubic: float
) -> None:
    tolerance = 0.1 if loss == 1e-2 else 0.05
    for controller, expected in (("reno", reno), ("cubic", cubic)):
        window = mean_window(tmp_path, controller, rtt_s, loss, expected)
        assert window == pytest.approx(expected, rel=tolerance), controller


def test_a_flow_gets_what_the_link_leaves_of_its_headers(tmp_path: Path) -> None:
    link = {"rate_mbps": 1.504, "delay_ms": 10, "queue": "droptail:packets=100"}
    figures = run(
        tmp_path,
        uplink=link,
        downlink={"rate_mbps": 100, "delay_ms": 10},
        flows=[tcp("reno")],
        probes=[{"interval_ms": 100}],
        duration_s=300,
    )
    flow = figures["flows"][0]
    assert flow["goodput_mbps"] == pytest.approx(1.448, rel=0.01)
    assert figures["uplink"]["utilization"] == pytest.approx(1, abs=0.01)
    assert 300 < figures["probes"][0]["rtt_p50_ms"] < 850  # 100 packets take 800 ms


@pytest.mark.parametrize("controller", ["reno", "cubic"])
def test_two_of_a_kind_share_alike(tmp_path: Path, controller: str) -> None:
    figures = run(
        tmp_path,
        uplink={"rate_mbps": 8, "delay_ms": 25, "queue": "droptail:packets=33"},
        downlink={"rate_mbps": 100, "delay_ms": 25},
        flows=[tcp(controller), tcp(controller, start_s=5)],
        duration_s=120,
        interval_s=1,
    )
    assert figures["jains_index"] > 0.95
    assert figures["convergence_s"] is not None


@pytest.mark.parametrize("sack", [True, False])
def test_a_file_of_known_size_completes(tmp_path: Path, sack: bool) -> None:
    figures = run(
        tmp_path,
        uplink={"rate_mbps": 10, "delay_ms": 25, "loss_probability": 0.02},
        downlink={"rate_mbps": 10, "delay_ms": 25, "loss_probability": 0.02},
        flows=[tcp("reno", bytes=1448 * 500, tcp={"sack": sack})],
        duration_s=120,
        seed=1,
    )
    flow = figures["flows"][0]
    assert 0.9 < flow["completion_s"] < 60
    assert flow["packets_sent"] == 500 + flow["retransmissions"]
    assert flow["goodput_mbps"] == pytest.approx(1448 * 500 * 8 / 1e6 / flow["completion_s"])


def test_a_scenario_is_the_same_whatever_its_place_in_a_batch(tmp_path: Path) -> None:
    lines = []
    for seed in (1, 2):
        file = tmp_path / f"{seed}.json"
        flows = [tcp("cubic"), {"controller": "fixed_window"}, tcp("timely")]
        link = {"rate_mbps": 5, "delay_ms": 20, "queue": "pie:qdelay_ref=15,max_burst=150"}
        scenario = {"uplink": link, "downlink": link, "flows": flows, "duration_s": 10}
        file.write_text(json.dumps({**scenario, "seed": seed}))
        lines.append(f"--scenario {file}\n")

    def answers(batch: list[str]) -> list[str]:
        command = [str(EMULATE), "--batch"]
        result = subprocess.run(command, input="".join(batch), capture_output=True, text=True)
        return result.stdout.splitlines()

    first, second = answers(lines)
    assert answers(lines[::-1]) == [second, first]
    assert first != second


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"flows": []}, ".flows has no flow"),
        (
            {"flows": [tcp("reno", start_s=20)]},
            ".flows[0].start_s is not before the end of the run",
        ),
        ({"flows": [tcp("reno", start_s=2, stop_s=1)]}, ".flows[0].stop_s is not after start_s"),
        ({"flows": [tcp("renno")]}, "no controller is named 'renno'"),
        ({"flows": [tcp("reno", transport="sctp")]}, 'is neither "datagrams" nor "tcp"'),
        ({"uplink": {"delay_ms": 1}}, ".uplink needs either trace or rate_mbps"),
        (
            {"uplink": {"rate_mbps": 1, "loss_probability": 1.5}},
            "loss_probability 1.5 is outside [0, 1]",
        ),
        ({"uplink": {"rate_mbps": 1, "queue": "droptail:packets=0"}}, "packets must be at least 1"),
        (
            {"uplink": {"rate_mbps": 1, "delay_trace": "{backwards}"}},
            "line 2: 0 ms does not follow",
        ),
        ({"duration_s": None}, "duration_s is not a number"),
        ({"bandwidth": 1}, "has no key 'bandwidth'; there are: uplink downlink flows"),
    ],
)
def test_bad_scenarios_are_refused_in_one_line(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    backwards = tmp_path / "backwards"
    backwards.write_text("5 10\n0 10\n")
    link = {"rate_mbps": 5, "delay_ms": 20}
    scenario = {"uplink": link, "downlink": link, "flows": [tcp("reno")], "duration_s": 10}
    file = tmp_path / "scenario.json"
    file.write_text(json.dumps({**scenario, **changes}).replace("{backwards}", str(backwards)))
    result = subprocess.run([EMULATE, "--scenario", file], capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (2, "")
    assert result.stderr.startswith("error: ") and result.stderr.count("\n") == 1
    assert message in result.stderr
