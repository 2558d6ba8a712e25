"""Reads mahimahi's link log, and what it says over time.

The format is mm-link's own (and mm-throughput-graph's): header lines that begin with `#`, then
one event a line, times in milliseconds:

    T + BYTES          a packet arrived at the link
    T # BYTES          an opportunity to deliver so many bytes
    T - BYTES DELAY    a packet departed, DELAY ms after it had arrived
    T d PACKETS BYTES  the queue dropped packets

Rates and delays are by the definitions of mm-throughput-graph and mm-delay-graph.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from common.errors import KneepointError

Integers = NDArray[np.int64]
Columns = dict[str, NDArray[Any]]
"""A table: arrays of one length by the names of its columns."""

BIN_MS = 500
"""The width of a bin that the contest's graphs use."""

_EVENT = re.compile(rb"^\d{1,18} (?:[+#] \d{1,18}|[-d] \d{1,18} \d{1,18})$", re.MULTILINE)
_KINDS = b"+#-d"
_KIND_AS_NUMBER = bytes.maketrans(_KINDS, b"0123")


@dataclass(frozen=True)
class LinkLog:
    """The events of one link, in order, times in ms since the log's base timestamp."""

    trace: str
    queue: str
    arrival_ms: Integers
    arrival_bytes: Integers
    opportunity_ms: Integers
    opportunity_bytes: Integers
    departure_ms: Integers
    departure_bytes: Integers
    departure_delay_ms: Integers
    drop_ms: Integers
    drop_packets: Integers

    @property
    def first_ms(self) -> int:
        """The time of the first event."""
        return min(int(times[0]) for times in self._times() if times.size)

    @property
    def last_ms(self) -> int:
        """The time of the last event."""
        return max(int(times[-1]) for times in self._times() if times.size)

    def _times(self) -> tuple[Integers, ...]:
        return self.arrival_ms, self.opportunity_ms, self.departure_ms, self.drop_ms


def read_link_log(path: Path) -> LinkLog:
    """Reads a whole log.

    Raises:
        KneepointError: the file is missing, has no base timestamp or no event, or a line is not
            an event or goes back in time; the message names the line.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise KneepointError(f"{path}: {error.strerror}; name a log of mm-link") from None
    header, body = _split_header(data)
    base_ms = _header_value(header, "base timestamp")
    if base_ms is None or not base_ms.isdigit():
        raise KneepointError(f"{path}: no line '# base timestamp: N'; name a log of mm-link")
    events = _read_events(path, body, first_line=data.count(b"\n", 0, len(data) - len(body)) + 1)
    events["ms"] -= int(base_ms)
    arrivals, opportunities, departures, drops = (
        {name: column[events["kind"] == kind] for name, column in events.items()}
        for kind in range(len(_KINDS))
    )
    trace = re.search(r"\[(.*?)\]", header)
    return LinkLog(
        trace=trace.group(1) if trace else "",
        queue=_header_value(header, "queue") or "",
        arrival_ms=arrivals["ms"],
        arrival_bytes=arrivals["first"],
        opportunity_ms=opportunities["ms"],
        opportunity_bytes=opportunities["first"],
        departure_ms=departures["ms"],
        departure_bytes=departures["first"],
        departure_delay_ms=departures["second"],
        drop_ms=drops["ms"],
        drop_packets=drops["first"],
    )


def _split_header(data: bytes) -> tuple[str, bytes]:
    start = 0
    while data.startswith(b"#", start):
        end = data.find(b"\n", start)
        start = len(data) if end < 0 else end + 1
    return data[:start].decode(errors="replace"), data[start:]


def _header_value(header: str, key: str) -> str | None:
    match = re.search(rf"^# {key}: *(.*?)\s*$", header, re.MULTILINE)
    return match.group(1) if match else None


def _read_events(path: Path, body: bytes, first_line: int) -> Columns:
    """The events as columns ms, kind, first, second (0 where a kind has no second number)."""
    if not body.strip():
        raise KneepointError(f"{path}: the log holds no event; was the run cut short?")
    body = body.removesuffix(b"\n") + b"\n"
    if len(_EVENT.findall(body)) != body.count(b"\n"):
        raise _bad_line(path, body, first_line)
    # With its kind as a number, every line now has three or four numbers.
    numbers = np.fromstring(body.translate(_KIND_AS_NUMBER), dtype=np.int64, sep=" ")
    characters = np.frombuffer(body, dtype=np.uint8)
    spaces = np.cumsum(characters == ord(" "))[characters == ord("\n")]
    lengths = np.diff(spaces, prepend=0) + 1
    starts = np.cumsum(lengths) - lengths
    found = {
        "ms": numbers[starts],
        "kind": numbers[starts + 1],
        "first": numbers[starts + 2],
        "second": np.where(lengths == 4, numbers[starts + lengths - 1], 0),
    }
    backward = np.flatnonzero(np.diff(found["ms"]) < 0)
    if backward.size:
        line = first_line + int(backward[0]) + 1
        raise KneepointError(f"{path}:{line}: the time goes backward; log one link to one file")
    return found


def _bad_line(path: Path, body: bytes, first_line: int) -> KneepointError:
    """Names the first line that is no event."""
    lines = enumerate(body.removesuffix(b"\n").split(b"\n"), first_line)
    number, line = next((n, line) for n, line in lines if not _EVENT.fullmatch(line))
    if re.search(rb"\d{19}", line):
        return KneepointError(f"{path}:{number}: a number of the log is too large")
    shown = line[:60].decode(errors="replace")
    return KneepointError(
        f"{path}:{number}: {shown!r} is not an event of a link log; was the run cut short?"
    )


# What it says over time ----------------------------------------------------------------------


@dataclass(frozen=True)
class LinkMetrics:
    """The figures of one run over one link."""

    throughput_mbps: float
    capacity_mbps: float
    queueing_delay_p95_ms: float
    signal_delay_p95_ms: float

    @property
    def power(self) -> float:
        """Throughput over signal delay, in Mbit/s per second."""
        return self.throughput_mbps / (self.signal_delay_p95_ms / 1000)


def rates(log: LinkLog, bin_ms: int = BIN_MS) -> Columns:
    """Mean rates in bins of `bin_ms`.

    Returns:
        Columns start_s, capacity_mbps, ingress_mbps, egress_mbps; one row a bin. The last bin
        is divided by its full width although the log may end within it, as mm-throughput-graph
        does.
    """
    bins = log.last_ms // bin_ms + 1

    def rate(times_ms: Integers, sizes: Integers) -> NDArray[np.float64]:
        total = np.bincount(times_ms // bin_ms, weights=sizes, minlength=bins)
        return total * 8 / (bin_ms * 1000)

    return {
        "start_s": np.arange(bins) * bin_ms / 1000,
        "capacity_mbps": rate(log.opportunity_ms, log.opportunity_bytes),
        "ingress_mbps": rate(log.arrival_ms, log.arrival_bytes),
        "egress_mbps": rate(log.departure_ms, log.departure_bytes),
    }


def end_s(start_s: ArrayLike) -> float:
    """The end of the last of the bins of rates, which begin at `start_s`."""
    return float(np.asarray(start_s)[-1]) + BIN_MS / 1000


def signal_delay(log: LinkLog) -> Columns:
    """The age of the newest information, for each ms from the first to the last arrival.

    A millisecond in which packets arrived that later departed has the least of their delays; one
    without has its successor's value plus one.

    Returns:
        Columns time_ms, delay_ms; one row a millisecond.
    """
    arrived_ms = log.departure_ms - log.departure_delay_ms
    first = int(arrived_ms.min())
    time_ms = np.arange(first, int(arrived_ms.max()) + 1)
    least = np.full(time_ms.size, np.iinfo(np.int64).max)
    np.minimum.at(least, arrived_ms - first, log.departure_delay_ms)
    # value(t) = value(t + 1) + 1 means: value(t) + t is that of the next arrival.
    known = np.flatnonzero(least < np.iinfo(np.int64).max)
    following = known[np.searchsorted(known, np.arange(time_ms.size))]
    delay_ms = least[following] + following - np.arange(time_ms.size)
    return {"time_ms": time_ms, "delay_ms": delay_ms}


def packet_delays(log: LinkLog) -> Columns:
    """Each departed packet's queueing delay: columns departure_ms, delay_ms."""
    return {"departure_ms": log.departure_ms, "delay_ms": log.departure_delay_ms}


def queue_length(log: LinkLog) -> Columns:
    """How many packets wait after each event: columns time_ms, packets."""
    times = np.concatenate([log.arrival_ms, log.departure_ms, log.drop_ms])
    changes = np.concatenate(
        [np.ones_like(log.arrival_ms), -np.ones_like(log.departure_ms), -log.drop_packets]
    )
    # Of one millisecond, arrivals first: what departs or is dropped has arrived.
    order = np.argsort(times, kind="stable")
    return {"time_ms": times[order], "packets": np.cumsum(changes[order])}


def percentile_95(values: Integers) -> float:
    """Element floor(0.95 n) of the sorted values, mahimahi's 95th percentile."""
    return float(np.sort(values)[int(0.95 * values.size)])


def metrics(log: LinkLog) -> LinkMetrics:
    """The metrics of a whole run; throughput and capacity over first to last event."""
    seconds = (log.last_ms - log.first_ms) / 1000
    return LinkMetrics(
        throughput_mbps=float(log.departure_bytes.sum()) * 8 / seconds / 1e6,
        capacity_mbps=float(log.opportunity_bytes.sum()) * 8 / seconds / 1e6,
        queueing_delay_p95_ms=percentile_95(log.departure_delay_ms),
        signal_delay_p95_ms=percentile_95(signal_delay(log)["delay_ms"]),
    )
