"""Report 003's network, as a scenario for the emulator and the kernel."""

from typing import Any

BUFFERBLOAT: dict[str, Any] = {
    "uplink": {"rate_mbps": 1.5, "delay_ms": 10, "queue": "droptail:packets=100"},
    "downlink": {"rate_mbps": 100, "delay_ms": 10},
    "flows": [
        {"controller": "reno", "transport": "tcp"},
        {"controller": "reno", "transport": "tcp", "start_s": 5, "bytes": 177_669},
    ],
    "probes": [{"interval_ms": 500}],
    "duration_s": 15,
    "interval_s": 1,
}
