"""Reads mahimahi's link log; computes rates, delays and metrics from it.

The format is written by mm-link (and read by mm-throughput-graph): header lines that begin with
`#`, then one event per line, with the time in milliseconds:

    T + BYTES          a packet arrived at the link
    T # BYTES          an opportunity to deliver BYTES bytes
    T - BYTES DELAY    a packet departed, DELAY ms after it had arrived
    T d PACKETS BYTES  the queue dropped packets

Rates and delays follow the definitions of mm-throughput-graph and mm-delay-graph.
"""

import io
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from kneepoint.analysis.frames import Record, select
from kneepoint.common.errors import KneepointError

LinkLog: TypeAlias = pd.DataFrame
"""Events in order: columns time_ms (since the log's base timestamp), kind (the character), amount
(bytes, or packets of a drop) and delay_ms (of a departure)."""
ARRIVAL, OPPORTUNITY, DEPARTURE, DROP = "+", "#", "-", "d"

BIN_MS = 500
"""The width of the bins in the contest's graphs (ms)."""

_HEADER = re.compile(rb"\A(?:#[^\n]*\n?)*")
_BASE = re.compile(rb"^# base timestamp: *(\d+)\s*$", re.MULTILINE)
_EVENT = re.compile(rb"^\d{1,18} (?:[+#] \d{1,18}|[-d] \d{1,18} \d{1,18})$", re.MULTILINE)


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
    (header,) = _HEADER.findall(data)
    base_ms = _BASE.search(header)
    if base_ms is None:
        raise KneepointError(f"{path}: no line '# base timestamp: N'; name a log of mm-link")
    log = _read_events(path, data.removeprefix(header), first_line=header.count(b"\n") + 1)
    return log.assign(time_ms=log["time_ms"] - int(base_ms[1]))


def _read_events(path: Path, body: bytes, first_line: int) -> LinkLog:
    if not body.strip():
        raise KneepointError(f"{path}: the log has no event; was the run cut short?")
    body = body.removesuffix(b"\n") + b"\n"
    if len(_EVENT.findall(body)) != body.count(b"\n"):
        raise _bad_line(path, body, first_line)
    columns = {"time_ms": "int64", "kind": "str", "amount": "int64", "delay_ms": "Int64"}
    log = pd.read_csv(io.BytesIO(body), sep=" ", names=list(columns), dtype=columns)
    # A link that wakes late logs drops at the present time, and then opportunities at the times at
    # which they were due.
    in_order = log.index[log["kind"] != DROP]
    backward = np.flatnonzero(np.diff(log["time_ms"][in_order]) < 0)
    if backward.size:
        line = first_line + int(in_order[int(backward[0]) + 1])
        raise KneepointError(f"{path}:{line}: the time goes backward; log one link to one file")
    return log.sort_values("time_ms", kind="stable", ignore_index=True)


def _bad_line(path: Path, body: bytes, first_line: int) -> KneepointError:
    """Returns the error for the first line that is not an event."""
    lines = enumerate(body.removesuffix(b"\n").split(b"\n"), first_line)
    number, line = next((n, line) for n, line in lines if not _EVENT.fullmatch(line))
    if re.search(rb"\d{19}", line):
        return KneepointError(f"{path}:{number}: a number of the log is too large")
    if line.startswith(b"# "):
        return KneepointError(f"{path}:{number}: a second header; log one link to one file")
    shown = line[:60].decode(errors="replace")
    return KneepointError(
        f"{path}:{number}: {shown!r} is not an event of a link log; was the run cut short?"
    )


# Values over time ----------------------------------------------------------------------------


def rates(log: LinkLog, bin_ms: int = BIN_MS) -> pd.DataFrame:
    """Returns mean rates in bins of `bin_ms`.

    Returns:
        Columns start_s, capacity_mbps, ingress_mbps, egress_mbps; one row per bin. As in
        mm-throughput-graph, the last bin is divided by its full width even if the log ends in it.
    """
    bins = int(log["time_ms"].iloc[-1]) // bin_ms + 1
    found = pd.DataFrame({"start_s": np.arange(bins) * bin_ms / 1000})
    kinds = {"capacity_mbps": OPPORTUNITY, "ingress_mbps": ARRIVAL, "egress_mbps": DEPARTURE}
    for name, kind in kinds.items():
        events = select(log, kind=kind)
        total = np.bincount(events["time_ms"] // bin_ms, weights=events["amount"], minlength=bins)
        found[name] = total * 8 / (bin_ms * 1000)
    return found


def end_s(start_s: ArrayLike) -> float:
    """Returns the end of the last bin, given the starts of bins of equal width."""
    starts = np.asarray(start_s)
    return float(starts[-1] + (starts[-1] - starts[-2] if len(starts) > 1 else BIN_MS / 1000))


def departures(log: LinkLog) -> pd.DataFrame:
    """Returns the departed packets: columns time_ms, amount (bytes), delay_ms."""
    return select(log, kind=DEPARTURE).drop(columns="kind").astype("int64")


def signal_delay(log: LinkLog) -> pd.DataFrame:
    """Returns the signal delay in each millisecond from the first to the last arrival.

    A millisecond with arrivals of packets that later departed has the minimum of their delays; any
    other millisecond has the value of the next millisecond plus one.

    Returns:
        Columns time_ms, delay_ms; one row per millisecond.
    """
    packets = departures(log)
    least = packets["delay_ms"].groupby(packets["time_ms"] - packets["delay_ms"]).min()
    # value(t) = value(t + 1) + 1 means that value(t) + t is constant until the next arrival.
    every = pd.RangeIndex(least.index.min(), least.index.max() + 1, name="time_ms")
    until = (least + least.index).reindex(every).bfill().astype("int64")
    return (until - every).rename("delay_ms").reset_index()


def signal_delay_quantile(min_ms: Mapping[int, int], q: float) -> float:
    """Returns element floor(q n) of the sorted signal delay, from its first to its last arrival.

    Args:
        min_ms: minimum delay of the arrivals in each millisecond with arrivals.
        q: in [0, 1).
    """
    arrivals = np.array(sorted(min_ms))
    delays = np.array([min_ms[each] for each in arrivals.tolist()])
    # An arrival with delay d, g ms after the previous one, accounts for d, d + 1, ..., d + g - 1.
    ends = delays + np.diff(arrivals, prepend=arrivals[0] - 1)
    changes = np.bincount(delays, minlength=ends.max() + 1) - np.bincount(ends)
    below = np.cumsum(np.cumsum(changes))
    return float(np.searchsorted(below, int(q * below[-1]), "right"))


def queue_length(log: LinkLog) -> pd.DataFrame:
    """Returns the queue length at the end of each millisecond with events: time_ms, packets."""
    change = log["kind"].map({ARRIVAL: 1, OPPORTUNITY: 0, DEPARTURE: -1}).fillna(-log["amount"])
    in_queue = change[log["kind"] != OPPORTUNITY].groupby(log["time_ms"]).sum().cumsum()
    return in_queue.rename("packets").reset_index()


def percentile(values: "Sequence[float] | pd.Series[int]", q: float) -> float:
    """Returns element floor(q n) of the n sorted values, as mahimahi's 95th percentile."""
    return float(np.sort(values)[int(q * len(values))])


def metrics(log: LinkLog) -> Record:
    """Returns the metrics of a whole run, with rates from the first to the last event.

    Returns:
        throughput_mbps, capacity_mbps, queueing_delay_p95_ms, signal_delay_p95_ms and power.
    """
    seconds = (log["time_ms"].iloc[-1] - log["time_ms"].iloc[0]) / 1000
    packets, offered = departures(log), select(log, kind=OPPORTUNITY)
    throughput = float(packets["amount"].sum()) * 8 / seconds / 1e6
    signal_ms = percentile(signal_delay(log)["delay_ms"], 0.95)
    return {
        "throughput_mbps": throughput,
        "capacity_mbps": float(offered["amount"].sum()) * 8 / seconds / 1e6,
        "queueing_delay_p95_ms": percentile(packets["delay_ms"], 0.95),
        "signal_delay_p95_ms": signal_ms,
        "power": throughput / (signal_ms / 1000),
    }
