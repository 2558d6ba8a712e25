"""Reference senders between real senders and the omniscient bound: they learn of the link late."""

from dataclasses import dataclass
from pathlib import Path

from kneepoint.common.errors import KneepointError
from kneepoint.common.json_text import parse_json
from kneepoint.common.places import BUILT
from kneepoint.common.programs import run_built
from kneepoint.networks.scenario import PreparedNetwork
from kneepoint.networks.traces import times_of

LATE_SENDERS = BUILT / "late_senders"
_LONGEST_MS = 300_000
"""The part of a longer run that counts."""
_LEAST_MS = 20_000
"""Two blocks of 10 s, which the fit compares."""


@dataclass(frozen=True)
class Late:
    """Power (Mbit/s/s) of senders that learn of each opportunity a propagation round trip late.

    controllers/apps/late_senders.cc defines the senders; they bound no sender of another class.

    Args:
        late_power: the fitted window.
        late_even_power: a window fitted to every other block of 10 s, on these blocks.
        late_odd_power: the same window on the other blocks.
        forecast_power: the forecasting window.
    """

    late_power: float | None = None
    late_even_power: float | None = None
    late_odd_power: float | None = None
    forecast_power: float | None = None


def late_senders(network: PreparedNetwork) -> Late:
    """Fits late senders to a network's uplink, without host delays and with an infinite queue.

    All values are None for a link of constant rate, whose past tells its future, and for short
    runs.

    Raises:
        KneepointError: the program fails.
    """
    uplink, downlink = network.uplink, network.downlink
    traces = [Path(link.trace) for link in (uplink, downlink) if link.trace]
    if network.duration_s is not None:
        end_ms = round(network.duration_s * 1000)
    else:
        end_ms = min(times_of(trace.read_bytes())[-1] for trace in traces)
    if not uplink.trace or end_ms < _LEAST_MS:
        return Late()
    round_trip_ms = round(uplink.delay_ms + downlink.delay_ms)
    printed, status, complaint = run_built(
        LATE_SENDERS, uplink.trace, str(min(end_ms, _LONGEST_MS)), str(round_trip_ms)
    )
    if status != 0:
        raise KneepointError(f"{LATE_SENDERS}: {complaint}")
    found = parse_json(printed)
    return Late(found["fitted"], found["even"], found["odd"], found["forecast"])
