"""Pantheon's tunnel logs, and pantheon_metadata.json, which lists them.

A log has one event per line, in order of time (ms):

    T # BYTES               a delivery opportunity, if the link was emulated
    T + BYTES [FLOW]        a packet entered the tunnel
    T - BYTES DELAY [FLOW]  a packet left the tunnel after DELAY ms

Throughput, 95th percentile of the one-way delay, and loss, of each flow and of all flows, follow
the definitions of Pantheon's tunnel_graph.py: from the first to the last departure, by nearest
rank, by bytes. The signal delay follows our definition, in whole milliseconds.
"""

import re
from bisect import bisect_left
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from kneepoint.analysis import link_log, over_time
from kneepoint.tools.import_files.measurement import (
    Delays,
    Format,
    Gathered,
    Measurement,
    UnreadableError,
    read_object,
    series_of,
)

_MS = rb"\d{1,15}(?:\.\d{1,9})?"
_EVENT = re.compile(
    rb"(?P<time>%s) (?:# (?P<offered>\d{1,9})|\+ (?P<entered>\d{1,9})(?: (?P<to>\d{1,18}))?"
    rb"|- (?P<left>\d{1,9}) (?P<delay>%s)(?: (?P<of>\d{1,18}))?)\r?" % (_MS, _MS)
)
_LONGEST_LINE = 256 * 1024
_DAY_US = 86_400_000_000
_REMEMBERED = 65_536
"""Entries against which departures are checked."""
_HEADER = re.compile(rb"\A(?:#[^\n]*\n)*")
_NAME = re.compile(r"(?P<controller>.+?)(?:_mm)?_datalink_run(?P<number>\d+)(?:\.log)?(?:\.gz)?")


def _is_log(head: bytes) -> bool:
    first = head[len(_HEADER.findall(head)[0]) :].partition(b"\n")[0]
    return b"# base timestamp" not in head and bool(_EVENT.fullmatch(first))


def _read_log(path: Path, stream: BinaryIO) -> list[Measurement]:
    lines = iter(partial(stream.readline, _LONGEST_LINE), b"")
    found = measurement_of(lines)
    if (named := _NAME.fullmatch(path.name)) is None:
        return [found]
    return [replace(found, controller=named["controller"], number=int(named["number"]))]


def measurement_of(lines: Iterable[bytes]) -> Measurement:
    """Returns the measurement of a log of this form."""
    log = _Log()
    for number, line in enumerate(lines, 1):
        try:
            log.take(line)
        except ValueError as error:
            why = f"line {number} {error}; is it a whole log of Pantheon's tunnel?"
            raise UnreadableError(why) from None
    log.check()
    duration_s, throughput_mbps = log.last_us / 1e6, log.all.throughput_mbps()
    signal_ms, capacity_mbps = log.signal_delay_p95_ms(), log.capacity_mbps()
    metrics = {"throughput_mbps": throughput_mbps, "signal_delay_p95_ms": signal_ms}
    if signal_ms:
        metrics["power"] = throughput_mbps / (signal_ms / 1000)
    metrics |= {"packets_sent": log.sent, "packets_delivered": log.delivered}
    absent = ["queueing delay: the one-way delays include the propagation delay"]
    found = log.seen.over_time(duration_s)
    if capacity_mbps:
        metrics["capacity_mbps"] = capacity_mbps
        metrics["utilization"] = throughput_mbps / capacity_mbps
    else:
        absent.append("capacity: the log has no delivery opportunities")
        found.pop(over_time.RATES[0], None)
    flows = tuple(
        {"name": name, **flow.figures()}
        for name, flow in [("all", log.all), *((str(n), f) for n, f in sorted(log.flows.items()))]
    )
    series = series_of(found, over_time.DELAY)
    return Measurement(duration_s, metrics, flows, series, tuple(absent))


@dataclass
class _Flow:
    """Totals of a flow, or of all flows."""

    entered_bytes: int = 0
    left_bytes: int = 0
    first_us: int | None = None
    last_us: int = 0
    delays: Delays = field(default_factory=Delays)

    def take_departure(self, time_us: int, bytes_: int, delay_us: int) -> None:
        """Counts a packet that left the tunnel."""
        self.first_us = time_us if self.first_us is None else self.first_us
        self.last_us = time_us
        self.left_bytes += bytes_
        self.delays.add(delay_us / 1e6)

    def throughput_mbps(self) -> float:
        """Returns the mean rate from the first to the last departure; 0 for a single packet."""
        span_us = self.last_us - (self.first_us or 0)
        return self.left_bytes * 8 / span_us if span_us else 0.0

    def figures(self) -> dict[str, float | None]:
        """Returns FLOW_METRICS by the definitions of tunnel_graph.py; None: undefined."""
        lost = 1 - self.left_bytes / self.entered_bytes if self.entered_bytes else None
        return {
            "throughput_mbps": self.throughput_mbps(),
            "delay_p50_ms": self.delays.nearest_ms(0.5),
            "delay_p95_ms": self.delays.nearest_ms(0.95),
            "loss": lost,
        }


class _Log:
    """The totals of a log so far, in memory that grows only with its milliseconds.

    Times are in microseconds since the first event.
    """

    def __init__(self) -> None:
        self.all, self.flows = _Flow(), dict[int, _Flow]()
        self.sent = self.delivered = self.last_us = 0
        self.seen = Gathered()
        self._begin_us: int | None = None
        self._offered_bytes = 0
        self._offered_us: list[int] = []  # the first and the last opportunity
        self._min_ms: dict[int, int] = {}  # delay, by the millisecond of entry
        self._entered_us, self._forgets = deque[int](), False
        self._confirmed = self._forgotten = 0

    def take(self, line: bytes) -> None:
        """Takes the next line; raises ValueError if it is not an event in order."""
        if self._begin_us is None and line.startswith(b"#"):
            return
        event = _EVENT.fullmatch(line.removesuffix(b"\n"))
        if event is None:
            raise ValueError("is no event")
        if not line.endswith(b"\n"):
            raise ValueError("is cut off; copy the whole file")
        time_us = self._since_begin(_microseconds(event["time"]))
        if (offered := event["offered"]) is not None:
            self._offered_bytes += int(offered)
            self._offered_us = [*self._offered_us[:1], time_us]
            self.seen.add("capacity_bytes", time_us / 1e6, int(offered))
            return
        flow = self.flows.setdefault(int(event["to"] or event["of"] or 0), _Flow())
        if (entered := event["entered"]) is not None:
            self._enter(time_us, int(entered), flow)
        else:
            delay_us = _microseconds(event["delay"])
            if delay_us > _DAY_US:
                raise ValueError("has a delay of more than a day")
            self._confirm(time_us - delay_us, _unit_us(event["time"]) + _unit_us(event["delay"]))
            self._leave(time_us, int(event["left"]), delay_us, flow)

    def _since_begin(self, stamp_us: int) -> int:
        if self._begin_us is None:
            self._begin_us = stamp_us
        time_us = stamp_us - self._begin_us
        if time_us < self.last_us:
            raise ValueError("is earlier than an event before it")
        if time_us > _DAY_US:
            raise ValueError("is more than a day after the first event")
        self.last_us = time_us
        return time_us

    def _enter(self, time_us: int, bytes_: int, flow: _Flow) -> None:
        self._entered_us.append(time_us)
        if len(self._entered_us) > _REMEMBERED:
            self._entered_us.popleft()
            self._forgets = True
        for each in (flow, self.all):
            each.entered_bytes += bytes_
        self.sent += 1
        self.seen.add("ingress_bytes", time_us / 1e6, bytes_)

    def _confirm(self, entered_us: int, slack_us: int) -> None:
        """Looks for an entry at this time; the log may begin later, and digits are rounded."""
        known = self._entered_us
        if self._forgets and entered_us < known[0]:
            self._forgotten += 1
            return
        place = bisect_left(known, entered_us - slack_us)
        self._confirmed += place < len(known) and known[place] <= entered_us + slack_us

    def _leave(self, time_us: int, bytes_: int, delay_us: int, flow: _Flow) -> None:
        for each in (flow, self.all):
            each.take_departure(time_us, bytes_, delay_us)
        self.delivered += 1
        delay_ms = (delay_us + 500) // 1000
        entry_ms = time_us // 1000 - delay_ms
        self._min_ms[entry_ms] = min(delay_ms, self._min_ms.get(entry_ms, delay_ms))
        self.seen.add("queue_packets", max(entry_ms, 0) / 1000, 1)
        self.seen.add("queue_packets", time_us / 1e6, -1)
        self.seen.add("egress_bytes", time_us / 1e6, bytes_)
        self.seen.add("delay_ms", time_us / 1e6, delay_us / 1000)

    def check(self) -> None:
        """Raises UnreadableError if the whole log cannot be right."""
        if self._begin_us is None:
            raise UnreadableError("it holds no event; did the tunnel run?")
        entered, left = self.all.entered_bytes, self.all.left_bytes
        if entered and left // 2 > entered:
            raise UnreadableError(
                f"it has {left} bytes that left the tunnel, but {entered} that entered it; "
                "write all sizes in bytes"
            )
        if self._entered_us and 2 * self._confirmed < self.delivered - self._forgotten:
            raise UnreadableError(
                f"of {self.delivered} packets that left the tunnel, only {self._confirmed} entered "
                "it when their delays say; write all times and delays in ms"
            )
        if not self.delivered:
            raise UnreadableError("no packet departed; did a flow run?")
        if not self.last_us:
            raise UnreadableError("all events have the same time; did the tunnel run?")

    def capacity_mbps(self) -> float:
        """Returns the mean rate from the first to the last opportunity; 0 without two of them."""
        span_us = self._offered_us[-1] - self._offered_us[0] if self._offered_us else 0
        return self._offered_bytes * 8 / span_us if span_us else 0.0

    def signal_delay_p95_ms(self) -> float:
        """Returns the 95th percentile of the signal delay, in whole milliseconds."""
        return link_log.signal_delay_quantile(self._min_ms, 0.95)


def _microseconds(text: bytes) -> int:
    """Returns a time in ms with up to nine decimals, exactly rounded to microseconds."""
    whole, _, decimals = text.partition(b".")
    nanoseconds = int(decimals.ljust(9, b"0")) // 1000 if decimals else 0
    return int(whole) * 1000 + (nanoseconds + 500) // 1000


def _unit_us(text: bytes) -> int:
    """Returns the unit of the last digit of a time in ms, at least 1."""
    return int(10 ** max(0, 3 - len(text.partition(b".")[2])))


# Metadata -------------------------------------------------------------------------------------


def _is_metadata(head: bytes) -> bool:
    return head.lstrip().startswith(b"{") and b'"cc_schemes"' in head


def _read_metadata(path: Path, stream: BinaryIO) -> list[Measurement]:
    content, notes = read_object(stream)
    schemes = content["cc_schemes"]
    schemes = schemes.split() if isinstance(schemes, str) else schemes
    if not isinstance(schemes, list):
        raise UnreadableError(f"cc_schemes is {schemes!r}; list the schemes")
    network = Path(str(content.get("uplink_trace") or path.resolve().parent.name)).stem
    found = []
    for log in _logs(path, content, schemes):
        with log.open("rb") as events:
            (measurement,) = TUNNEL_LOG.read(log, events)
        found.append(replace(measurement, network=network, notes=notes))
    if not found:
        raise UnreadableError(f"there is no log of {', '.join(schemes)} beside it; copy them")
    return found


def _logs(path: Path, content: Mapping[str, Any], schemes: list[str]) -> Iterator[Path]:
    """Yields the tunnel log of each run; of an emulated link, merged with mahimahi's log."""
    for scheme in schemes:
        for number in range(1, int(content.get("run_times", 1)) + 1):
            for name in (f"{scheme}_mm_datalink_run{number}", f"{scheme}_datalink_run{number}"):
                log = path.with_name(f"{name}.log")
                if log.is_file():
                    yield log
                    break


TUNNEL_LOG = Format("tunnel log of Pantheon", _is_log, _read_log)
METADATA = Format("metadata of Pantheon", _is_metadata, _read_metadata)
