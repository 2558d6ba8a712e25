"""The emulator on the contest's trace, against figures from other sources.

The real figures are means of runs of mahimahi 0.98 on Debian 12; the figures of the ideal clock
come from an independent simulation with the order of events that docs/emulator.md gives for a
millisecond.
"""

from typing import NamedTuple

import pytest

from tests.controllers.emulator import Link, emulate, mean_figures


class Setting(NamedTuple):
    """A controller, its parameters and its figures: Mbit/s, ms, ms."""

    controller: str
    parameters: dict[str, float]
    ideal: tuple[float, float, float]
    real: tuple[float, float, float]


FITTED = [
    Setting("fixed_window", {"window": 5}, (1.091, 33, 110), (1.08, 33, 110)),
    Setting("fixed_window", {"window": 10}, (2.003, 55, 155), (1.98, 54, 155)),
    Setting("fixed_window", {"window": 12}, (2.318, 64, 177), (2.30, 64, 177)),
    Setting("fixed_window", {"window": 15}, (2.745, 75, 215), (2.72, 75, 214)),
    Setting("fixed_window", {"window": 20}, (3.337, 96, 278), (3.31, 96, 278)),
    Setting("fixed_window", {"window": 50}, (4.809, 237, 609), (4.79, 237, 609)),
]
PREDICTED = [
    Setting(
        "delay_threshold",
        {"alpha": 1, "beta": 10, "rtt_threshold_ms": 100},
        (3.901, 67, 149),
        (3.84, 66, 149),
    ),
    Setting(
        "delay_threshold",
        {"alpha": 1, "beta": 10, "rtt_threshold_ms": 90},
        (3.645, 56, 139),
        (3.56, 55, 135),
    ),
    Setting("aimd_timeout", {"alpha": 0.1, "beta": 1.5}, (2.906, 144, 228), (2.71, 136, 213)),
    Setting("aimd_timeout", {"alpha": 1, "beta": 2}, (4.755, 456, 849), (4.73, 454, 826)),
]


def _name(setting: Setting) -> str:
    return f"{setting.controller}-{'-'.join(f'{value:g}' for value in setting.parameters.values())}"


@pytest.mark.parametrize("setting", FITTED + PREDICTED, ids=_name)
def test_ideal_clock_gives_its_known_figures(contest: Link, setting: Setting) -> None:
    figures = emulate(contest, setting.controller, setting.parameters, "--host-model", "ideal")
    throughput_mbps, queueing_ms, signal_ms = setting.ideal
    assert figures["throughput_mbps"] == pytest.approx(throughput_mbps, rel=0.0005)
    assert figures["queueing_delay_p95_ms"] == pytest.approx(queueing_ms, abs=1)
    assert figures["signal_delay_p95_ms"] == pytest.approx(signal_ms, abs=1)
    assert figures["capacity_mbps"] == pytest.approx(58655 * 1504 * 8 / 140e6, rel=1e-12)


@pytest.mark.parametrize("setting", FITTED, ids=_name)
def test_event_loop_model_fits_the_real_fixed_windows(contest: Link, setting: Setting) -> None:
    figures = mean_figures(contest, setting.controller, setting.parameters, 5)
    assert figures["throughput_mbps"] == pytest.approx(setting.real[0], rel=0.01)
    assert figures["queueing_delay_p95_ms"] == pytest.approx(setting.real[1], abs=2)
    assert figures["signal_delay_p95_ms"] == pytest.approx(setting.real[2], abs=2)


# Without the device's limit: 17449 and 19725 ms of signal delay.
@pytest.mark.parametrize(
    ("window", "signal_ms"),
    [(400, 3382), (1000, 6910), (4000, 14356), (6000, 15527), (8000, 16382)],
)
def test_windows_that_open_at_once_are_as_late_as_in_real_runs(
    contest: Link, window: int, signal_ms: float
) -> None:
    options = ("--duration-s", "20", "--host-latency-us", "600")
    figures = mean_figures(contest, "fixed_window", {"window": window}, 3, *options)
    assert figures["throughput_mbps"] == pytest.approx(4.96, rel=0.01)
    assert figures["signal_delay_p95_ms"] == pytest.approx(signal_ms, rel=0.06)


def test_controller_that_opens_with_a_burst_loses_half_of_it(contest: Link) -> None:
    """Five real runs: 4.14 to 4.24 Mbit/s, 233 to 505 ms; without the device's limit 10 s."""
    options = ("--host-latency-us", "600")
    figures = mean_figures(contest, "aimd_rtt", {"initial_window": 6666}, 5, *options)
    assert figures["throughput_mbps"] == pytest.approx(4.22, rel=0.01)
    assert 233 <= figures["signal_delay_p95_ms"] < 600
