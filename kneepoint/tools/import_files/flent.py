"""flent's data files (.flent.gz), in the version that flent 2.3 writes.

Means and medians are computed as by `flent -f summary`: the mean that the tool of a series
reported, or else the mean of its raw values (flent's combiners.py, MeanReducer and MedianReducer).
"""

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from kneepoint.analysis import over_time
from kneepoint.analysis.link_log import percentile
from kneepoint.tools.import_files.measurement import (
    Format,
    Measurement,
    UnreadableError,
    agree,
    complete,
    read_object,
)

_VERSION = 4  # FILEFORMAT_VERSION of flent's resultset.py
_KEYS = (b'"FLENT_VERSION"', b'"NETPERF_WRAPPER_VERSION"', b'"SERIES_META"')
_FLOW = re.compile(r"(TCP|UDP|SCTP)\b")
_PING = re.compile(r"Ping\b")
_WAY = re.compile(r"\b(up|down)load\b", re.IGNORECASE)
_CONVERT = "flent.resultset.load(OLD).dump_file(NEW) converts it"


def _recognises(head: bytes) -> bool:
    return head.lstrip().startswith(b"{") and any(key in head for key in _KEYS)


def _read(_: Path, stream: BinaryIO) -> list[Measurement]:
    with complete():
        return [_measurement(*read_object(stream))]


def _measurement(found: dict[str, Any], notes: tuple[str, ...]) -> Measurement:
    version = int(found.get("version", 1))
    if version != _VERSION:
        remedy = _CONVERT if version < _VERSION else "export it with flent 2.3"
        raise UnreadableError(f"it has version {version}, not {_VERSION}; {remedy}")
    meta, times_s = found["metadata"], [float(each) for each in found["x_values"]]
    if times_s != sorted(times_s):
        raise UnreadableError("its times run backward; is it one test?")
    told: dict[str, Any] = meta.get("SERIES_META") or {}
    raw: dict[str, list[dict[str, Any]]] = {
        name: [each for each in values if each.get("val") is not None]
        for name, values in found["raw_values"].items()
    }
    for name, values in raw.items():
        if any(later["t"] < each["t"] for each, later in pairwise(values)):
            raise UnreadableError(f"the times of {name} run backward; is it one test?")
    # Sums and averages of series have no raw values.
    measured = {name: told.get(name, {}).get("UNITS") for name, values in raw.items() if values}
    rates, pings, others = _sorted(measured)
    if not rates:
        raise UnreadableError("it has no rate in Mbits/s; import a test with flows")
    if others:
        notes += (f"left out: {', '.join(others)}; neither a flow's rate nor an RTT",)
    results = found["results"]
    mean = {
        name: _mean(name, told.get(name, {}), _values(raw[name]), results.get(name) or ())
        for name in (*rates, *pings)
    }
    throughput_mbps = float(sum(mean[name] for name in rates))
    every_ms = [value for name in pings for value in _values(raw[name])]
    together: dict[str, object] = {"name": "all", "throughput_mbps": throughput_mbps}
    absent = ["capacity, signal and queueing delay: flent does not see the link"]
    if every_ms:
        together |= _rtt(every_ms, float(np.mean(every_ms)))
    else:
        absent.append("RTT: the test had no ping")
    used = {str(told.get(name, {}).get("CONG_CONTROL") or "") for name in rates}
    controller = used.pop() if len(used) == 1 else ""
    ways = dict.fromkeys(map(_way, rates), 0.0)
    for name in rates:
        ways[_way(name)] += mean[name]
    flows = [together]
    if len(ways) > 1:
        each = " and ".join(f"{way} {mbps:.4g}" for way, mbps in ways.items())
        notes += (f"the throughput is the sum of two directions: {each} Mbit/s",)
        flows += [{"name": way, "throughput_mbps": mbps} for way, mbps in ways.items()]
    flows += [{"name": name, "throughput_mbps": mean[name]} for name in rates]
    flows += [{"name": name, **_rtt(_values(raw[name]), mean[name])} for name in pings]
    of = [results.get(name) or [None] * len(times_s) for name in rates]
    sums = [sum(value or 0 for value in values) for values in zip(*of, strict=True)]
    series = {over_time.RATES[-1]: (times_s, sums)}
    if every_ms:
        first_s = min(each["t"] for values in raw.values() for each in values[:1])
        at_s = [each["t"] - first_s for name in pings for each in raw[name]]
        series[over_time.RTT] = (at_s, every_ms)
    length_s = times_s[-1] - times_s[0]
    stamps_s = [each["t"] for name in (*rates, *pings) for each in raw[name]]
    seen_s = max(stamps_s) - min(stamps_s)
    if not length_s:
        raise UnreadableError("its duration is 0; did the test run?")
    if not agree(length_s, seen_s, 30):
        why = f"x_values last {length_s:g} s, and raw_values {seen_s:g} s; write both in seconds"
        raise UnreadableError(why)
    metrics, long = {"throughput_mbps": throughput_mbps}, over_time.long(series)
    parts = (length_s, metrics, tuple(flows), long, tuple(absent))
    return Measurement(*parts, controller, notes=notes)


def _sorted(units: dict[str, Any]) -> tuple[list[str], list[str], list[str]]:
    """Returns the names of rates, RTTs, and other series, such as durations of HTTP transfers."""
    rates = [name for name, unit in units.items() if unit == "Mbits/s" and _FLOW.match(name)]
    pings = [name for name, unit in units.items() if unit == "ms" and _PING.match(name)]
    others = [name for name in units if name not in (*rates, *pings)]
    for name in others:
        if _FLOW.match(name) or _PING.match(name):
            why = f"{name} is in {units[name] or 'no unit'}; flent writes Mbits/s and ms"
            raise UnreadableError(why)
    return rates, pings, others


def _way(name: str) -> str:
    found = _WAY.search(name)
    return found[0].lower() if found else "other"


def _mean(
    name: str, told: dict[str, Any], raw: list[float], shown: Sequence[float | None]
) -> float:
    """Returns the mean that a series' tool reported, or else of its values; both must agree.

    For UDP_RR, one mean is over transactions, the other over time: they may differ by a factor of
    up to ten without a wrong unit.
    """
    own = float(np.mean(raw))
    mean = float(told.get("MEAN_VALUE") or own)
    at_times = [value for value in shown if value is not None]
    for other in (own, float(np.mean(at_times)) if at_times else own):
        if not agree(mean, other, 100):
            why = f"{name} has the mean {mean:g}, but values of {other:g}; correct its unit"
            raise UnreadableError(why)
    return mean


def _values(raw: list[dict[str, Any]]) -> list[float]:
    return [float(each["val"]) for each in raw]


def _rtt(values_ms: list[float], mean_ms: float) -> dict[str, object]:
    return {
        "rtt_mean_ms": mean_ms,
        "rtt_p50_ms": float(np.median(values_ms)),
        "rtt_p95_ms": percentile(values_ms, 0.95),
    }


FORMAT = Format("data of flent", _recognises, _read)
