"""mahimahi's link log: `analysis.link_log` has the format, with and without drops."""

import re
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from analysis import link_log, over_time
from analysis.frames import select
from analysis.imported.measurement import Format, Measurement
from analysis.link_log import ARRIVAL, DROP, LinkLog, parse_link_log

_HEADER = re.compile(rb"\A(?:#[^\n]*\n)*# base timestamp: ")


def _recognises(head: bytes) -> bool:
    return bool(_HEADER.match(head))


def _read(path: Path, data: bytes) -> list[Measurement]:
    if not data.endswith(b"\n"):
        raise FORMAT.refuse(path, "its last line is cut off; copy the whole file")
    log = parse_link_log(path, data)
    check_something_departed(FORMAT, path, log)
    found, counts = link_log.metrics(log), log["kind"].value_counts()
    metrics = {
        **asdict(found),
        "power": found.power,
        "utilization": found.throughput_mbps / found.capacity_mbps,
        "packets_sent": int(counts.get(ARRIVAL, 0)),
        "packets_delivered": int(counts[link_log.DEPARTURE]),
    }
    absent = ["flows: a link log does not tell them apart"]
    if DROP in counts:
        metrics["packets_dropped"] = int(log.loc[log["kind"] == DROP, "amount"].sum())
    else:
        absent.append("drops: the log has none, or they were not logged")
    duration_s = float(log["time_ms"].iloc[-1] - log["time_ms"].iloc[0]) / 1000
    series = series_of(log)
    return [Measurement(path, FORMAT.name, duration_s, metrics, (), series, tuple(absent))]


def series_of(log: LinkLog) -> pd.DataFrame:
    """What a log says over time; where no drop is logged, the queue is of packets that departed."""
    series = over_time.of_logs(log)
    if (log["kind"] == DROP).any():
        return series
    left = select(log, kind=link_log.DEPARTURE)
    came = left.assign(time_ms=left["time_ms"] - left["delay_ms"].astype("int64"), kind=ARRIVAL)
    both = pd.concat([came, left]).sort_values("time_ms", kind="stable", ignore_index=True)
    queue = link_log.queue_length(both)
    waiting = over_time.long({over_time.QUEUE: (queue["time_ms"] / 1000, queue["packets"])}, "")
    rest = series[series["quantity"] != over_time.QUEUE]
    return pd.concat([rest, waiting], ignore_index=True)


def check_something_departed(known: Format, path: Path, log: LinkLog) -> None:
    """Raises KneepointError unless packets departed, over some time."""
    if not (log["kind"] == link_log.DEPARTURE).any():
        raise known.refuse(path, "no packet departed; did a flow run?")
    if log["time_ms"].iloc[-1] == log["time_ms"].iloc[0]:
        raise known.refuse(path, "all within one millisecond; did it run on?")


FORMAT = Format("link log of mahimahi", _recognises, _read)
