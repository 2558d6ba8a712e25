"""References between what senders reach and the omniscient bound: senders that learn late."""

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
"""Of a longer run this much counts."""
_LEAST_MS = 20_000
"""Of a shorter one there are no two blocks to compare."""


@dataclass(frozen=True)
class Late:
    """The power (Mbit/s/s) of senders that learn of each opportunity a propagation round trip late.

    controllers/apps/late_senders.cc defines them. Neither the fitted window nor the forecasting one
    bounds a sender of another class. `late_even_power` and `late_odd_power` are those of a window
    that was fitted to every other block of 10 s, on these blocks and on the others.
    """

    late_power: float | None = None
    late_even_power: float | None = None
    late_odd_power: float | None = None
    forecast_power: float | None = None


def late_senders(network: PreparedNetwork) -> Late:
    """Fits late senders to a network's uplink, with neither a host nor a limit of the queue.

    A link of constant rate has none, for there what passed says all, nor has a short run.

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
