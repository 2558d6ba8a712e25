"""Recordings of links: a trace's capacity over time, and traces from measurements."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Literal

from common.config_file import quote
from common.csv_text import read_csv
from common.errors import KneepointError
from networks.traces import (
    MOST_OPPORTUNITIES,
    OPPORTUNITY_BITS,
    OPPORTUNITY_BYTES,
    trace_of_rates,
)

Amount = Literal["bytes", "packets", "rate"]
TIME_UNITS: Mapping[str, Fraction] = {
    "s": Fraction(1000),
    "ms": Fraction(1),
    "us": Fraction(1, 1000),
}
"""Milliseconds in a unit of time."""

_IN_NAME = re.compile(r"(?:.*[^a-zµ])?(s|sec|seconds|ms|us|µs)\W*", re.IGNORECASE)
"""The unit at the end of a column's name: time_ms, `t (s)`."""
_SPELLED: Mapping[str, str] = {"sec": "s", "seconds": "s", "µs": "us"}
_LASTS_S = (1, 4 * 3600)
_MBPS = (0.01, 2000)
"""How long recordings of links last, and their mean rates, where no unit is given."""

_MOST_BYTES = 2**28


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
    """Describes a trace; `outage_s` without an opportunity and more is an outage."""
    outages = tuple(
        Outage(before / 1000, (after - before) / 1000)
        for before, after in pairwise([0, *times_ms])
        if after - before >= 1000 * outage_s
    )
    duration_s = times_ms[-1] / 1000
    mean_mbps = len(times_ms) * OPPORTUNITY_BITS / duration_s / 1e6
    return Summary(len(times_ms), duration_s, mean_mbps, times_ms[0], outages)


def capacity_over_time(times_ms: Sequence[int], bin_ms: int) -> list[float]:
    """Returns a trace's capacity (Mbit/s) in each whole bin; a short trace has one bin.

    An opportunity at millisecond t belongs to the bin (start, end] that contains t, as in a cut.
    """
    bins = [0] * max(1, times_ms[-1] // bin_ms)
    for time_ms in times_ms:
        number = max(0, -(-time_ms // bin_ms) - 1)
        if number < len(bins):
            bins[number] += 1
    length_ms = min(bin_ms, times_ms[-1])
    return [count * OPPORTUNITY_BITS / length_ms / 1000 for count in bins]


def trace_of_amounts(rows: Iterable[tuple[Fraction, Fraction]]) -> list[int]:
    """Returns the opportunities (ms) behind bytes that arrived at certain times (ms).

    Every 1504 bytes make an opportunity, when the last of them has arrived, rounded up to a
    whole millisecond. Times count from the first row's.
    """
    times_ms: list[int] = []
    start_ms: Fraction | None = None
    waiting = Fraction(0)
    for time_ms, amount in rows:
        start_ms = time_ms if start_ms is None else start_ms
        count, waiting = divmod(waiting + amount, OPPORTUNITY_BYTES)
        if len(times_ms) + count > MOST_OPPORTUNITIES:
            raise KneepointError(
                f"the recording has more than {MOST_OPPORTUNITIES} packets; cut it, or check its "
                "units"
            )
        times_ms += [math.ceil(time_ms - start_ms)] * int(count)
    return times_ms


def guess_unit(path: Path, time: str, amount: Amount, column: str) -> tuple[str, str]:
    """Returns the unit of a recording's times, and what tells it.

    It is the one that the column's name ends in; else the only one that makes the recording as
    long, and its mean rate as great, as recordings of links are.
    """
    named = _IN_NAME.fullmatch(time.strip())
    if named:
        unit = named[1].lower()
        return _SPELLED.get(unit, unit), f"as column {time!r} is named"
    rows = _read(path, time, column)
    lasts = float(rows[-1][0] - rows[0][0]) if rows else 0.0
    worth = {"bytes": 8, "packets": OPPORTUNITY_BITS}.get(amount)
    bits = float(sum(value for _, value in rows)) * worth if worth else None
    found = {}
    for unit, unit_ms in TIME_UNITS.items():
        lasts_s = lasts * float(unit_ms) / 1000
        mbps = bits / lasts_s / 1e6 if bits is not None and lasts_s > 0 else None
        rate = "" if mbps is None else f" at {mbps:.3g} Mbit/s"
        fits = mbps is None or _MBPS[0] <= mbps <= _MBPS[1]
        found[unit] = (fits and _LASTS_S[0] <= lasts_s <= _LASTS_S[1], f"{lasts_s:g} s{rate}")
    fitting = [unit for unit, (fits, _) in found.items() if fits]
    if len(fitting) == 1:
        return fitting[0], f"which makes it {found[fitting[0]][1]}"
    choice = ", ".join(f"{unit}: {what}" for unit, (_, what) in found.items())
    raise KneepointError(
        f"{path}: nothing tells the unit of column {time!r} ({choice}); give --unit"
    )


def read_recording(
    path: Path, time: str | None, amount: Amount, column: str, unit: str, every_s: float | None
) -> list[int]:
    """Returns the opportunities (ms) of a recording: a CSV file with a header.

    Args:
        path: the file.
        time: its column of times, in `unit`; None: one row every `every_s`.
        amount: kind of `column`: bytes or packets of 1504 bytes that arrived since the row before,
            or the rate (Mbit/s) until the next row; the last row lasts as long as the one before.
        column: see above.
        unit: of the times: s, ms or us.
        every_s: time between rows (s), if there is no column of times.

    Raises:
        KneepointError: a column is missing, a cell is no number, times decrease, or nothing passes.
    """
    rows = _read(path, time, column)
    if time is None:
        every_ms = Fraction(repr(every_s or 1)) * 1000
        timed = [(number * every_ms, value) for number, (_, value) in enumerate(rows)]
    else:
        timed = [(moment * TIME_UNITS[unit], value) for moment, value in rows]
    for number, ((before_ms, _), (after_ms, _)) in enumerate(pairwise(timed)):
        if after_ms < before_ms:
            raise KneepointError(
                f"{path}, row {number + 2}: its time is before that of the row above; sort the file"
            )
    if amount == "rate":
        lasts = [after - before for (before, _), (after, _) in pairwise(timed)]
        if time is None:
            lasts = [every_ms]
        if not lasts:
            raise KneepointError(f"{path}: a single rate has no end; add a row, or give --every-s")
        lasts += lasts[-1:] * (len(timed) - len(lasts))
        times_ms = trace_of_rates(
            (last, rate) for last, (_, rate) in zip(lasts, timed, strict=True)
        )
    else:
        worth = OPPORTUNITY_BYTES if amount == "packets" else 1
        times_ms = trace_of_amounts((moment, value * worth) for moment, value in timed)
    if not times_ms or times_ms[-1] == 0:
        raise KneepointError(
            f"{path}: column {column!r} has less than a packet of {OPPORTUNITY_BYTES} bytes after "
            "the first row; check the column and its unit"
        )
    return times_ms


def _read(path: Path, time: str | None, column: str) -> list[tuple[Fraction, Fraction]]:
    header, lines = read_csv(path, _MOST_BYTES)
    for name in filter(None, (time, column)):
        if name not in header:
            known = ", ".join(header) or "none"
            raise KneepointError(f"{path}: has no column {name!r}; its columns: {known}")
    places = [header.index(time) if time else None, header.index(column)]
    rows = []
    for number, line in lines:
        where = f"{path}, line {number}"
        moment, value = (_number(line, place, header, where) for place in places)
        if value < 0:
            raise KneepointError(
                f"{where}, column {column}: {float(value):g} is below 0; correct it"
            )
        rows.append((moment, value))
    return rows


def _number(line: list[str], place: int | None, header: list[str], where: str) -> Fraction:
    if place is None:
        return Fraction(0)
    text = line[place].strip()
    try:
        if len(text) <= 40 and "/" not in text and abs(float(text)) < 1e18:
            return Fraction(text)
    except ValueError:
        pass
    raise KneepointError(
        f"{where}, column {header[place]}: {quote(text)} is not a number; correct it"
    )
