"""The field's controllers: their defaults, and what they reach, against their sources."""

import json
import subprocess

import pytest

from tests.controllers.emulator import EMULATE

DEFAULTS = {
    # Brakmo & Peterson, JSAC 1995, and Linux's tcp_vegas.c.
    "vegas": {"alpha": 2, "beta": 4, "gamma": 1, "initial_window": 10, "keepalive_ms": 1000},
    # RFC 6817, sections 2.4.2 and 2.5.
    "ledbat": {
        "target_ms": 100,
        "gain": 1,
        "current_filter": 4,
        "base_history_min": 10,
        "allowed_increase": 1,
        "initial_window": 2,
        "keepalive_ms": 1000,
    },
    # draft-irtf-iccrg-ledbat-plus-plus, section 4.
    "ledbat_pp": {
        "target_ms": 60,
        "decrease": 1,
        "slowdown_factor": 9,
        "base_history_min": 10,
        "initial_window": 2,
        "keepalive_ms": 1000,
    },
    # Caini & Firrincieli, IJSCN 2004.
    "hybla": {"rtt0_ms": 25, "beta": 0.5, "initial_window": 10, "keepalive_ms": 1000},
    # Linux's tcp_bic.c; min_increment: Xu, Harfoush & Rhee, INFOCOM 2004.
    "bic": {
        "max_increment": 16,
        "min_increment": 0.01,
        "beta": 819 / 1024,
        "low_window": 14,
        "smooth_part": 20,
        "fast_convergence": 1,
        "initial_window": 10,
        "keepalive_ms": 1000,
    },
    # Contest reports; what they leave open is ours.
    "dalida": {
        "initial_window": 60,
        "new_share": 0.8,
        "deviation_share": 0.6,
        "target": 1.5,
        "deviations": 2,
        "increase": 1.5,
        "decrease": 3,
        "silence_factor": 0.9,
        "keepalive_ms": 50,
    },
    "tensor_fairness": {
        "delay_ms": 18,
        "new_share": 0.1,
        "increase": 0.6,
        "decrease": 0.0125,
        "silence_factor": 0.75,
    },
    "rate_horizon": {"horizon_ms": 60, "keepalive_ms": 50},
    "pid": {"target_ms": 80, "kp": 5, "ki": 20, "kd": 0, "gain": 0.5, "keepalive_ms": 50},
    # Arun & Balakrishnan, NSDI 2018.
    "copa": {
        "delta": 0.5,
        "min_rtt_s": 10,
        "standing_share": 0.5,
        "competitive": 1,
        "initial_window": 10,
        "keepalive_ms": 1000,
    },
    # draft-cardwell-iccrg-bbr-congestion-control-00.
    "bbr": {
        "high_gain": 2.885,
        "cwnd_gain": 2,
        "probe_gain": 1.25,
        "rate_rounds": 10,
        "full_growth": 1.25,
        "min_rtt_s": 10,
        "probe_rtt_ms": 200,
        "initial_window": 10,
        "keepalive_ms": 1000,
    },
}


@pytest.mark.parametrize("name", DEFAULTS)
def test_defaults_are_published(name: str) -> None:
    listed = json.loads(subprocess.run([EMULATE, "--list"], check=True, capture_output=True).stdout)
    declared = {each["name"]: each for each in listed["controllers"]}[name]
    defaults = {each["name"]: each["default"] for each in declared["constants"]}
    assert {key: defaults[key] for key in DEFAULTS[name]} == DEFAULTS[name]
