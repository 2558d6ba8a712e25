"""Contradictions within a report: each number is recomputed from the numbers beside it.

    python -m tests.reports.consistency results/report.html

It uses only the heads of the page's tables, not the code that computes the numbers. A printed
number stands for the interval of the numbers that round to it.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from itertools import combinations
from pathlib import Path

_MINUS = "\N{MINUS SIGN}"
_NUMBER = re.compile(rf"[+{_MINUS}-]?\d[\d,]*(?:\.\d+)?")
_OF = _NUMBER.pattern
_BOUNDED = re.compile(rf"({_OF}) ?%?,? ?[\[(]({_OF}) ?%? ?(?:to|,) ?({_OF}) ?%?[\])]")
_WITHIN = re.compile(rf"({_OF}) ± ({_OF})")
VERDICTS = (
    *("reproduced", "close", "fitted", "within our spread", "unexplained", "contradicted"),
    *("no evidence", "not comparable"),
)


@dataclass(frozen=True)
class Range:
    """The interval of numbers with the same printed form."""

    low: float
    high: float

    def meets(self, other: "Range") -> bool:
        """Returns whether two intervals overlap."""
        slack = 1e-9 * max(abs(self.low), abs(self.high), 1)
        return self.low <= other.high + slack and other.low <= self.high + slack


@dataclass
class Table:
    """A table of the page: heads, in each column from the top down, and the text of each cell."""

    name: str
    heads: list[list[str]] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)

    def column(self, *ends: str) -> list[int]:
        """Returns the columns whose lowest head begins with one of the words."""
        return [
            place
            for place, head in enumerate(self.heads)
            if head and head[-1].lower().startswith(ends)
        ]


@dataclass
class Page:
    """A report's tables, its parts' text by the heading's id, and all of its text."""

    tables: dict[str, Table] = field(default_factory=dict)
    text: str = ""


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()
        self._table: Table | None = None
        self._cell: list[str] | None = None
        self._head_rows: list[list[tuple[str, int]]] = []
        self._span = 1
        self._is_head = False
        self._skipped = 0
        self._words: list[str] = []
        self._name = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in ("svg", "script", "style"):
            self._skipped += 1
        elif tag == "figure":
            self._name = given.get("id") or ""
        elif tag == "table":
            self._table, self._head_rows = Table(self._name), []
        elif tag == "thead":
            self._is_head = True
        elif tag == "tr" and self._table is not None:
            if self._is_head:
                self._head_rows.append([])
            else:
                self._table.rows.append([])
        elif tag in ("td", "th"):
            self._cell, self._span = [], int(given.get("colspan") or 1)
        elif tag == "br" and self._cell is not None:
            self._cell.append(" ")

    def handle_endtag(self, tag: str) -> None:
        if tag in ("svg", "script", "style"):
            self._skipped -= 1
        elif tag in ("td", "th") and self._cell is not None and self._table is not None:
            text = " ".join("".join(self._cell).split())
            self._cell = None
            self._words.append(" | ")
            if self._is_head and self._head_rows:
                self._head_rows[-1].append((text, self._span))
            elif self._table.rows:
                self._table.rows[-1] += [text] * self._span
        elif tag == "thead" and self._table is not None:
            self._is_head = False
            wide = [[text for text, span in row for _ in range(span)] for row in self._head_rows]
            count = max(map(len, wide), default=0)
            padded = [row + [""] * (count - len(row)) for row in wide]
            self._table.heads = [list(column) for column in zip(*padded, strict=True)]
        elif tag == "table" and self._table is not None:
            self.page.tables[self._table.name or f"table {len(self.page.tables)}"] = self._table
            self._table = None

    def handle_data(self, data: str) -> None:
        if self._skipped:
            return
        self._words.append(data)
        if self._cell is not None:
            self._cell.append(data)

    def close(self) -> None:
        super().close()
        self.page.text = " ".join("".join(self._words).split())


def read_page(path: Path) -> Page:
    """Reads a report."""
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    reader.close()
    return reader.page


def printed(text: str) -> Range | None:
    """Returns the numbers that are rounded or truncated to the first number in a text."""
    found = _NUMBER.search(text)
    if found is None:
        return None
    digits = found[0].replace(",", "").replace(_MINUS, "-")
    value, places = float(digits), len(digits.partition(".")[2])
    half = 0.5 * 10.0**-places
    return Range(value - half, value + half)


def relative(new: Range, old: Range) -> Range | None:
    """Returns the difference of two numbers in per cent of the old number."""
    if old.low <= 0:
        return None
    ends = [100 * (a / b - 1) for a in (new.low, new.high) for b in (old.low, old.high)]
    return Range(min(ends), max(ends))


def _ratios(page: Page) -> Iterator[str]:
    """A ratio follows from the two numbers to its left."""
    for table in page.tables.values():
        heads = [head[-1].lower() if head else "" for head in table.heads]
        for place, head in enumerate(heads):
            if not head.startswith(("%", "difference", "gain", "change")):
                continue
            others = [at for at in range(place) if not heads[at].startswith("report")][-2:]
            published = [at for at in others if heads[at].startswith(("published", "measured"))]
            if len(published) != 1:
                continue
            ours = next(at for at in others if at not in published)
            for row in table.rows:
                if len(row) <= place or "%" not in head + row[place]:
                    continue
                numbers = [printed(row[at]) for at in (ours, published[0], place)]
                if None in numbers:
                    continue
                new, old, stated = numbers
                assert new and old and stated
                made = relative(new, old)
                if made is not None and not made.meets(stated):
                    yield (
                        f"{table.name}: {row[0]}: {row[ours]} over {row[published[0]]} is "
                        f"{made.low:+.1f} to {made.high:+.1f} %, printed {row[place]}"
                    )


def _powers(page: Page) -> Iterator[str]:
    """Power is throughput over delay, up to the difference between a mean of ratios and a ratio."""
    slack = 0.03
    for table in page.tables.values():
        columns = [table.column(name) for name in ("throughput", "signal delay", "power")]
        if any(len(each) != 1 for each in columns):
            continue
        places = [each[0] for each in columns]
        for row in table.rows:
            if len(row) <= max(places):
                continue
            rate, delay, power = (printed(row[place]) for place in places)
            if rate is None or delay is None or power is None or delay.low <= 0:
                continue
            made = Range(
                1000 * rate.low / delay.high * (1 - slack),
                1000 * rate.high / delay.low * (1 + slack),
            )
            if not made.meets(power):
                yield f"{table.name}: {row[0]}: power {row[places[2]]}, made {made}"


def _sums(page: Page) -> Iterator[str]:
    """A last row `all` has the sums of its columns; rows are the sums of their verdicts."""
    for table in page.tables.values():
        verdicts = [
            place for place, head in enumerate(table.heads) if head and head[-1].lower() in VERDICTS
        ]
        if not verdicts:
            continue
        counts = [[_count(cell) for cell in row] for row in table.rows]
        rows_at = table.column("rows")
        for row, numbers in zip(table.rows, counts, strict=True):
            if rows_at and sum(numbers[at] for at in verdicts) != numbers[rows_at[0]]:
                yield f"{table.name}: {row[0]}: verdicts do not sum to {row[rows_at[0]]}"
        if table.rows[-1][0].lower() == "all":
            for at in [*rows_at, *verdicts]:
                total = sum(numbers[at] for numbers in counts[:-1])
                if total != counts[-1][at]:
                    yield f"{table.name}: {table.heads[at][-1]}: {total}, printed {counts[-1][at]}"


def _count(cell: str) -> int:
    return int(cell.replace(",", "")) if cell.replace(",", "").isdigit() else 0


def _verdicts_of_rows(page: Page) -> Iterator[str]:
    """Tables of rows have as many rows of each verdict as the table of counts."""
    counts = page.tables.get("audit-counts")
    if counts is None:
        return
    for row in counts.rows:
        table = page.tables.get(f"rows-{row[0]}")
        if table is None:
            continue
        (at,) = table.column("verdict")
        own = [each[at].lower() for each in table.rows if len(each) > at]
        for place, head in enumerate(counts.heads):
            verdict = head[-1].lower()
            if verdict in VERDICTS and own.count(verdict) != _count(row[place]):
                yield f"{table.name}: {own.count(verdict)} {verdict}, printed {row[place]}"


def _intervals(page: Page) -> Iterator[str]:
    """An estimate lies in its interval."""
    for found in _BOUNDED.finditer(page.text):
        value, low, high = (printed(found[n]) for n in (1, 2, 3))
        assert value and low and high
        if value.high < low.low or value.low > high.high:
            yield f"{found[0]}: outside its interval"


def _bests(page: Page) -> Iterator[str]:
    """The best setting of a search is its leading trial."""
    for name, table in page.tables.items():
        if not name.startswith("parameters-"):
            continue
        study = name.removeprefix("parameters-")
        trials = page.tables.get(f"best-trials-{study}")
        at = table.column("best")
        if trials is None or not trials.rows or not at:
            continue
        first = trials.rows[0][1 : 1 + len(table.rows)]
        best = [row[at[0]] for row in table.rows]
        if sorted(first) != sorted(best):
            yield f"{name}: best {best}, but {first} leads the trials"


def _same_settings(page: Page) -> Iterator[str]:
    """Two estimates for one setting on one network do not contradict each other."""
    estimates: dict[tuple[str, str], list[tuple[str, str, Range]]] = defaultdict(list)
    for table in page.tables.values():
        network = table.column("network")
        for place, head in enumerate(table.heads):
            unit = " ".join(head)
            if (
                "Mbit/s/s" not in unit or "Published" in unit
            ):  # a published number belongs to another setting
                continue
            for row in table.rows:
                if len(row) <= place or not (found := _WITHIN.search(row[place])):
                    continue
                value, half = printed(found[1]), printed(found[2])
                assert value and half
                interval = Range(value.low - half.high, value.high + half.high)
                where = row[network[0]] if network and network[0] < len(row) else ""
                estimates[_setting_of(table, row), where].append((table.name, row[place], interval))
    for (setting, _), each in estimates.items():
        for one, other in combinations(each, 2):
            if setting and not one[2].meets(other[2]):
                yield f"{setting}: {one[1]} in {one[0]}, {other[1]} in {other[0]}"


def _setting_of(table: Table, row: Sequence[str]) -> str:
    named = [row[at] for at in table.column("best", "setting") if at < len(row)]
    return re.sub(r" (packets|ms)\b.*", "", named[0].lower()) if named else ""


RULES: tuple[Callable[[Page], Iterator[str]], ...] = (
    *(_ratios, _powers, _sums, _verdicts_of_rows, _intervals, _bests, _same_settings),
)


def contradictions(path: Path) -> list[str]:
    """Returns the contradictions in a report."""
    page = read_page(path)
    return [found for rule in RULES for found in rule(page)]


def main() -> None:
    """The command line."""
    found = [line for name in sys.argv[1:] for line in contradictions(Path(name))]
    print("\n".join(found) or "no contradiction")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
