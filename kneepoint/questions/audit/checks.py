"""Evidence against a published row from its arithmetic, from other rows, and from our runs.

Every check takes rows of `beside` and yields findings. No finding rests on a tolerance alone. The
number must be off by more than twice the tolerance CLOSE, or by more than CLOSE and improbably far;
and in any case by more than FACTOR times the typical difference of the other rows of its table. The
typical difference is a median, on which wrong rows have little influence. Sizes are differences of
natural logarithms.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from kneepoint.analysis.frames import PARAMETER, Record, parameters_in, records
from kneepoint.analysis.metrics import (
    MEAN_OF_RATIOS,
    METRICS,
    POWER,
    QUEUEING_DELAY,
    SIGNAL_DELAY,
    THROUGHPUT,
    resolution,
)
from kneepoint.stats.outliers import FACTOR, MIN_NEIGHBOURS, OtherRows, beyond_neighbours

CLOSE = {THROUGHPUT: 0.05, SIGNAL_DELAY: 0.05, QUEUEING_DELAY: 0.05, POWER: 0.10}
"""The relative difference from our means up to which a row is close."""
CAPACITY = "capacity_mbps"
MIN_OTHERS = 4
"""The minimum number of other numbers that define a typical difference."""
SIGMA = 1.4826
"""The ratio of a normal variable's standard deviation to its median absolute deviation."""
CONVINCING = 2.0
"""The minimum ratio of distances from our runs: with another number corrected, over the blamed
number corrected."""
UNSURE = "any of the three may be wrong"
"""The remark on three inconsistent numbers if our runs do not determine the wrong one."""


@dataclass(frozen=True)
class Finding:
    """One piece of evidence against a row.

    `check` is arithmetic, capacity, repetition, conflict, neighbours or replay; `metric` is off by
    `size`; `limit` is the minimum size that counts. `more` has further columns of the table
    audit_evidence.
    """

    table: str
    row: int
    check: str
    metric: str
    size: float
    limit: float
    more: Mapping[str, Any]


def arithmetic(rows: pd.DataFrame) -> Iterator[Finding]:
    """Finds rows whose power is not throughput over delay, even allowing for rounding.

    Any of the three numbers can be wrong: see `_blamed`. If `_blamed` returns None, the finding
    names power, which follows from the others, and its remark is UNSURE. `low` and `high` are the
    range that the other two numbers imply. `truncations` finds rows whose digits were truncated
    instead of rounded.
    """
    for row, steps in _with_arithmetic(rows):
        if not _agrees(row, steps) and _cut_off(row, steps) is None:
            yield _of_arithmetic("arithmetic", row, steps, _blamed(row))


def truncations(rows: pd.DataFrame) -> Iterator[Finding]:
    """Finds rows whose power is throughput over delay only if digits were truncated.

    These findings are no evidence against a row.
    """
    for row, steps in _with_arithmetic(rows):
        metric = None if _agrees(row, steps) else _cut_off(row, steps)
        if metric:
            yield _of_arithmetic("truncation", row, steps, metric)


_TRIO = (POWER, SIGNAL_DELAY, THROUGHPUT)
"""Power, delay and throughput; where several may be truncated, the first is named."""
Steps = Mapping[str, float]
"""The value of one unit in the last printed digit of each metric of _TRIO."""


def _with_arithmetic(rows: pd.DataFrame) -> Iterator[tuple[Record, Steps]]:
    """Yields rows that print all three numbers, with one unit in the last digit of each."""
    for _, table in rows.groupby("table", sort=False):
        steps = {metric: resolution(table, metric) for metric in _TRIO}
        for label, row in zip(table.index, records(table), strict=True):
            own = {metric: float(steps[metric][label]) for metric in _TRIO}
            numbers = [*own.values(), *(row[f"published_{metric}"] for metric in _TRIO)]
            if all(number > 0 for number in numbers):
                yield row, own


def _agrees(row: Record, steps: Steps, cut_off: Iterable[str] = ()) -> bool:
    """Returns whether a row's three numbers can agree, some truncated and the others rounded."""
    low, high = _implied(row, steps, POWER, cut_off)
    least, most = _range(row, steps, POWER, cut_off)
    return least <= high and low <= most


def _cut_off(row: Record, steps: Steps) -> str | None:
    """Returns the number that may be truncated, power if all three are; None if none can be."""
    ways = {**{metric: (metric,) for metric in _TRIO}, "": _TRIO}
    return next((way or POWER for way in ways if _agrees(row, steps, ways[way])), None)


def _range(
    row: Record, steps: Steps, metric: str, cut_off: Iterable[str] = ()
) -> tuple[float, float]:
    """Returns the range of values that may be printed as this number."""
    value, step = float(row[f"published_{metric}"]), steps[metric]
    slack = MEAN_OF_RATIOS * value if metric == POWER else 0.0
    below, above = (0.0, step) if metric in cut_off else (step / 2, step / 2)
    return value - below - slack, value + above + slack


def _implied(
    row: Record, steps: Steps, metric: str, cut_off: Iterable[str] = ()
) -> tuple[float, float]:
    """Returns the range of one of the three numbers that the other two imply."""
    power, delay, throughput = (_range(row, steps, each, cut_off) for each in _TRIO)
    if metric == THROUGHPUT:
        return power[0] * delay[0] / 1e3, power[1] * delay[1] / 1e3
    below = delay if metric == POWER else power
    return 1e3 * throughput[0] / below[1], 1e3 * throughput[1] / max(below[0], 1e-9)


def _blamed(row: Record) -> str | None:
    """Returns the wrong number: with the value that the others imply instead, the row is close.

    None if our runs do not determine it: without runs; if no replacement makes the row close; if
    another replacement brings the row nearly as close (by less than the factor CONVINCING); and if
    the numbers contradict each other by no more than the tolerance of a close delay.
    """
    power, delay, throughput = (float(row[f"published_{metric}"]) for metric in _TRIO)
    implied = {
        POWER: 1e3 * throughput / delay,
        SIGNAL_DELAY: 1e3 * throughput / power,
        THROUGHPUT: power * delay / 1e3,
    }
    apart = {}
    for metric, value in implied.items():
        numbers = {POWER: power, SIGNAL_DELAY: delay, THROUGHPUT: throughput, metric: value}
        ours = {each: float(row[f"ours_{each}"]) for each in _TRIO}
        if all(ours[each] > 0 for each in _TRIO):
            sizes = {each: abs(math.log(numbers[each] / ours[each])) for each in _TRIO}
            if all(sizes[each] <= close(each) for each in _TRIO):
                apart[metric] = sum(sizes.values())
    if not apart:
        return None
    nearest, *others = sorted(apart, key=lambda metric: apart[metric])
    is_large = abs(math.log(power / implied[POWER])) > close(SIGNAL_DELAY)
    is_convincing = not others or CONVINCING * apart[nearest] <= apart[others[0]]
    return nearest if is_large and is_convincing else None


def _of_arithmetic(check: str, row: Record, steps: Steps, wrong: str | None) -> Finding:
    metric, remark = wrong or POWER, None if wrong else UNSURE
    low, high = _implied(row, steps, metric)
    least, most = _range(row, steps, metric)
    power, delay, throughput = (float(row[f"published_{each}"]) for each in _TRIO)
    size = abs(math.log(power * delay / throughput / 1e3))
    limit = math.log(high / low) / 2 + math.log(most / least) / 2
    more = {"low": low, "high": high, "remark": remark}
    return Finding(row["table"], row["row"], check, metric, size, limit, more)


def capacities(rows: pd.DataFrame) -> Iterator[Finding]:
    """Finds rows whose throughput, even allowing for rounding, is above the capacity of their link.

    The column `capacity_mbps` is the maximum of our runs, NaN without runs. It depends on when a
    run begins and ends, so throughput must exceed it by more than CLOSE.
    """
    for _, table in rows.groupby("table", sort=False) if CAPACITY in rows else ():
        half = resolution(table, THROUGHPUT).fillna(0.0) / 2
        above = (table[f"published_{THROUGHPUT}"] - half) / table[CAPACITY]
        off = pd.Series(np.log(above), index=table.index)
        for label in off.index[off > close(THROUGHPUT)]:
            row, size = table.loc[label], float(off[label])
            more = {"high": float(row[CAPACITY])}
            limit = close(THROUGHPUT)
            yield Finding(row["table"], row["row"], "capacity", THROUGHPUT, size, limit, more)


def repetitions(rows: pd.DataFrame) -> Iterator[Finding]:
    """Finds rows that repeat another row's numbers although our runs of the two differ.

    At least two numbers must be equal that do not follow from each other. The row nearest to our
    runs is not accused; without our runs, either row may be wrong.
    """
    values = pd.DataFrame(logarithms(rows, "published"))
    for _, table in rows.groupby("table", sort=False):
        printed = values.loc[table.index].dropna(axis="columns", how="all")
        columns = [f"published_{metric}" for metric in printed]
        alike = table[printed.notna().sum(axis="columns") >= 2]
        for _, group in alike.groupby(columns, sort=False, dropna=False):
            if len(group) > 1:
                yield from _repeated(group.reset_index(drop=True))


def _repeated(group: pd.DataFrame) -> Iterator[Finding]:
    ours, published = logarithms(group, "ours"), logarithms(group, "published")
    distance = pd.DataFrame({m: (ours[m] - published[m]).abs() for m in ours}).max(axis="columns")
    best = int(distance.to_numpy().argmin()) if distance.notna().all() else None
    for i, row in enumerate(records(group)):
        other = best if best is not None else int(i == 0)
        more = {"other_row": int(group["row"][other])}
        metric, size = SIGNAL_DELAY, math.nan
        if best is not None:
            apart = {m: float(abs(values[i] - values[best])) for m, values in ours.items()}
            metric, size = max(apart.items(), key=lambda each: np.nan_to_num(each[1]))
            if size <= far(metric):
                continue
            more["other_ours"] = group[f"ours_{metric}"][best]
        yield Finding(row["table"], row["row"], "repetition", metric, size, far(metric), more)


def conflicts(rows: pd.DataFrame) -> Iterator[Finding]:
    """Finds pairs of rows with the same parameters but different numbers.

    The row farther from our runs is wrong. The typical difference is the median over such pairs. If
    several rows contradict a row, the finding names the first of the same report.
    """
    reports = rows["report"]
    for metric in METRICS:
        pairs = _same_settings(rows, metric)
        values = np.log(rows[f"published_{metric}"])
        apart = pd.Series([abs(values[a] - values[b]) for a, b in pairs], dtype=float)
        variation = variations(rows, metric)
        found: dict[Any, tuple[bool, Any, float, float]] = {}
        for (first, second), (i, size) in zip(pairs, apart.items(), strict=True):
            typical = SIGMA * float(apart.drop(i).median()) if len(apart) > MIN_OTHERS else 0.0
            chance = math.sqrt(variation[first] ** 2 + variation[second] ** 2)
            limit = max(METRICS[metric].relative, FACTOR * max(typical, chance))
            for label, other in _farther(rows, metric, first, second) if size > limit else ():
                of_own_report = reports[other] == reports[label]
                if label not in found or of_own_report > found[label][0]:
                    found[label] = of_own_report, other, float(size), limit
        for label, (_, other, size, limit) in found.items():
            row = rows.loc[label]
            more = {f"other_{name}": rows.loc[other, name] for name in ("table", "row")}
            more["other_published"] = rows.loc[other, f"published_{metric}"]
            yield Finding(row["table"], row["row"], "conflict", metric, size, limit, more)


def _same_settings(rows: pd.DataFrame, metric: str) -> list[tuple[Any, Any]]:
    """Returns the labels of all pairs of rows that print the metric for the same parameters."""
    printed = rows[rows["replayable"].astype(bool) & rows[f"published_{metric}"].notna()]
    keys = ["controller", "network", *parameters_in(rows)]
    groups = printed.groupby(keys, sort=False, dropna=False)
    return [pair for _, group in groups for pair in combinations(group.index, 2)]


def _farther(rows: pd.DataFrame, metric: str, first: Any, second: Any) -> list[tuple[Any, Any]]:
    """Returns the row farther from our runs, and the other row; both orders without runs."""
    off = (np.log(rows[f"ours_{metric}"]) - np.log(rows[f"published_{metric}"])).abs()
    if off[first] > off[second]:
        return [(first, second)]
    return [(second, first)] if off[first] <= off[second] else [(first, second), (second, first)]


def replays(rows: pd.DataFrame) -> Iterator[Finding]:
    """Finds rows farther from our runs than chance and the rest of their table explain.

    A row that is nearer to our runs than the median of the other rows is never found. The distance
    counts from zero or from the median of the other rows, whichever is nearer. A distance below
    `far` that is not close counts only if it is improbable: see `OtherRows`.
    """
    variation = {metric: variations(rows, metric) for metric in METRICS}
    published, ours = logarithms(rows, "published"), logarithms(rows, "ours")
    offs = pd.DataFrame({metric: ours[metric] - published[metric] for metric in METRICS})
    for _, table in rows.groupby("table", sort=False):
        of_table = offs.loc[table.index]
        for metric in METRICS:
            off = of_table[metric].dropna()
            half = resolution(table, metric) / table[f"published_{metric}"] / 2
            for i, (label, distance) in enumerate(zip(off.index, off, strict=True)):
                others = np.delete(off.to_numpy(), i)
                if len(others) < MIN_OTHERS or abs(distance) <= np.median(abs(others)):
                    continue
                row = table.loc[label]
                chance = float(variation[metric][label])
                rest = OtherRows.of(others, chance, int(of_table.notna().to_numpy().sum()))
                digits = float(np.nan_to_num(half[label]))
                size = min(abs(distance), abs(distance - rest.middle))
                limit = rest.limit(close(metric), far(metric)) + digits
                if size > limit and not _is_hosts(row, metric, digits):
                    more = {"variation": chance, "usual": rest.usual, "p": rest.p(size - digits)}
                    yield Finding(row["table"], row["row"], "replay", metric, size, limit, more)


def _is_hosts(row: "pd.Series[Any]", metric: str, digits: float) -> bool:
    """Returns whether a run on another host that fits equally well may have given the number."""
    published = float(row[f"published_{metric}"])
    low, high = (float(row[f"host_{end}_{metric}"]) for end in ("low", "high"))
    return low <= published * (1 + digits) and published * (1 - digits) <= high


# Rows that are outliers in a sweep, or in the relation of delay to throughput --------------------

Values = Mapping[str, "pd.Series[float]"]
"""The logarithms of each metric, from `logarithms`, over the rows of all tables."""


@dataclass(frozen=True)
class Line:
    """A metric over rows that differ in one parameter, or over throughput.

    `points` has for each row the printed place and value, and our runs' place and value (our_place,
    our_value). Values are logarithms; places are logarithms, too, if all places are above zero.
    our_place and our_value are NaN in all rows if any is NaN.
    """

    metric: str
    along: str
    points: pd.DataFrame

    @property
    def kind(self) -> tuple[str, bool]:
        """The kind of the line; a typical bend is computed over lines of one kind."""
        return self.metric, self.along == THROUGHPUT


@dataclass(frozen=True)
class Jump:
    """How far a printed value, and our value in its place, lie outside the neighbours' range.

    `ours` is None without our runs, and NaN where our value has no neighbours. `edge` is the bound
    that the printed value passes, `bend` its distance from the line through the nearest neighbour
    on each side; `close` is whether our value is close to the printed value.
    """

    line: Line
    row: int
    size: float
    ours: float | None
    edge: float
    bend: float
    close: bool


def neighbours(rows: pd.DataFrame) -> Iterator[Finding]:
    """Finds rows that jump where our runs do not and are not close.

    Neighbours are the rows that differ in one parameter and, for the delay, also the rows of
    similar throughput. Two neighbours on each side allow the range between all lines through two of
    them, so that a bend accuses no row, and a wrong neighbour rarely does. The typical size is the
    median distance of the table's other rows from the line through their nearest neighbours. The
    farthest row is found and left out before the next search.
    """
    rows = rows.reset_index(drop=True)
    values = logarithms(rows, "published"), logarithms(rows, "ours")
    for _, table in rows.groupby("table", sort=False):
        lines = [*_along_parameters(table, *values), _along_throughput(table, *values)]
        while True:
            jumps = [jump for line in lines for jump in _jumps(line)]
            found = [(jump, limit) for jump in jumps if (limit := _limit(jump, jumps))]
            if not found:
                break
            worst = max(found, key=lambda pair: abs(pair[0].size) / pair[1])[0].row
            for jump, limit in found:
                if jump.row == worst:
                    yield _finding(table, jump, limit)
            lines = [
                replace(line, points=line.points.drop(worst, errors="ignore")) for line in lines
            ]


def _limit(jump: Jump, jumps: Sequence[Jump]) -> float | None:
    """Returns the minimum size of a jump that is evidence; None if this jump is no evidence."""
    if jump.close or abs(jump.size) <= far(jump.line.metric):
        return None
    alike = (each for each in jumps if each.line.kind == jump.line.kind)
    others = [abs(each.bend) for each in alike if each.row != jump.row]
    if len(others) < MIN_OTHERS:
        return None
    limit = max(far(jump.line.metric), FACTOR * float(np.median(others)))
    ours_stays = jump.ours is None or abs(jump.size - jump.ours) > limit
    return limit if abs(jump.size) > limit and ours_stays else None


def _finding(table: pd.DataFrame, jump: Jump, limit: float) -> Finding:
    where = str(table["table"][jump.row]), int(table["row"][jump.row])
    more = {"along": jump.line.along, "high" if jump.size > 0 else "low": math.exp(jump.edge)}
    return Finding(*where, "neighbours", jump.line.metric, abs(jump.size), limit, more)


def _along_parameters(table: pd.DataFrame, published: Values, ours: Values) -> Iterator[Line]:
    parameters = parameters_in(table, varied=True)
    for parameter in parameters:
        place = table[parameter].astype(float)
        if (place.dropna() > 0).all():
            place = place.map(math.log, na_action="ignore")
        others = [each for each in parameters if each != parameter]
        groups = [table.index]
        if others:
            groups = [each.index for _, each in table.groupby(others, dropna=False)]
        along = parameter.removeprefix(PARAMETER)
        for group in groups:
            for metric in METRICS if len(group) > MIN_NEIGHBOURS else ():
                x, y, z = place[group], published[metric][group], ours[metric][group]
                yield _line(metric, along, x, y, x, z)


def _along_throughput(table: pd.DataFrame, published: Values, ours: Values) -> Line:
    places = [(values, m) for values in (published, ours) for m in (THROUGHPUT, SIGNAL_DELAY)]
    columns = (values[metric][table.index] for values, metric in places)
    return _line(SIGNAL_DELAY, THROUGHPUT, *columns)


def _line(metric: str, along: str, *columns: "pd.Series[float]") -> Line:
    names = ("place", "value", "our_place", "our_value")
    points = pd.DataFrame(dict(zip(names, columns, strict=True)))
    points = points.dropna(subset=["place", "value"])
    if points.isna().any(axis=None):
        points[["our_place", "our_value"]] = math.nan
    return Line(metric, along, points)


def _jumps(line: Line) -> Iterator[Jump]:
    x, y, our_x, our_y = line.points.to_numpy(dtype=float).T
    apart = np.abs([our_x - x, our_y - y])
    is_close = (apart[0] <= close(THROUGHPUT)) & (apart[1] <= close(line.metric))
    for i, row in enumerate(line.points.index):
        size, edge, bend = beyond_neighbours(x, y, i)
        if not math.isnan(size):
            ours = None if np.isnan(our_x).any() else beyond_neighbours(our_x, our_y, i)[0]
            yield Jump(line, int(row), size, ours, edge, bend, bool(is_close[i]))


# What checks share ----------------------------------------------------------------------------


def logarithms(rows: pd.DataFrame, whose: str) -> "dict[str, pd.Series[float]]":
    """Returns the logarithm of each metric, `published` or `ours`; NaN where it is not printed.

    Power counts only where a row prints neither throughput nor delay, from which power follows.
    """
    printed = {metric: rows[f"published_{metric}"] for metric in METRICS}
    printed[POWER] = printed[POWER].where(printed[THROUGHPUT].isna() & printed[SIGNAL_DELAY].isna())
    values = {metric: rows[f"{whose}_{metric}"] for metric in METRICS}
    return {
        metric: np.log(values[metric].where(printed[metric].notna() & (values[metric] > 0)))
        for metric in METRICS
    }


def variations(rows: pd.DataFrame, metric: str) -> "pd.Series[float]":
    """Returns the relative standard deviation of our runs of each row, or of its table if greater.

    The table's deviation is the root mean square over its rows, because few runs estimate a
    deviation badly. The result is 0 if both are unknown.
    """
    own = rows[f"deviation_{metric}"] / rows[f"ours_{metric}"]
    pooled = (own**2).groupby(rows["table"]).transform("mean") ** 0.5
    return own.combine(pooled, np.fmax).fillna(0.0)


def close(metric: str) -> float:
    """Returns CLOSE as a difference of logarithms."""
    return math.log1p(CLOSE[metric])


def far(metric: str) -> float:
    """Returns the difference of logarithms beyond which a number need not be improbable."""
    return math.log1p(2 * CLOSE[metric])
