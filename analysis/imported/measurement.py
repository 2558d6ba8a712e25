"""What a file of any tool says: one form for all formats."""

import gzip
import json
import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import pandas as pd

from analysis import over_time
from common.errors import KneepointError

_MOST_JSON_BYTES = 2**28
_MOST_INTERVALS = 4096


@dataclass(frozen=True, eq=False)
class Measurement:
    """One run, as far as its file tells.

    `metrics` are fields of `engines.base.RunRecord`; what is missing stands in `absent`. `flows`
    have the name and FLOW_METRICS; the first is that of all together. `series` is that of
    `analysis.over_time`. `notes` say how the figures were read where the file leaves a choice.
    `controller`, of all flows, `network` and `number`, the run's, are "" or None where the file
    says nothing.
    """

    path: Path
    format: str
    duration_s: float
    metrics: Mapping[str, float]
    flows: tuple[Mapping[str, object], ...]
    series: pd.DataFrame
    absent: tuple[str, ...] = ()
    controller: str = ""
    network: str = ""
    number: int | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Format:
    """A format: how it is recognised, from the first bytes, and read.

    `read` takes the path, for messages and files beside it, and the unpacked content; it raises
    KneepointError if the file is cut off or says nothing.
    """

    name: str
    recognises: Callable[[bytes], bool]
    read: Callable[[Path, BinaryIO], list[Measurement]]

    def refuse(self, path: Path, why: str) -> KneepointError:
        """The error for a file of this format that cannot be used."""
        return KneepointError(f"{path}: {self.name}, but {why}")


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """A file's content, unpacked if it is compressed by gzip.

    Raises:
        KneepointError: there is no such file, or it cannot be unpacked.
    """
    try:
        with path.open("rb") as packed:
            is_packed = packed.read(2) == b"\x1f\x8b"
            packed.seek(0)
            with gzip.open(packed) if is_packed else nullcontext(packed) as content:
                yield cast(BinaryIO, content)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise KneepointError(f"{path}: cannot be unpacked: {error}; was it cut off?") from None
    except OSError as error:
        raise KneepointError(f"{path}: {error.strerror}; name a file") from None


def read_object(known: Format, path: Path, stream: BinaryIO) -> dict[str, Any]:
    """The JSON object that is the whole file; raises KneepointError if it is none."""
    data = stream.read(_MOST_JSON_BYTES + 1)
    if len(data) > _MOST_JSON_BYTES:
        raise known.refuse(path, f"it has more than {_MOST_JSON_BYTES} bytes; shorten the run")
    try:
        found = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise known.refuse(path, f"it is no JSON: {error}; copy the whole file") from None
    if not isinstance(found, dict):
        raise known.refuse(path, "it is no JSON object; name a file that the tool wrote")
    return found


@contextmanager
def complete(known: Format, path: Path) -> Iterator[None]:
    """Refuses an object that lacks what all of its format have."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        why = f"it is not whole: {type(error).__name__} {error}; write it again"
        raise known.refuse(path, why) from None


class Delays:
    """How many delays there are of each whole microsecond."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()

    def add(self, delay_s: float) -> None:
        """Counts one."""
        self._counts[round(delay_s * 1e6)] += 1

    def figures(self, kind: str) -> dict[str, object]:
        """Mean, median and 95th percentile in ms, of FLOW_METRICS with this prefix, if any."""
        if not self._counts:
            return {}
        pairs = np.array(sorted(self._counts.items()))
        every_us, below = pairs[:, 0], np.cumsum(pairs[:, 1])
        places = [np.searchsorted(below, int(q * below[-1]), "right") for q in (0.5, 0.95)]
        p50, p95 = every_us[places] / 1000
        mean = float(pairs.prod(axis=1).sum() / below[-1] / 1000)
        return {f"{kind}_mean_ms": mean, f"{kind}_p50_ms": float(p50), f"{kind}_p95_ms": float(p95)}


class Gathered:
    """What packets did over time, in memory that does not grow with their number.

    Bytes and packets are summed over intervals, which double when there are too many of them.
    """

    def __init__(self) -> None:
        self.interval_s = 0.001
        self._sums: dict[str, np.ndarray] = {}

    def add(self, quantity: str, time_s: float, amount: float) -> None:
        """Adds to a sum (`delay_ms`: the greatest), at a time since the first event."""
        while (place := int(time_s / self.interval_s)) >= _MOST_INTERVALS:
            for name, each in self._sums.items():
                pairs = each.reshape(-1, 2)
                halves = pairs.max(axis=1) if name == "delay_ms" else pairs.sum(axis=1)
                self._sums[name] = np.concatenate([halves, np.zeros(_MOST_INTERVALS // 2)])
            self.interval_s *= 2
        sums = self._sums.setdefault(quantity, np.zeros(_MOST_INTERVALS))
        sums[place] = max(sums[place], amount) if quantity == "delay_ms" else sums[place] + amount

    def over_time(self, duration_s: float) -> dict[str, Any]:
        """In the form of `series_of`: of ingress_bytes, egress_bytes, delay_ms, queue_packets."""
        count = min(int(duration_s / self.interval_s) + 1, _MOST_INTERVALS)
        found: dict[str, Any] = {"interval_s": self.interval_s}
        for name, sums in self._sums.items():
            values = sums[:count]
            if name == "delay_ms":
                found[name] = np.where(values > 0, values, np.nan)
            elif name == "queue_packets":
                found[name] = np.cumsum(values)
            else:
                rate = values * 8 / self.interval_s / 1e6
                found[name.removesuffix("_bytes") + "_mbps"] = rate
        return found


def series_of(found: Mapping[str, Any], delay: str = over_time.QUEUEING) -> pd.DataFrame:
    """What a file says over time, from lists with a value an interval.

    Args:
        found: interval_s and, as far as they are known, capacity_mbps, ingress_mbps, egress_mbps,
            delay_ms (the greatest of an interval) and queue_packets (at its end).
        delay: the quantity that delay_ms is.

    Returns:
        That of `analysis.over_time`, with rates over at least half a second.
    """
    interval_s = float(found["interval_s"])
    together = math.ceil(0.5 / interval_s)
    quantities: dict[str, tuple[Any, Any]] = {}
    for name in over_time.RATES:
        if name in found:
            values = np.asarray(found[name], dtype=float)
            padded = np.append(values, np.zeros(-len(values) % together)).reshape(-1, together)
            starts = np.arange(len(padded)) * together * interval_s
            quantities[name] = (starts, padded.mean(axis=1))
    for name, quantity in (("delay_ms", delay), ("queue_packets", over_time.QUEUE)):
        if name in found:
            values = np.asarray(found[name], dtype=float)  # null is NaN
            times = np.arange(len(values)) * interval_s
            is_known = ~np.isnan(values)
            quantities[quantity] = (times[is_known], values[is_known])
    return over_time.long(quantities)
