"""Evidence against a published row: its arithmetic, the other rows, our runs of it.

Every check takes rows of `beside` and yields findings; that of the rows around a row is
in `neighbours`. No finding rests on a tolerance alone: a number is found where it is off
by more than twice the tolerance CLOSE, or by more than CLOSE and improbably far, and in any case by
more than FACTOR times what is typical of the other rows of its table. The typical size is a median,
which wrong rows hardly move. Sizes are differences of natural logarithms.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Self

import numpy as np
import pandas as pd
from scipy.special import stdtr, stdtrit

from kneepoint.analysis.frames import (
    Record,
    constants_in,
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
from kneepoint.stats.robust import qn

CLOSE = {THROUGHPUT: 0.05, SIGNAL_DELAY: 0.05, QUEUEING_DELAY: 0.05, POWER: 0.10}
"""The relative difference up to which a row is close to ours."""
CAPACITY = "capacity_mbps"
FACTOR = 6.0
"""Multiple of the typical size that counts as far."""
LEAST_OTHERS = 4
"""The fewest other numbers that define what is typical."""
SIGMA = 1.4826
"""A normal variable's standard deviation over its median absolute deviation."""
CONVINCING = 2.0
"""How many times nearer to our runs a correction of the blamed number must bring the row."""
UNSURE = "any of the three may be the wrong one"
"""The remark on three inconsistent numbers if ours cannot tell which one is wrong."""
LEVEL = 0.01
"""The probability that a table without a wrong row has one that is called improbable."""
EFFICIENCY = 0.6
"""A robust standard deviation is at least as sure as the plain one of this share of the values."""


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
    keys = ["controller", "network", *constants_in(rows)]
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
    counts only if it is improbable: see `_Rest`.
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
                rest = _Rest.of(others, chance, int(of_table.notna().to_numpy().sum()))
                digits = float(np.nan_to_num(half[label]))
                size = min(abs(distance), abs(distance - rest.middle))
                limit = rest.limit(metric) + digits
                if size > limit and not _is_hosts(row, metric, digits):
                    more = {"variation": chance, "usual": rest.usual, "p": rest.p(size - digits)}
                    yield Finding(row["table"], row["row"], "replay", metric, size, limit, more)


@dataclass(frozen=True)
class _Rest:
    """How near the other rows of a table are, and how far off one more such row may be.

    Distances are differences of logarithms. `scale` is a standard deviation: the greater of that of
    the other rows about their `middle` (see `qn`), and that of our own runs. It is as sure as the
    other rows are many: it has so many `degrees` of freedom. `usual` is the median size of their
    relative difference. A table has so many `numbers`, any of which may be the farthest.
    """

    middle: float
    usual: float
    scale: float
    degrees: int
    numbers: int

    @classmethod
    def of(cls, others: "np.ndarray[Any, Any]", chance: float, numbers: int) -> Self:
        """That of these rows, where our runs vary by chance."""
        n, middle = len(others), float(np.median(others))
        usual = float(np.median(abs(np.expm1(others))))
        spread = qn(others)
        scale = max(spread, chance) * math.sqrt(1 + 1 / n)
        return cls(middle, usual, scale, max(1, int(EFFICIENCY * (n - 1))), numbers)

    def limit(self, metric: str) -> float:
        """The least size that is evidence."""
        improbable = self.scale * float(stdtrit(self.degrees, 1 - LEVEL / self.numbers / 2))
        return max(FACTOR * self.scale, min(far(metric), max(close(metric), improbable)))

    def p(self, size: float) -> float:
        """The probability that any of the table's numbers is so far off, were all of one kind.

        NaN above LEVEL: few rows say little of others, and a number may be far by any measure.
        """
        if self.scale == 0:
            return 0.0
        p = 2 * self.numbers * (1 - float(stdtr(self.degrees, size / self.scale)))
        return p if p <= LEVEL else math.nan


def _is_hosts(row: "pd.Series[Any]", metric: str, digits: float) -> bool:
    """Whether a run on a host that fits as well may have given a number."""
    published = float(row[f"published_{metric}"])
    low, high = (float(row[f"host_{end}_{metric}"]) for end in ("low", "high"))
    return low <= published * (1 + digits) and published * (1 - digits) <= high


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
