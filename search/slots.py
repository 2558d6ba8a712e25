"""Real-time slots: how many real runs this host takes at once.

The probe measures it (search.probe); a host that was never probed offers one slot a core.
"""

import json
from pathlib import Path

from search.errors import unusable

RESOURCE = "real_time_slot"
"""What Ray calls a slot."""


def probe_file(results: Path) -> Path:
    """Returns where the probe's result stands."""
    return results / "probe" / "probe.json"


def slots_of(results: Path, cores: int) -> int:
    """Returns the number of slots of this host.

    Raises:
        KneepointError: the probe's result is damaged.
    """
    path = probe_file(results)
    try:
        slots = json.loads(path.read_bytes())["slots"]
    except FileNotFoundError:
        return cores
    except (OSError, ValueError, KeyError, TypeError):
        slots = None
    if not isinstance(slots, int) or slots < 1:
        raise unusable(path, "it has no number of slots")
    return slots
