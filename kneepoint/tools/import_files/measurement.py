"""A measurement read from a file: the common form of all formats."""

import codecs
import gzip
import json
import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import pandas as pd

from kneepoint.analysis import over_time
from kneepoint.common.errors import KneepointError
from kneepoint.common.files import open_file
from kneepoint.common.json_text import UNIQUE, first_object, parse_json

_MAX_JSON_BYTES = 2**28
_CHUNK_BYTES = 2**20
_MAX_LAYERS = 2  # of gzip
_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_MAX_INTERVALS = 4096


class UnreadableError(Exception):
    """A file cannot be read; the message gives reason and remedy."""


@dataclass(frozen=True, eq=False)
class Measurement:
    """One run, as far as its file describes it.

    Args:
        duration_s: of the run.
        metrics: fields of `RunRecord`.
        flows: name and FLOW_METRICS of each flow; the first entry is all flows together.
        series: values over time, in the form of `over_time`.
        absent: metrics that the file lacks, with reasons.
        controller: of all flows; "" if the file does not name it.
        network: of the run; "" if the file does not name it.
        number: of the run; None if the file does not state it.
        notes: how ambiguous figures were read, and which content was left out.
        path: the file.
        format: name of its format.
    """

    duration_s: float
    metrics: Mapping[str, float]
    flows: tuple[Mapping[str, object], ...]
    series: pd.DataFrame
    absent: tuple[str, ...] = ()
    controller: str = ""
    network: str = ""
    number: int | None = None
    notes: tuple[str, ...] = ()
    path: Path = Path()
    format: str = ""


@dataclass(frozen=True)
class Format:
    """A file format.

    `recognises` decides by the first bytes. `parse` takes the path, for names and files beside it,
    and the unpacked content; it raises UnreadableError if the file is cut off or has no
    measurement.
    """

    name: str
    recognises: Callable[[bytes], bool]
    parse: Callable[[Path, BinaryIO], list[Measurement]]

    def read(self, path: Path, stream: BinaryIO) -> list[Measurement]:
        """Returns the measurements of a file; raises KneepointError if it cannot be read."""
        with self.naming(path):
            found = self.parse(path, stream)
        return [
            each if each.format else replace(each, path=path, format=self.name) for each in found
        ]

    @contextmanager
    def naming(self, path: Path) -> Iterator[None]:
        """Adds the file and the format to an UnreadableError, which becomes a KneepointError."""
        try:
            yield
        except UnreadableError as error:
            raise KneepointError(f"{path}: {self.name}, but {error}") from None


@contextmanager
def opened(path: Path) -> Iterator[BinaryIO]:
    """Provides a file's content, with up to two layers of gzip unpacked and text as UTF-8.

    Raises:
        KneepointError: the file does not exist, or it cannot be unpacked or decoded.
    """
    try:
        with ExitStack() as stack:
            content: Any = stack.enter_context(open_file(path, "name a file"))
            for _ in range(_MAX_LAYERS + 1):
                if (head := content.peek(4)[:4])[:2] != b"\x1f\x8b":
                    break
                content = stack.enter_context(gzip.open(content))
            else:
                raise KneepointError(f"{path}: is compressed repeatedly; unpack it: gunzip")
            named = (encoding for mark, encoding in _MARKS.items() if head.startswith(mark))
            if encoding := next(named, None):
                content = codecs.EncodedFile(content, "utf-8", encoding)
            yield cast(BinaryIO, content)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise KneepointError(f"{path}: cannot be unpacked: {error}; was it cut off?") from None
    except UnicodeError as error:
        raise KneepointError(f"{path}: cannot be decoded: {error}; save it as UTF-8") from None


def read_object(
    stream: BinaryIO, reader: json.JSONDecoder = UNIQUE
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Returns the first whole JSON object of a file, and a note on other content.

    Raises:
        UnreadableError: the file has no whole object, or is too large.
    """
    data = stream.read(_MAX_JSON_BYTES + 1)
    if len(data) > _MAX_JSON_BYTES:
        raise UnreadableError(f"it has more than {_MAX_JSON_BYTES} bytes; shorten the run")
    try:
        found, around = first_object(data.decode(), reader)
    except ValueError as error:
        raise UnreadableError(f"it is not JSON: {error}; copy the whole file") from None
    if not isinstance(found, dict):
        raise UnreadableError("it is not a JSON object; name a file that the tool wrote")
    left = [each.strip() for each in around if each.strip()]
    what = "another object" if any(each.startswith("{") for each in left) else "text"
    return found, (f"left out: {what} beside the first whole object",) if left else ()


def read_records(
    stream: BinaryIO, separator: bytes = b"\n", reader: json.JSONDecoder = UNIQUE
) -> Iterator[dict[str, Any]]:
    """Yields the objects of NDJSON or, separated by 0x1E, of RFC 7464, in constant memory.

    Raises:
        UnreadableError: a record is not a JSON object.
    """
    number, rest = 0, b""
    while chunk := stream.read(_CHUNK_BYTES):
        *parts, rest = (rest + chunk).split(separator)
        if len(rest) > _MAX_JSON_BYTES:
            raise UnreadableError(f"record {number + 1} is too large; separate the records")
        for part in filter(bytes.strip, parts):
            number += 1
            yield _record(number, part, reader)
    if rest.strip():
        yield _record(number + 1, rest, reader)


def _record(number: int, text: bytes, reader: json.JSONDecoder) -> dict[str, Any]:
    try:
        found = parse_json(text, reader)
    except ValueError as error:
        raise UnreadableError(
            f"record {number} is not JSON: {error}; copy the whole file"
        ) from None
    if not isinstance(found, dict):
        raise UnreadableError(
            f"record {number} is not a JSON object; name a file that the tool wrote"
        )
    return found


@contextmanager
def complete() -> Iterator[None]:
    """Refuses an object that lacks required keys of its format."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        problem = f"{type(error).__name__} {error}"
        raise UnreadableError(f"it is incomplete: {problem}; write it again") from None


def agree(one: float, other: float, factor: float) -> bool:
    """Returns whether two figures differ by less than a factor, and so have the same unit."""
    return one == other or min(one, other) * factor > max(one, other)


class Delays:
    """A histogram of delays, in whole microseconds."""

    def __init__(self) -> None:
        self._counts: Counter[int] = Counter()

    def add(self, delay_s: float) -> None:
        """Counts a delay."""
        self._counts[round(delay_s * 1e6)] += 1

    def nearest_ms(self, q: float) -> float | None:
        """Returns element round(q (n - 1)) of the n sorted delays, as NumPy's method `nearest`."""
        if not self._counts:
            return None
        return self._at(round(q * (self._counts.total() - 1)))

    def _at(self, place: int) -> float:
        """Returns an element of the sorted delays (ms)."""
        every_us = sorted(self._counts)
        below = np.cumsum([self._counts[each] for each in every_us])
        return every_us[int(np.searchsorted(below, place, "right"))] / 1000

    def figures(self, kind: str) -> dict[str, float]:
        """Returns mean, median and 95th percentile (ms) as FLOW_METRICS with this prefix."""
        if not (count := self._counts.total()):
            return {}
        mean = sum(each * times for each, times in self._counts.items()) / count / 1000
        p50, p95 = (self._at(int(q * count)) for q in (0.5, 0.95))
        return {f"{kind}_mean_ms": mean, f"{kind}_p50_ms": p50, f"{kind}_p95_ms": p95}


class Gathered:
    """Sums of packets' bytes and delays over time, in constant memory.

    Intervals double in length when there are too many of them.
    """

    def __init__(self) -> None:
        self._interval_us = 1000
        self._sums: dict[str, np.ndarray] = {}

    def add(self, quantity: str, time_s: float, amount: float) -> None:
        """Adds to a quantity's sum, or its maximum for `delay_ms`; time is from the first event."""
        time_us = round(time_s * 1e6)
        while (place := time_us // self._interval_us) >= _MAX_INTERVALS:
            for name, each in self._sums.items():
                pairs = each.reshape(-1, 2)
                halves = np.fmax(*pairs.T) if name == "delay_ms" else pairs.sum(axis=1)
                self._sums[name] = np.concatenate([halves, _none(name, _MAX_INTERVALS // 2)])
            self._interval_us *= 2
        if (sums := self._sums.get(quantity)) is None:
            sums = self._sums[quantity] = _none(quantity, _MAX_INTERVALS)
        sums[place] = (
            np.fmax(sums[place], amount) if quantity == "delay_ms" else sums[place] + amount
        )

    def over_time(self, duration_s: float) -> dict[str, Any]:
        """Returns the argument of `series_of`: ingress, egress, delay and queue."""
        count = min(round(duration_s * 1e6) // self._interval_us + 1, _MAX_INTERVALS)
        found: dict[str, Any] = {"interval_s": self._interval_us / 1e6}
        for name, sums in self._sums.items():
            values = sums[:count]
            if name == "delay_ms":
                found[name] = values
            elif name == "queue_packets":
                found[name] = np.cumsum(values)
            else:
                found[name.removesuffix("_bytes") + "_mbps"] = values * 8 / self._interval_us
        return found


def _none(quantity: str, intervals: int) -> np.ndarray:
    """Returns intervals without packets."""
    return np.full(intervals, np.nan if quantity == "delay_ms" else 0.0)


def series_of(found: Mapping[str, Any], delay: str = over_time.QUEUEING) -> pd.DataFrame:
    """Returns values over time, from lists with one value per interval.

    Args:
        found: interval_s and, where known, capacity_mbps, ingress_mbps, egress_mbps, delay_ms
            (greatest of the interval) and queue_packets (at its end).
        delay: the quantity in delay_ms.

    Returns:
        A table in the form of `over_time`, with rates over at least half a second.
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
            values = np.asarray(found[name], dtype=float)  # null becomes NaN
            times = np.arange(len(values)) * interval_s
            is_known = ~np.isnan(values)
            quantities[quantity] = (times[is_known], values[is_known])
    return over_time.long(quantities)
