"""Consistency checks of a printed table, of one row or of one link, that need no run.

Each printed number stands for an interval: the values that are rounded or truncated to its digits.
A row contradicts itself only if no values in its intervals can belong to one measurement. If most
rows fail a check, the reason is not misprints but another unit or definition, or runs that vary: no
row is reported then. A row is not reported either if the variation of runs, whose deviation is not
printed, explains it, unless all other rows look like single runs.

- product: power x delay = throughput, utilization x capacity = throughput. The delay of one run is
  a whole number of milliseconds in mahimahi's logs: printed without decimals, it is exact.
- swap: two rows with numbers exchanged in one column: one row's product is impossible, the other's
  requires truncated digits, and the exchange makes both rows consistent.
- order: throughput and goodput within capacity and the omniscient bound, delay not below
  propagation, percentiles and extremes in their order, utilization and loss at most 1.
- capacity: one link has one capacity, printed or implied by throughput and utilization. Where no
  column names links, a row fails if nearly all other rows agree and its capacity is close to
  theirs: a shorter run.
- samples: a percentile requires enough samples that one lies beyond it.
- mean and deviation: n whole numbers have only certain means (GRIM: Brown, Heathers 2017) and, for
  a mean, only certain deviations (GRIMMER: Anaya 2016; Allard 2018), with n or n - 1 in the
  denominator.
"""

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from pathlib import Path

import pandas as pd

from kneepoint.analysis.frames import STEP
from kneepoint.analysis.metrics import MEAN_OF_RATIOS, resolution
from kneepoint.common.config_file import quote, read_config
from kneepoint.common.errors import KneepointError
from kneepoint.config.published import NUMBER, Column, TableDescription, last_digit, read_rows

_UNITS: Mapping[str, float] = {
    **{"mbps": 1, "mbit s": 1, "mbit s s": 1, "kbps": 1e-3, "kbit s": 1e-3, "gbps": 1e3},
    **{"ms": 1, "s": 1e3, "us": 1e-3, "percent": 1e-2, "%": 1e-2, "": 1},
}
"""Factors to Mbit/s, ms and 1, by the last words of a column's name."""
_STATISTICS = {
    **dict.fromkeys(("mean", "average", "avg"), "mean"),
    **dict.fromkeys(("sd", "std", "stdev", "deviation"), "sd"),
    **dict.fromkeys(("min", "minimum", "least"), "p0"),
    **dict.fromkeys(("max", "maximum", "greatest"), "p100"),
    **{"median": "p50", "standard": "", "percentile": ""},
}
_QUANTITIES = {
    **{name: name for name in ("throughput", "goodput", "capacity", "power", "loss", "samples")},
    **{name: name for name in ("delay", "rtt", "signal delay", "queueing delay", "packets")},
    **{name: name for name in ("omniscient throughput", "omniscient delay", "retransmissions")},
    **dict.fromkeys(("utilization", "utilisation"), "utilization"),
    **dict.fromkeys(("link rate", "bandwidth"), "capacity"),
    **dict.fromkeys(("propagation", "propagation delay"), "propagation"),
    **dict.fromkeys(("queuing delay",), "queueing delay"),
    **dict.fromkeys(("latency", "one way delay"), "delay"),
    **dict.fromkeys(("runs", "n", "repeats", "repetitions"), "runs"),
    **dict.fromkeys(("trace", "network", "link"), "link"),
}
_WORD = re.compile(r"p\d+(?:\.\d+)?(?![a-z0-9])|\d+(?:\.\d+)?th|[a-z]+|%")
_WHOLE_DELAYS = ("signal delay", "queueing delay")
"""Delays whose percentiles are whole milliseconds in mahimahi's logs."""
_COUNTS = ("packets", "retransmissions", "samples")
_FEW, _FIFTH = 2, 5
"""Rows agree on a capacity if more than _FEW rows and all but one in _FIFTH have it; up to _FEW
rows may contradict themselves even if they are most of a table."""
_MAX_VARY = 0.7
"""Greatest plausible coefficient of variation of runs."""
_MISPRINTED = 0.05
"""Greatest plausible probability that a row has a misprint."""
_ONE_IN = 1000
_SAME_LINK = 0.05
"""Relative difference of capacities: rarely less between links, rarely more for a cut run."""
_MAX_SUMS = 10_000
"""The number of possible sums of n numbers above which every deviation is possible."""

_Range = tuple[float, float]


@dataclass(frozen=True)
class Heading:
    """The content of a column.

    Args:
        column: its name.
        quantity: the quantity, with its percentile if it has one (`delay p95`).
        statistic: "", or mean or sd of the runs.
        factor: to Mbit/s, ms or 1.
        above: constant that is subtracted.
    """

    column: str
    quantity: str
    statistic: str = ""
    factor: float = 1.0
    above: float = 0.0

    @classmethod
    def named(cls, column: str) -> "Heading | None":
        """Parses a name such as mean_signal_delay_p95_ms or Throughput (Mbit/s); None: unknown."""
        words = [re.sub(r"^([\d.]+)th$", r"p\1", each) for each in _WORD.findall(column.lower())]
        found = [_STATISTICS.get(word, word) for word in words]
        of_runs = next((each for each in found if each in ("mean", "sd")), "")
        percentile = next((each for each in found if re.fullmatch(r"p[\d.]+", each)), "")
        rest = [each for each in found if each not in ("", "mean", "sd", percentile)]
        for start in range(len(rest) + 1):
            quantity, unit = " ".join(rest[:start]), " ".join(rest[start:])
            if quantity in _QUANTITIES and unit in _UNITS:
                name = f"{_QUANTITIES[quantity]} {percentile}".strip()
                return cls(column, name, of_runs, _UNITS[unit])
        return None

    @classmethod
    def described(cls, name: str, column: Column) -> "Heading | None":
        """Returns the heading of a column of a published table; None for a parameter."""
        if column.network:
            return cls(name, "link")
        known = cls.named(column.metric) if column.metric else None
        return known and cls(name, known.quantity, "", column.factor, column.above)


@dataclass(frozen=True)
class Number:
    """A printed number in the unit of its quantity; `step` is one unit in its last digit."""

    heading: Heading
    text: str
    value: float
    step: float

    def range(self, truncated: bool = False, slack: float = 0.0) -> _Range:
        """Returns the values that the number may stand for, extended by the relative `slack`."""
        below, above = (0.0, self.step) if truncated else (self.step / 2, self.step / 2)
        more = slack * self.value + 1e-9 * self.step
        return max(0.0, self.value - below - more), self.value + above + more

    @property
    def is_whole(self) -> bool:
        """Whether it is printed without decimals in the unit of its quantity."""
        return abs(self.step - 1) < 1e-6

    @property
    def widest(self) -> _Range:
        """The values that the number may stand for if it is rounded or truncated."""
        return self.range()[0], self.range(truncated=True)[1]

    def __str__(self) -> str:
        return f"{self.heading.column} {self.text}"


@dataclass(frozen=True)
class Row:
    """A row: its line in the file, its numbers by (quantity, statistic), and its link."""

    line: int
    numbers: Mapping[tuple[str, str], Number]
    link: str | None = None

    def mean(self, quantity: str) -> Number | None:
        """Returns the printed number of a quantity, or its mean over runs."""
        return self.numbers.get((quantity, ""), self.numbers.get((quantity, "mean")))

    @property
    def runs(self) -> int | None:
        """The number of runs that the row averages, if printed."""
        printed = self.mean("runs")
        is_count = printed and printed.value >= 1 and printed.value == int(printed.value)
        return int(printed.value) if printed and is_count else None

    @property
    def may_be_one_run(self) -> bool:
        """Whether nothing marks the row as a mean, and its delays are whole milliseconds."""
        delays = [n for (q, _), n in self.numbers.items() if _is_whole_delay(q)]
        of_runs = {statistic for _, statistic in self.numbers} & {"mean", "sd"}
        is_known = self.mean("runs") is not None
        return bool(delays) and not of_runs and not is_known and all(n.is_whole for n in delays)

    def of_one_run(self) -> "Row":
        """Returns the row, marked as a single run."""
        one = Number(Heading("runs", "runs"), "1", 1.0, 0.0)
        return Row(self.line, {**self.numbers, ("runs", ""): one}, self.link)

    def exact(self) -> "Row":
        """Returns the row with the delays of a single run as exact whole milliseconds."""
        if self.runs != 1:
            return self
        numbers = {
            (q, s): replace(n, value=round(n.value), step=0.0)
            if _is_whole_delay(q) and n.is_whole
            else n
            for (q, s), n in self.numbers.items()
        }
        return Row(self.line, numbers, self.link)

    def slack(self, *quantities: str) -> float:
        """Relative difference that is possible between a mean of ratios and the ratio of means."""
        if self.runs == 1:
            return 0.0
        cvs = []
        for quantity in quantities:
            mean, sd = self.mean(quantity), self.numbers.get((quantity, "sd"))
            cvs.append(sd.value / mean.value if sd and mean and mean.value else 0.0)
        return max(MEAN_OF_RATIOS, 2 * max(cvs) ** 2)


@dataclass(frozen=True)
class Contradiction:
    """A contradiction within one row of a table."""

    line: int
    check: str
    columns: tuple[str, ...]
    says: str
    varies: float = 0.0
    """The coefficient of variation of runs that would explain the contradiction; 0: no
    variation."""

    def __str__(self) -> str:
        unless = f", unless its runs vary by {self.varies:.0%}" if self.varies else ""
        return f"line {self.line}: {self.says}{unless} ({self.check})"


@dataclass(frozen=True)
class Findings:
    """The findings of all checks.

    Attributes:
        contradictions: contradictions of rows, by line.
        doubts: columns whose checks most rows fail: another unit or definition.
        if_single_runs: further contradictions if the rows are single runs, as they may be.
    """

    contradictions: Sequence[Contradiction]
    doubts: Sequence[str]
    if_single_runs: Sequence[Contradiction]


# Reading --------------------------------------------------------------------------------------


def read_printed(path: Path, runs: int | None = None) -> tuple[list[Row], list[str]]:
    """Reads a CSV file whose columns are named in the field's terms, or described in NAME.yaml.

    Args:
        path: the file; empty cells and words are not numbers.
        runs: number of runs that each row averages, unless a column has it.

    Returns:
        The rows, and the unknown columns.

    Raises:
        KneepointError: the file is not a table, two columns hold the same quantity, or no column is
            known.
    """
    header, lines = read_rows(path)
    beside = path.with_suffix(".yaml")
    description = read_config(beside, TableDescription) if beside.is_file() else None
    headings: dict[int, Heading] = {}
    for place, name in enumerate(header):
        column = description.columns.get(name) if description else None
        heading = Heading.described(name, column) if column else None
        if not description:
            heading = Heading.named(name)
        known = {(each.quantity, each.statistic): each.column for each in headings.values()}
        if heading and (heading.quantity, heading.statistic) in known:
            other = known[heading.quantity, heading.statistic]
            raise KneepointError(f"{path}: {other!r} and {name!r} hold one quantity; rename one")
        headings |= {place: heading} if heading else {}
    if not any(each.quantity not in ("link", "runs", "samples") for each in headings.values()):
        raise KneepointError(
            f"{path}: none of the columns is known: {', '.join(map(quote, header))}; name them as "
            "throughput_mbps, signal_delay_p95_ms, power, capacity_mbps, utilization, runs"
        )
    columns = {h: _numbers(h, [each[i].strip() for _, each in lines]) for i, h in headings.items()}
    link = next((i for i, each in headings.items() if each.quantity == "link"), None)
    rows = []
    for index, (place, cells) in enumerate(lines):
        of_row = {
            (h.quantity, h.statistic): n for h, every in columns.items() if (n := every[index])
        }
        if runs:
            of_row.setdefault(("runs", ""), Number(Heading("runs", "runs"), str(runs), runs, 0.0))
        own = description.network if description else None
        rows.append(Row(place, of_row, own if link is None else cells[link].strip()))
    return rows, [name for i, name in enumerate(header) if i not in headings]


def _numbers(heading: Heading, texts: Sequence[str]) -> list[Number | None]:
    """Returns a column's numbers, with dropped trailing zeros restored."""
    known = [bool(NUMBER.fullmatch(each)) and float(each) >= 0 for each in texts]
    values = [float(t) if ok else math.nan for t, ok in zip(texts, known, strict=True)]
    steps = [last_digit(t) if ok else math.nan for t, ok in zip(texts, known, strict=True)]
    frame = pd.DataFrame({"published_it": values, STEP + "it": steps})
    return [
        Number(heading, text, value * heading.factor - heading.above, step * heading.factor)
        if value == value
        else None
        for text, value, step in zip(texts, values, resolution(frame, "it"), strict=True)
    ]


# Checks ---------------------------------------------------------------------------------------


def check(rows: Sequence[Row], whole: Collection[str] = ()) -> Findings:
    """Checks the numbers of a table against each other.

    Rows without a number of runs count as single runs if their products are evidence of it.

    Args:
        rows: the table.
        whole: columns whose single values are whole numbers.
    """
    single = [row.of_one_run() for row in rows]
    is_single = _evidence_of_single_runs(rows) > math.log(_ONE_IN)
    found, doubts = _contradictions(single if is_single else rows, whole)
    known = {(each.line, each.check) for each in found}
    may_be_single = all(row.may_be_one_run for row in rows)
    of_one, _ = _contradictions(single, whole) if may_be_single else ([], [])
    further = [each for each in of_one if (each.line, each.check) not in known]
    return Findings(found, doubts, further)


def _evidence_of_single_runs(rows: Sequence[Row]) -> float:
    """Returns the log likelihood ratio of single runs over means of runs.

    The delays that power and throughput imply are whole milliseconds for single runs. The delay of
    a mean may lie anywhere within half a millisecond of the printed delay, and so agrees with the
    printed delay itself with a probability of at most the width of the implied range. With a
    likelihood ratio of N, at most one table of means in N is taken for single runs (Wald 1945).
    """
    if not all(row.may_be_one_run for row in rows):
        return -math.inf
    evidence = 0.0
    for row in rows:
        known = _of_product(row, "power", _delay_of_power(row))
        if known and _is_whole_delay(known[1].heading.quantity) and known[0].widest[0] > 0:
            (least, most), (low, high) = known[2].widest, known[0].widest
            implied = 1e3 * least / high, 1e3 * most / low
            is_whole = implied[0] <= known[1].value <= implied[1]
            width = min(1.0, implied[1] - implied[0])
            evidence += -math.log(width) if is_whole else math.log(_MISPRINTED)
    return evidence


def _contradictions(
    rows: Sequence[Row], whole: Collection[str]
) -> tuple[list[Contradiction], list[str]]:
    """Returns the contradictions of rows and the doubts about columns."""
    rows = [row.exact() for row in rows]
    checks = (_products, _orders, _samples)
    found = [each for row in rows for check in checks for each in check(row)]
    found += [each for row in rows for each in _means(row, whole)]
    said = []
    for (check, columns), count in Counter((each.check, each.columns) for each in found).items():
        having = sum(
            set(columns) <= {n.heading.column for n in row.numbers.values()} for row in rows
        )
        if count > max(_FEW, having / 2):
            found = [each for each in found if (each.check, each.columns) != (check, columns)]
            said.append(
                f"{', '.join(columns)}: {count} of {having} rows fail this check ({check}), more "
                "than misprints explain; check units and definitions, or how much the runs vary"
            )
    explained = [each for each in found if 0 < each.varies <= _MAX_VARY]
    lines = {each.line for each in explained}
    others = [row for row in rows if row.line not in lines]
    if len(lines) > 1 or (lines and _evidence_of_single_runs(others) <= 0):
        found = [each for each in found if each not in explained]
        said += map(str, explained)
    found += [*_swaps(rows, {each.line for each in found}), *_capacities(rows)]
    return sorted(found, key=lambda each: each.line), said


def _products(row: Row) -> Iterator[Contradiction]:
    for left, right, unit in _factors(row):
        known = _of_product(row, left, right)
        slack = row.slack(right, "throughput")
        if known and not _is_product(known, unit, slack):
            a, b = (each.range(slack=slack) for each in known[:2])
            low, high = a[0] * b[0] * unit, a[1] * b[1] * unit
            least, most = known[2].widest
            varies = 0.0
            if row.runs != 1 and not {s for _, s in row.numbers} & {"sd"} and min(high, most) > 0:
                excess = max(low / most, least / high) - 1
                varies = math.sqrt(max(excess, MEAN_OF_RATIOS) / 2)  # see Row.slack
            yield _found(row, "product", known, _instead(known, unit), varies)


def _instead(numbers: Sequence[Number], unit: float) -> str:
    """Returns the values of two factors and their product that the other two imply."""
    left, right, made = (each.value for each in numbers)
    wanted = [made / (right * unit) if right else 0, made / (left * unit) if left else 0]
    wanted.append(left * right * unit)
    columns = [each.heading for each in numbers]
    should = [
        f"{heading.column} should be about {(value + heading.above) / heading.factor:.3g}"
        for heading, value in zip(columns, wanted, strict=True)
        if value
    ]
    return ", or ".join(should)


def _factors(row: Row) -> tuple[tuple[str, str, float], ...]:
    return (("power", _delay_of_power(row), 1e-3), ("utilization", "capacity", 1.0))


def _of_product(row: Row, left: str, right: str) -> list[Number]:
    """Returns two factors and the throughput; empty if any of them is not printed."""
    numbers = [row.mean(left), row.mean(right), row.mean("throughput")]
    known = [each for each in numbers if each]
    return known if len(known) == len(numbers) else []


def _swaps(rows: Sequence[Row], wrong: Collection[int]) -> Iterator[Contradiction]:
    """Yields rows that are consistent only if truncated, and fully after exchanging a number."""
    for bad, other in product([r for r in rows if r.line in wrong], rows):
        for left, right, unit in _factors(bad) if other.line not in wrong else ():
            here, there = (_of_product(row, left, right) for row in (bad, other))
            slack = bad.slack(right, "throughput")
            if not here or not there or _is_rounded(there, unit, slack):
                continue
            for place in range(len(here)):
                mended = [*here[:place], there[place], *here[place + 1 :]]
                others = [*there[:place], here[place], *there[place + 1 :]]
                if _is_rounded(mended, unit, slack) and _is_rounded(others, unit, slack):
                    says = f"with {here[place]} of line {bad.line} both rows are right"
                    yield _found(other, "swap", [there[place]], says)


def _delay_of_power(row: Row) -> str:
    """Returns the delay of the power: the 95th percentile of signal delay, or the only delay."""
    delays = sorted({q for q, _ in row.numbers if _base(q) in _DELAYS})
    if "signal delay p95" in delays:
        return "signal delay p95"
    return delays[0] if len(delays) == 1 else ""


_DELAYS = ("delay", "rtt", "signal delay", "queueing delay")


def _is_product(numbers: Sequence[Number], unit: float, slack: float) -> bool:
    """Returns whether the third number can be the product of the first two, all rounded or cut."""
    ways = product((False, True), repeat=3)
    return any(_is_rounded(numbers, unit, slack, each) for each in ways)


def _is_rounded(
    numbers: Sequence[Number], unit: float, slack: float, truncated: Sequence[bool] = (False,) * 3
) -> bool:
    """Like `_is_product`, for known rounding or truncation of each number."""
    a, b, c = (n.range(way, slack / 2) for n, way in zip(numbers, truncated, strict=True))
    return a[0] * b[0] * unit <= c[1] and c[0] <= a[1] * b[1] * unit


def _orders(row: Row) -> Iterator[Contradiction]:
    pairs = [
        *((each, bound) for each in _RATES for bound in ("capacity", "omniscient throughput")),
        *(("propagation", each) for each in _quantities(row, ("delay", "rtt"))),
        *(("omniscient delay", each) for each in _quantities(row, ("signal delay",))),
    ]
    for base in {_base(quantity) for quantity, _ in row.numbers}:
        pairs += pairwise(_quantities(row, (base,), percentiles=True))
    for low, high in pairs:
        less, more = row.mean(low), row.mean(high)
        if (
            less and more and less.widest[0] > more.widest[1]
        ):  # true for all runs, therefore for means
            yield _found(row, "order", [less, more], f"{low} is above {high}")
    for quantity in ("utilization", "loss"):
        share = row.mean(quantity)
        if share and share.range()[0] > 1 + MEAN_OF_RATIOS:
            yield _found(row, "order", [share], f"{quantity} is above 1")


_RATES = ("throughput", "goodput")


def _quantities(row: Row, bases: Collection[str], percentiles: bool = False) -> list[str]:
    """Returns the printed quantities of these names: all, or percentiles only, in their order."""
    found = {q for q, _ in row.numbers if _base(q) in bases}
    found = {q for q in found if " p" in q} if percentiles else found
    return sorted(found, key=lambda each: float(each.partition(" p")[2] or -1))


def _samples(row: Row) -> Iterator[Contradiction]:
    samples = row.mean("samples")
    for (quantity, _), number in row.numbers.items() if samples else ():
        share = float(quantity.partition(" p")[2] or 0) / 100
        if samples and 0.5 < share < 1 and samples.value * (1 - share) < 1 - 1e-9:
            least = math.ceil(1 / (1 - share) - 1e-9)
            yield _found(row, "samples", [number, samples], f"this requires {least} samples")


def _means(row: Row, whole: Collection[str]) -> Iterator[Contradiction]:
    n = row.runs
    for quantity in {quantity for quantity, _ in row.numbers} if n else ():
        mean, sd = row.mean(quantity), row.numbers.get((quantity, "sd"))
        is_whole = mean and (
            mean.heading.column in whole or _is_whole_delay(quantity) or quantity in _COUNTS
        )
        if n is None or mean is None or not is_whole:
            continue
        low, high = mean.widest
        sums = range(math.ceil(n * low), math.floor(n * high) + 1)
        if not sums:
            says = f"no {n} whole numbers have this mean" if n > 1 else "it is not a whole number"
            yield _found(row, "mean", [mean], says)
        elif sd and len(sums) <= _MAX_SUMS and not any(_has_deviation(s, n, sd) for s in sums):
            says = f"no {n} whole numbers of this mean have this deviation"
            yield _found(row, "deviation", [mean, sd], says)


def _has_deviation(total: int, n: int, sd: Number) -> bool:
    """Returns whether n whole numbers with this sum can have the deviation.

    The sum of their squares has the parity of their sum.
    """
    low, high = sd.widest
    for degrees in {n, max(n - 1, 1)}:
        least = max(math.ceil(degrees * low**2 + total**2 / n - 1e-9), -(-(total**2) // n))
        most = math.floor(degrees * high**2 + total**2 / n + 1e-9)
        if least + (least - total) % 2 <= most:
            return True
    return False


def _is_whole_delay(quantity: str) -> bool:
    """Returns whether mahimahi reports the quantity in whole milliseconds."""
    return _base(quantity) in _WHOLE_DELAYS and quantity != "queueing delay"


def _base(quantity: str) -> str:
    """Returns a quantity without its percentile."""
    return quantity.partition(" p")[0]


def _capacities(rows: Sequence[Row]) -> Iterator[Contradiction]:
    """Yields rows whose capacity differs from most other rows on the same link."""
    links: dict[str, list[tuple[Row, list[Number], _Range]]] = {}
    for row in rows:
        for numbers, (low, high) in _capacity(row):
            more = low * (1 - MEAN_OF_RATIOS), high * (1 + MEAN_OF_RATIOS)
            links.setdefault(row.link or "", []).append((row, numbers, more))
    for link, every in links.items():
        reach = Counter(
            {low: sum(a <= low <= b for _, _, (a, b) in every) for *_, (low, _) in every}
        )
        ((best, agreeing),) = reach.most_common(1)
        is_one_link = agreeing > _FEW and len(every) - agreeing <= max(1, len(every) // _FIFTH)
        others = f"others on {link}" if link else "the others"
        for row, numbers, (low, high) in every if link or is_one_link else ():
            is_near = low * (1 - _SAME_LINK) <= best <= high * (1 + _SAME_LINK)
            if not low <= best <= high and (link or is_near):
                theirs = f"{best:.4g} to {min(b for *_, (a, b) in every if a <= best <= b):.4g}"
                says = f"{others} have a capacity of {theirs}, this row {low:.4g} to {high:.4g}"
                yield _found(row, "capacity", numbers, says)


def _capacity(row: Row) -> Iterator[tuple[list[Number], _Range]]:
    printed, share, rate = map(row.mean, ("capacity", "utilization", "throughput"))
    if printed:
        yield [printed], printed.widest
    elif share and rate and share.range()[0] > 0:
        (low, high), (least, most) = rate.widest, share.widest
        yield [rate, share], (low / most, high / least)


def _found(
    row: Row, check: str, numbers: Sequence[Number], why: str, varies: float = 0.0
) -> Contradiction:
    columns = tuple(each.heading.column for each in numbers)
    says = f"{', '.join(map(str, numbers))}: {why}"
    return Contradiction(row.line, check, columns, says, varies)
