"""Recordings of links: summaries of traces, and traces from measurements."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Literal

from kneepoint.common.config_file import quote
from kneepoint.common.csv_text import read_csv, time_of
from kneepoint.common.errors import KneepointError
from kneepoint.networks.traces import (
    MAX_OPPORTUNITIES,
    OPPORTUNITY_BITS,
    OPPORTUNITY_BYTES,
    trace_of_rates,
)

Amount = Literal["bytes", "packets", "rate"]
TIME_UNITS: Mapping[str, Fraction] = {
    "s": Fraction(1000),
    "ms": Fraction(1),
    "us": Fraction(1, 1000),
    "ns": Fraction(1, 10**6),
    "min": Fraction(60_000),
    "h": Fraction(3_600_000),
}
"""Milliseconds in a unit of time."""

RATE_UNITS: Mapping[str, Fraction] = {
    **{"bit/s": Fraction(1, 10**6), "kbit/s": Fraction(1, 1000), "Mbit/s": Fraction(1)},
    **{"Gbit/s": Fraction(1000), "B/s": Fraction(8, 10**6), "kB/s": Fraction(8, 1000)},
    "MB/s": Fraction(8),
}
"""Mbit/s in a unit of a rate."""

_GUESSED = ("s", "ms", "us")
_SPELLED: Mapping[str, str] = {
    **{unit: unit for unit in TIME_UNITS},
    **dict.fromkeys(("sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("msec", "milliseconds"), "ms"),
    **dict.fromkeys(("µs", "usec", "microseconds"), "us"),
    **dict.fromkeys(("nsec", "nanoseconds"), "ns"),
    **{"mins": "min", "minutes": "min", "hours": "h"},
}
_IN_NAME = re.compile(rf"(?:.*[^a-zµ])?({'|'.join(_SPELLED)})\W*", re.IGNORECASE)
"""The unit at the end of a column's name: time_ms, `t (s)`."""
_PREFIX = r"(?P<prefix>(?:(?i:kilo|mega|giga)|[kKmMgG]i?)?)"
_WORD = rf"(?:.*?(?:[^a-zA-Z]|[a-z](?=[A-Z])))??{_PREFIX}(?P<what>(?i:bits?|bytes?)|b|B)"
_PER_SECOND = r"(?P<per>ps|PS|/s|/sec|/S|_?per_?s(?:ec(?:ond)?)?|_s)"
_RATE_IN_NAME = re.compile(rf"{_WORD}{_PER_SECOND}\W*")
_AMOUNT_IN_NAME = re.compile(rf"{_WORD}\W*")
"""The unit at the end of a column's name: throughput_kbps, `rate (MB/s)`; rx_kB, bits."""
_LASTS_S = (1, 4 * 3600)
_MBPS = (0.01, 2000)
"""Plausible durations and mean rates of recordings, by which a unit is guessed."""
_MIN_MBPS = 0.1
"""The minimum plausible mean rate of a trace; times of slower traces are probably in
microseconds."""

_MAX_BYTES = 2**28
_DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+(?:[eE][-+]?\d+)?")
_THOUSANDS = re.compile(r"[-+]?[1-9]\d{0,2},\d{3}")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Outage:
    """A period without any opportunity."""

    start_s: float
    duration_s: float


@dataclass(frozen=True)
class Summary:
    """A summary of one pass of a trace."""

    opportunities: int
    duration_s: float
    mean_mbps: float
    first_ms: int
    outages: tuple[Outage, ...]


def summarise(times_ms: Sequence[int], outage_s: float = 1) -> Summary:
    """Describes a trace; an outage is a gap of at least `outage_s`."""
    outages = tuple(
        Outage(before / 1000, (after - before) / 1000)
        for before, after in pairwise([0, *times_ms])
        if after - before >= 1000 * outage_s
    )
    duration_s = times_ms[-1] / 1000
    mean_mbps = len(times_ms) * OPPORTUNITY_BITS / duration_s / 1e6
    return Summary(len(times_ms), duration_s, mean_mbps, times_ms[0], outages)


def improbable(summary: Summary) -> str | None:
    """Returns the reason why a trace is implausible for a link; None for a plausible trace."""
    lasts = _LASTS_S[0] <= summary.duration_s <= _LASTS_S[1]
    if lasts and _MIN_MBPS <= summary.mean_mbps <= _MBPS[1]:
        return None
    return (
        f"{summary.duration_s:g} s at {summary.mean_mbps:.3g} Mbit/s are improbable for a link; "
        "check that its times are in ms, and the units of its source"
    )


def capacity_over_time(times_ms: Sequence[int], bin_ms: int) -> list[float]:
    """Returns a trace's capacity (Mbit/s) in each whole bin; a short trace has one bin.

    An opportunity at millisecond t belongs to the bin (start, end] that contains t (see Cut).
    """
    bins = [0] * max(1, times_ms[-1] // bin_ms)
    for time_ms in times_ms:
        number = max(0, -(-time_ms // bin_ms) - 1)
        if number < len(bins):
            bins[number] += 1
    length_ms = min(bin_ms, times_ms[-1])
    return [count * OPPORTUNITY_BITS / length_ms / 1000 for count in bins]


def trace_of_amounts(rows: Iterable[tuple[Fraction, Fraction]]) -> list[int]:
    """Returns the opportunities (ms) of rows (time in ms, bytes that arrived).

    Every 1504 bytes make an opportunity at the arrival of the last byte, rounded up to a whole
    millisecond. Times count from the first row.
    """
    times_ms: list[int] = []
    start_ms: Fraction | None = None
    waiting = Fraction(0)
    for number, (time_ms, amount) in enumerate(rows):
        start_ms = time_ms if start_ms is None else start_ms
        count, waiting = divmod(waiting + amount, OPPORTUNITY_BYTES)
        if len(times_ms) + count > MAX_OPPORTUNITIES:
            raise KneepointError(
                f"the recording has more than {MAX_OPPORTUNITIES} packets; convert its first "
                f"{number} rows, or check its units"
            )
        times_ms += [math.ceil(time_ms - start_ms)] * int(count)
    return times_ms


def guess_unit(path: Path, time: str, amount: Amount, column: str) -> tuple[str, str]:
    """Returns the unit of a recording's times, and the evidence for it, "" for dates.

    The unit is the suffix of the column's name, or else the only unit with which the recording's
    duration and mean rate are plausible for a link.

    Raises:
        KneepointError: no unit or several units are plausible.
    """
    named = _IN_NAME.fullmatch(time.strip())
    rows = _read(path, time, column)
    if rows.have_dates:
        return "ms", ""
    if named:
        return _SPELLED[named[1].lower()], "by its name"
    lasts = float(rows.times[-1] - rows.times[0])
    worth = {"bytes": 8 * unit_of(path, "bytes", column)[0], "packets": OPPORTUNITY_BITS}
    bits = float(sum(rows.values)) * float(worth[amount]) if amount in worth else None
    found = {}
    for unit in _GUESSED:
        lasts_s = lasts * float(TIME_UNITS[unit]) / 1000
        mbps = bits / lasts_s / 1e6 if bits is not None and lasts_s > 0 else None
        rate = "" if mbps is None else f" at {mbps:.3g} Mbit/s"
        fits = mbps is None or _MBPS[0] <= mbps <= _MBPS[1]
        found[unit] = (fits and _LASTS_S[0] <= lasts_s <= _LASTS_S[1], f"{lasts_s:g} s{rate}")
    fitting = [unit for unit, (fits, _) in found.items() if fits]
    if len(fitting) == 1:
        return fitting[0], f"so that the recording lasts {found[fitting[0]][1]}"
    choice = ", ".join(f"{unit}: {what}" for unit, (_, what) in found.items())
    raise KneepointError(
        f"{path}: the unit of column {time!r} is ambiguous ({choice}); give --unit"
    )


def unit_of(
    path: Path, amount: Amount, column: str, rate_unit: str | None = None
) -> tuple[Fraction, str]:
    """Returns the unit of a column of amounts in Mbit/s, bytes or packets, and the evidence for it.

    Raises:
        KneepointError: its name contradicts `amount`, or may mean bits or bytes.
    """
    rate, other = (each.fullmatch(column.strip()) for each in (_RATE_IN_NAME, _AMOUNT_IN_NAME))
    if other and not other["prefix"] and len(other["what"]) == 1:
        other = None  # the name is a single letter
    is_amount = other and not (other["prefix"] and other["what"].lower().startswith("bit"))
    if (
        (amount != "rate" and rate)
        or (amount == "packets" and other)
        or (amount == "rate" and is_amount)
    ):
        kind = "--rate" if rate else "--bytes"
        raise KneepointError(f"{path}: column {column!r} belongs to {kind} by its name; use it")
    if amount == "rate" and rate_unit:
        return RATE_UNITS[rate_unit], ""
    named = rate or other  # `mbit` names a rate in a column of rates
    if named is None:
        why = f"column {column!r} is taken in Mbit/s; if not, give --rate-unit"
        return Fraction(1), why if amount == "rate" else ""
    bytes_, unit = _bytes_in(path, column, named)
    scale = bytes_ * RATE_UNITS["B/s"] if amount == "rate" else bytes_
    return scale, f"column {column!r} is in {unit}, by its name"


def _bytes_in(path: Path, column: str, named: re.Match[str]) -> tuple[Fraction, str]:
    prefix, what, per = named["prefix"], named["what"], named.groupdict().get("per")
    if (what == "B" and per == "PS") or (what == "b" and not per):
        raise KneepointError(
            f"{path}: column {column!r} may hold bits or bytes; write kbit, kB, kbps or kB/s"
        )
    is_bits = what == "b" or what.lower().startswith("bit")
    thousand = 1024 if prefix.endswith("i") else 1000
    scale = Fraction(thousand ** " kmg".index(prefix[:1].lower() or " "))
    unit = f"{prefix}{'bit' if is_bits else 'B'}{'/s' if per else ''}"
    return (scale / 8 if is_bits else scale), unit


def read_recording(
    path: Path,
    time: str | None,
    amount: Amount,
    column: str,
    unit: str | None,
    every_s: float | None,
    rate_unit: str | None = None,
) -> list[int]:
    """Returns the opportunities (ms) of a recording, a table in text (see read_csv).

    Args:
        path: the file.
        time: column of times, in `unit`; None: one row every `every_s`.
        amount: quantity of `column`: bytes or packets of 1504 bytes that arrived since the last
            row, or the rate until the next row; the last row lasts as long as the row before.
        column: column of amounts.
        unit: unit of the times, of TIME_UNITS; None for dates.
        every_s: time between rows (s), without a column of times.
        rate_unit: unit of the rates, of RATE_UNITS; None: from the column's name, else Mbit/s.

    Raises:
        KneepointError: a column is missing, a cell is not a number, times decrease, or the
            recording has less than one packet.
    """
    rows = _read(path, time, column)
    scale, _ = unit_of(path, amount, column, rate_unit)
    if rows.have_dates and unit not in (None, "ms"):
        raise KneepointError(f"{path}: column {time!r} has dates; leave --unit out")
    every_ms = Fraction(repr(every_s or 1)) * 1000
    unit_ms = TIME_UNITS[unit or "ms"] if time else every_ms
    timed = [(t * unit_ms, n * scale) for t, n in zip(rows.times, rows.values, strict=True)]
    for line, ((before_ms, _), (after_ms, _)) in zip(rows.lines[1:], pairwise(timed), strict=False):
        if after_ms < before_ms:
            raise KneepointError(
                f"{path}, line {line}: its time is earlier than the row above; sort the file"
            )
    lasts = [after - before for (before, _), (after, _) in pairwise(timed)]
    if time is None:
        lasts = [every_ms]
    if amount == "rate" and not lasts:
        raise KneepointError(f"{path}: a single rate has no end; add a row, or give --every-s")
    worth = OPPORTUNITY_BYTES if amount == "packets" else 1
    try:
        if amount == "rate":
            lasts += lasts[-1:] * (len(timed) - len(lasts))
            steps = zip(lasts, timed, strict=True)
            times_ms = trace_of_rates((last, rate) for last, (_, rate) in steps)
        else:
            times_ms = trace_of_amounts((moment, value * worth) for moment, value in timed)
    except KneepointError as error:
        raise KneepointError(f"{path}: {error}") from None
    if not times_ms or times_ms[-1] == 0:
        raise KneepointError(
            f"{path}: column {column!r} has less than a packet of {OPPORTUNITY_BYTES} bytes after "
            "the first row; check the column and its unit"
        )
    return times_ms


@dataclass(frozen=True)
class _Rows:
    """The columns of times and amounts.

    `times` are numbers in any unit, dates in milliseconds, or without a column the rows' numbers.
    """

    lines: list[int]
    times: list[Fraction]
    values: list[Fraction]
    have_dates: bool


def _read(path: Path, time: str | None, column: str) -> _Rows:
    header, found = read_csv(path, _MAX_BYTES)
    if not header:
        raise KneepointError(f"{path}: is empty; give it a header and rows")
    for name in filter(None, (time, column)):
        if name not in header:
            known = ", ".join(header)
            raise KneepointError(f"{path}: has no column {name!r}; its columns: {known}")
    rows = [*found]
    if not rows:
        raise KneepointError(f"{path}: has no rows below its header; add some")
    lines = [number for number, _ in rows]
    cells = {
        name: [row[header.index(name)].strip() for _, row in rows]
        for name in (time, column)
        if name is not None
    }
    have_dates = time is not None and time_of(cells[time][0]) is not None
    counted = {name: each for name, each in cells.items() if name != time or not have_dates}
    point = "," if _has_decimal_commas(path, counted) else "."
    numbers: dict[str, list[Fraction]] = {}
    for name, column_cells in cells.items():
        read = _number if name in counted else _milliseconds
        texts = [cell.replace(point, ".") for cell in column_cells]
        wheres = (f"{path}, line {line}, column {name}" for line in lines)
        numbers[name] = [read(text, where) for text, where in zip(texts, wheres, strict=True)]
    for line, value in zip(lines, numbers[column], strict=True):
        if value < 0:
            raise KneepointError(
                f"{path}, line {line}, column {column}: {float(value):g} is below 0; correct it"
            )
    times = numbers[time] if time else [*map(Fraction, range(len(rows)))]
    return _Rows(lines, times, numbers[column], have_dates)


def _has_decimal_commas(path: Path, cells: Mapping[str, list[str]]) -> bool:
    """Returns whether commas are decimal points, by a cell that allows no other meaning.

    Raises:
        KneepointError: commas may also separate thousands, or a cell with a comma is not a number.
    """
    with_commas = [cell for each in cells.values() for cell in each if "," in cell]
    if not with_commas:
        return False
    decimal = [cell for cell in with_commas if _DECIMAL_COMMA.fullmatch(cell)]
    if len(decimal) < len(with_commas) or all(_THOUSANDS.fullmatch(cell) for cell in decimal):
        odd = next((each for each in with_commas if each not in decimal), with_commas[0])
        raise KneepointError(
            f"{path}: {quote(odd)} is not a number, or ambiguous: its comma may separate thousands "
            "or decimals; write it without a comma"
        )
    return True


def _milliseconds(text: str, where: str) -> Fraction:
    found = time_of(text)
    if found is None:
        raise KneepointError(f"{where}: {quote(text)} is not a date and time; correct it")
    since = found - (_EPOCH if found.tzinfo else _EPOCH.replace(tzinfo=None))
    return Fraction(since // timedelta(microseconds=1), 1000)


def _number(text: str, where: str) -> Fraction:
    try:
        if len(text) <= 40 and "/" not in text and abs(float(text)) < 1e20:
            return Fraction(text)
    except ValueError:
        pass
    raise KneepointError(f"{where}: {quote(text)} is not a number; correct it")
