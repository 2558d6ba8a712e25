"""Units of quantities by the suffix of their names: `rtt_ms` is in ms, `rate_per_s` in 1/s."""

from collections.abc import Mapping

UNITS: Mapping[str, str] = {
    "packets_per_s": "packets/s",
    "per_s": "1/s",
    **{"ms": "ms", "us": "µs", "s": "s", "mbps": "Mbit/s", "packets": "packets"},
}
"""Units by suffix, the longest suffix first."""


def suffix_of(name: str) -> str:
    """Returns the suffix of a name that is a unit, or ""."""
    return next((suffix for suffix in UNITS if name.endswith(f"_{suffix}")), "")


def unit_of(name: str) -> str:
    """Returns the unit of a name's suffix, or ""."""
    return UNITS.get(suffix_of(name), "")
