"""A small `emulate --list`, so that these tests need no build."""

from typing import Any

from engines.catalogue import Catalogue


def constant(name: str, **changes: Any) -> dict[str, Any]:
    """Returns one declared constant; `changes` replaces its fields."""
    fields: dict[str, Any] = {
        "name": name,
        "type": "real",
        "default": 1.0,
        "low": 0.1,
        "high": 10.0,
        "least": 0.0,
        "most": None,
        "scale": "log",
        "unit": "packets",
        "meaning": "a constant of the tests",
    }
    return fields | changes


LISTING: dict[str, Any] = {
    "controllers": [
        {
            "name": "fixed_window",
            "sha256": "c" * 64,
            "summary": "",
            "source": "",
            "needs": [],
            "transports": ["datagrams", "tcp"],
            "constants": [
                constant("keepalive_ms", type="integer", default=1000, low=15, high=1000, least=1),
                constant("window", type="integer", default=50, low=1, high=100, least=1),
            ],
        },
        {
            "name": "delay_threshold",
            "sha256": "c" * 64,
            "summary": "",
            "source": "",
            "needs": [],
            "transports": ["datagrams", "tcp"],
            "constants": [
                constant("alpha"),
                constant("beta", most=50.0),
                constant("rtt_threshold_ms", low=45.0, high=200.0, scale="linear"),
            ],
        },
        {
            "name": "prague",
            "sha256": "c" * 64,
            "summary": "",
            "source": "",
            "needs": ["marks"],
            "transports": ["tcp"],
            "constants": [],
        },
    ],
    "broken": [],
}

CATALOGUE = Catalogue(LISTING)
