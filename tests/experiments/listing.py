"""A small `emulate --list`, so that these tests need no build."""

from typing import Any

from kneepoint.engines.catalogue import Catalogue


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


def controller(name: str, *constants: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Returns one declared controller."""
    fields: dict[str, Any] = {
        **{"name": name, "sha256": "c" * 64, "summary": "", "source": ""},
        **{"needs": [], "transports": ["datagrams", "tcp"], "constants": [*constants]},
    }
    return fields | changes


LISTING: dict[str, Any] = {
    "controllers": [
        controller(
            "fixed_window",
            constant("keepalive_ms", type="integer", default=1000, low=15, high=1000, least=1),
            constant("window", type="integer", default=50, low=1, high=100, least=1),
        ),
        controller(
            "delay_threshold",
            constant("alpha"),
            constant("beta", most=50.0),
            constant("rtt_threshold_ms", low=45.0, high=200.0, scale="linear"),
        ),
        controller("prague", needs=["marks"], transports=["tcp"]),
    ],
    "broken": [],
}

CATALOGUE = Catalogue(LISTING)
