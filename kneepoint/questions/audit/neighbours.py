"""Published rows that are outliers in a sweep, or in the relation of delay to throughput."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
import pandas as pd

from kneepoint.analysis.frames import CONSTANT, constants_in
from kneepoint.analysis.metrics import (
    METRICS,
    SIGNAL_DELAY,
    THROUGHPUT,
)
from kneepoint.questions.audit.checks import (
    FACTOR,
    LEAST_OTHERS,
    Finding,
    close,
    far,
    logarithms,
)
from kneepoint.stats import Floats

LEAST_NEIGHBOURS = 3
"""The fewest neighbours that define what is allowed: one of them may be wrong."""

Values = Mapping[str, "pd.Series[float]"]
"""From `logarithms`, of the rows of all tables."""


@dataclass(frozen=True)
class Line:
    """A metric over rows that differ in one constant, or over throughput.

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

    Neighbours are the rows that differ in one constant, and for the delay also those of like
    throughput. The two on each side allow whatever lies between any lines through two of them, so
    that a bend accuses no row, and a wrong neighbour hardly. Typical is the median distance
    of the table's other rows from the line through their nearest neighbours. The farthest row is
    found and left out before the next is looked for.
    """
    rows = rows.reset_index(drop=True)
    values = logarithms(rows, "published"), logarithms(rows, "ours")
    for _, table in rows.groupby("table", sort=False):
        lines = [*_along_constants(table, *values), _along_throughput(table, *values)]
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


def _along_constants(table: pd.DataFrame, published: Values, ours: Values) -> Iterator[Line]:
    constants = constants_in(table, varied=True)
    for constant in constants:
        place = table[constant].astype(float)
        if (place.dropna() > 0).all():
            place = place.map(math.log, na_action="ignore")
        others = [each for each in constants if each != constant]
        groups = [table.index]
        if others:
            groups = [each.index for _, each in table.groupby(others, dropna=False)]
        along = constant.removeprefix(CONSTANT)
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
        size, edge, bend = outside(x, y, i)
        if not math.isnan(size):
            ours = None if np.isnan(our_x).any() else outside(our_x, our_y, i)[0]
            yield Jump(line, int(row), size, ours, edge, bend, bool(is_close[i]))


def outside(x: Floats, y: Floats, i: int) -> tuple[float, float, float]:
    """Size, edge and bend of a point; NaN where a side has no neighbours or both have too few.

    Neighbours are the two nearest on each side.
    """
    order = np.argsort(x, kind="stable")
    before = [j for j in order if x[j] < x[i]][-2:]
    after = [j for j in order if x[j] > x[i]][:2]
    if not before or not after or len(before) + len(after) < LEAST_NEIGHBOURS:
        return math.nan, math.nan, math.nan

    def on_line(a: int, b: int) -> float:
        return float(y[a] + (y[b] - y[a]) * (x[i] - x[a]) / (x[b] - x[a]))

    allowed = [on_line(a, b) for a, b in combinations([*before, *after], 2) if x[a] != x[b]]
    value = float(y[i])
    edge = min(max(value, min(allowed)), max(allowed))
    return value - edge, edge, value - on_line(before[-1], after[0])
