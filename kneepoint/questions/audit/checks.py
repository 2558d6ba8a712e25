"""Evidence against a published row: its arithmetic, the other rows, our runs of it.

Every check takes rows of `beside` and yields findings. No finding rests on a tolerance alone: a
number is found where it is off by more than twice the tolerance CLOSE, or by more than CLOSE and
improbably far, and in any case by more than FACTOR times what is typical of the other rows of its
table. The typical size is a median, which wrong rows hardly move. Sizes are differences of natural
logarithms.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from kneepoint.analysis.frames import (
    PARAMETER,
    Record,
    parameters_in,
    records,
)
from kneepoint.analysis.metrics import (
    MEAN_OF_RATIOS,
    METRICS,
    POWER,
    QUEUEING_DELAY,
    SIGNAL_DELAY,
    THROUGHPUT,
    resolution,
)
from kneepoint.stats.outliers import FACTOR, LEAST_NEIGHBOURS, OtherRows, beyond_neighbours

CLOSE = {THROUGHPUT: 0.05, SIGNAL_DELAY: 0.05, QUEUEING_DELAY: 0.05, POWER: 0.10}
"""The relative difference up to which a row is close to ours."""
CAPACITY = "capacity_mbps"
LEAST_OTHERS = 4
"""The fewest other numbers that define what is typical."""
SIGMA = 1.4826
"""A normal variable's standard deviation over its median absolute deviation."""
CONVINCING = 2.0
"""How many times nearer to our runs a correction of the blamed number must bring the row."""
UNSURE = "any of the three may be the wrong one"
"""The remark on three inconsistent numbers if ours cannot tell which one is wrong."""


@dataclass(frozen=True)
class Finding:
    """One piece of evidence against a row.

    `check` is arithmetic, capacity, repetition, conflict, neighbours or replay; `metric` is off by
    `size`, where `limit` is the least size that counts. `more` are further columns of
    the table audit_evidence.
    """

    table: str
    row: int
    check: str
    metric: str
    size: float
    limit: float
    more: Mapping[str, Any]


def arithmetic(rows: pd.DataFrame) -> Iterator[Finding]:
    """Rows whose power is not their throughput over their delay, even allowing for rounding.

    Any of the three can be the wrong number: see `_blamed`. Where that cannot tell, power is named,
    which follows from the others, and the remark is UNSURE. The other two imply `low` and
    `high`. Rows with truncated instead of rounded digits are left to `truncations`.
    """
    for row, steps in _with_arithmetic(rows):
        if not _agrees(row, steps) and _cut_off(row, steps) is None:
            yield _of_arithmetic("arithmetic", row, steps, _blamed(row))


def truncations(rows: pd.DataFrame) -> Iterator[Finding]:
    """Rows whose power is their throughput over their delay only if digits were truncated.

    They are no evidence against a row.
    """
    for row, steps in _with_arithmetic(rows):
        metric = None if _agrees(row, steps) else _cut_off(row, steps)
        if metric:
            yield _of_arithmetic("truncation", row, steps, metric)


_TRIO = (POWER, SIGNAL_DELAY, THROUGHPUT)
"""Power is throughput over delay; where several may be wrong, the first is named."""
Steps = Mapping[str, float]
"""The value of one unit in the last printed digit of each of the three."""


def _with_arithmetic(rows: pd.DataFrame) -> Iterator[tuple[Record, Steps]]:
    """Rows that print all three numbers, and one unit in the last digit of each."""
    for _, table in rows.groupby("table", sort=False):
        steps = {metric: resolution(table, metric) for metric in _TRIO}
        for label, row in zip(table.index, records(table), strict=True):
            own = {metric: float(steps[metric][label]) for metric in _TRIO}
            numbers = [*own.values(), *(row[f"published_{metric}"] for metric in _TRIO)]
            if all(number > 0 for number in numbers):
                yield row, own


def _agrees(row: Record, steps: Steps, cut_off: Iterable[str] = ()) -> bool:
    """Whether its three numbers can be of one run, some of them truncated, the others rounded."""
    low, high = _implied(row, steps, POWER, cut_off)
    least, most = _range(row, steps, POWER, cut_off)
    return least <= high and low <= most


def _cut_off(row: Record, steps: Steps) -> str | None:
    """The number that may be truncated, power if all three are; None: truncation fails."""
    ways = {**{metric: (metric,) for metric in _TRIO}, "": _TRIO}
    return next((way or POWER for way in ways if _agrees(row, steps, ways[way])), None)


def _range(
    row: Record, steps: Steps, metric: str, cut_off: Iterable[str] = ()
) -> tuple[float, float]:
    """The values that a printed number can stand for."""
    value, step = float(row[f"published_{metric}"]), steps[metric]
    slack = MEAN_OF_RATIOS * value if metric == POWER else 0.0
    below, above = (0.0, step) if metric in cut_off else (step / 2, step / 2)
    return value - below - slack, value + above + slack


def _implied(
    row: Record, steps: Steps, metric: str, cut_off: Iterable[str] = ()
) -> tuple[float, float]:
    """The range of one of the three numbers that the other two imply."""
    power, delay, throughput = (_range(row, steps, each, cut_off) for each in _TRIO)
    if metric == THROUGHPUT:
        return power[0] * delay[0] / 1e3, power[1] * delay[1] / 1e3
    below = delay if metric == POWER else power
    return 1e3 * throughput[0] / below[1], 1e3 * throughput[1] / max(below[0], 1e-9)


def _blamed(row: Record) -> str | None:
    """The wrong number: if the other two replace it, the row agrees with our runs.

    None if our runs cannot tell: if there are none, if no number does, if the next one
    brings the row nearly as near to ours (by less than a factor of CONVINCING), and if they are
    apart by no more than our own error.
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
    """Rows whose throughput, even allowing for its digits, is above `capacity_mbps` of their link.

    The capacity is the greatest of our runs, NaN without one. It depends on when a run begins and
    ends, so a throughput above it by less than a close row's is none.
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
    """Rows that repeat another row's numbers although our runs of the two differ.

    At least two numbers have to be equal that do not follow from each other. The row that our runs
    come nearest to is not accused; without our runs either may be wrong.
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
    """Rows that another row with the same parameters contradicts: the one farther from ours.

    Typical is the difference of such pairs. Of several rows that contradict one, the first of
    its own report is named.
    """
    reports = rows["report"]
    for metric in METRICS:
        pairs = _same_settings(rows, metric)
        values = np.log(rows[f"published_{metric}"])
        apart = pd.Series([abs(values[a] - values[b]) for a, b in pairs], dtype=float)
        variation = variations(rows, metric)
        found: dict[Any, tuple[bool, Any, float, float]] = {}
        for (first, second), (i, size) in zip(pairs, apart.items(), strict=True):
            typical = SIGMA * float(apart.drop(i).median()) if len(apart) > LEAST_OTHERS else 0.0
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
    """Labels of all pairs of rows that print the metric for the same parameters."""
    printed = rows[rows["replayable"].astype(bool) & rows[f"published_{metric}"].notna()]
    keys = ["controller", "network", *parameters_in(rows)]
    groups = printed.groupby(keys, sort=False, dropna=False)
    return [pair for _, group in groups for pair in combinations(group.index, 2)]


def _farther(rows: pd.DataFrame, metric: str, first: Any, second: Any) -> list[tuple[Any, Any]]:
    """The row that is farther from ours, and the other; both orders if ours is unknown."""
    off = (np.log(rows[f"ours_{metric}"]) - np.log(rows[f"published_{metric}"])).abs()
    if off[first] > off[second]:
        return [(first, second)]
    return [(second, first)] if off[first] <= off[second] else [(first, second), (second, first)]


def replays(rows: pd.DataFrame) -> Iterator[Finding]:
    """Rows farther from our runs than chance and the rest of their table explain.

    A row that is nearer to ours than the median of the others is none. The distance counts from
    zero or from the median of the other rows, whichever is nearer. One below `far`, but not close,
    counts only if it is improbable: see `OtherRows`.
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
                if len(others) < LEAST_OTHERS or abs(distance) <= np.median(abs(others)):
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
    """Whether a run on a host that fits as well may have given a number."""
    published = float(row[f"published_{metric}"])
    low, high = (float(row[f"host_{end}_{metric}"]) for end in ("low", "high"))
    return low <= published * (1 + digits) and published * (1 - digits) <= high


# Rows that are outliers in a sweep, or in the relation of delay to throughput --------------------

Values = Mapping[str, "pd.Series[float]"]
"""From `logarithms`, of the rows of all tables."""


@dataclass(frozen=True)
class Line:
    """A metric over rows that differ in one parameter, or over throughput.

    `points` has for each row place and value, printed and ours (our_place, our_value): values are
    logarithms, and so are places above zero. Ours are NaN in all rows if they are in any.
    """

    metric: str
    along: str
    points: pd.DataFrame

    @property
    def kind(self) -> tuple[str, bool]:
        """Lines of one kind have a typical bend."""
        return self.metric, self.along == THROUGHPUT


@dataclass(frozen=True)
class Jump:
    """How far a value lies outside the range that its neighbours allow, and ours in its place.

    `ours` is None where we have no runs, and NaN where ours has no neighbours. `edge` is the bound
    that the value passes, `bend` its distance from the line through the nearest on each side;
    `close` says that ours is near.
    """

    line: Line
    row: int
    size: float
    ours: float | None
    edge: float
    bend: float
    close: bool


def neighbours(rows: pd.DataFrame) -> Iterator[Finding]:
    """Rows that jump, where ours do not and are not close.

    Neighbours are the rows that differ in one parameter, and for the delay also those of like
    throughput. The two on each side allow whatever lies between any lines through two of them, so
    that a bend accuses no row, and a wrong neighbour hardly. Typical is the median distance
    of the table's other rows from the line through their nearest neighbours. The farthest row is
    found and left out before the next is looked for.
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
    """The least size of a jump that is evidence; None if this one is not."""
    if jump.close or abs(jump.size) <= far(jump.line.metric):
        return None
    alike = (each for each in jumps if each.line.kind == jump.line.kind)
    others = [abs(each.bend) for each in alike if each.row != jump.row]
    if len(others) < LEAST_OTHERS:
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
            for metric in METRICS if len(group) > LEAST_NEIGHBOURS else ():
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
    """The logarithm of each metric, `published` or `ours`; NaN where it is not printed.

    Power is judged only where a row prints neither throughput nor delay, from which it follows.
    """
    printed = {metric: rows[f"published_{metric}"] for metric in METRICS}
    printed[POWER] = printed[POWER].where(printed[THROUGHPUT].isna() & printed[SIGNAL_DELAY].isna())
    values = {metric: rows[f"{whose}_{metric}"] for metric in METRICS}
    return {
        metric: np.log(values[metric].where(printed[metric].notna() & (values[metric] > 0)))
        for metric in METRICS
    }


def variations(rows: pd.DataFrame, metric: str) -> "pd.Series[float]":
    """The relative standard deviation of our single runs: the greater of the row's and its table's.

    A few runs estimate it badly; a table's is the root mean square. 0 if unknown.
    """
    own = rows[f"deviation_{metric}"] / rows[f"ours_{metric}"]
    pooled = (own**2).groupby(rows["table"]).transform("mean") ** 0.5
    return own.combine(pooled, np.fmax).fillna(0.0)


def close(metric: str) -> float:
    """CLOSE as a difference of logarithms."""
    return math.log1p(CLOSE[metric])


def far(metric: str) -> float:
    """The least difference of logarithms that can be evidence."""
    return math.log1p(2 * CLOSE[metric])
