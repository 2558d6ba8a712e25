"""A small `emulate --list`, so that these tests need no build."""

from typing import Any

from kneepoint.engines.catalogue import Catalogue


def parameter(name: str, **changes: Any) -> dict[str, Any]:
    """Returns one declared parameter; `changes` replaces its fields."""
    fields: dict[str, Any] = {
        "name": name,
        "type": "real",
        "default": 1.0,
        "low": 0.1,
        "high": 10.0,
        "min": 0.0,
        "max": None,
        "scale": "log",
        "unit": "packets",
        "meaning": "a parameter of the tests",
    }
    return fields | changes


def controller(name: str, *parameters: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Returns one declared controller."""
    fields: dict[str, Any] = {
        **{"name": name, "sha256": "c" * 64, "summary": "", "source": ""},
        **{"needs": [], "transports": ["datagrams", "tcp"], "parameters": [*parameters]},
    }
    return fields | changes


LISTING: dict[str, Any] = {
    "controllers": [
        controller(
            "fixed_window",
            parameter("keepalive_ms", type="integer", default=1000, low=15, high=1000, min=1),
            parameter("window", type="integer", default=50, low=1, high=100, min=1),
        ),
        controller(
            "delay_threshold",
            parameter("alpha"),
            parameter("beta", max=50.0),
            parameter("rtt_threshold_ms", low=45.0, high=200.0, scale="linear"),
        ),
        controller("prague", needs=["marks"], transports=["tcp"]),
    ],
    "broken": [],
}

CATALOGUE = Catalogue(LISTING)
