"""A configuration that fits the emulated host to real runs."""

from typing import Any

CONFIRM: dict[str, Any] = {
    "network": "wire",
    "best": False,
    "contradicted": False,
    "settings": [{"controller": "delay_threshold", "parameters": {"alpha": 2}}],
    "emulated": 4,
    "calibration": {
        "windows": [5, 12, 20],
        "host": {
            "host_latency_us": {"values": [0, 50, 100, 150, 200, 300]},
            "delay_scale": {"values": [0.5, 1]},
        },
        "runs_per_trial": 2,
        "wake_spread": [0, 0.25, 0.5, 1],
    },
}
