"""How repeatable runs are, and whether published means agree."""

from collections.abc import Iterator

from reports import labels
from reports.content import Block, Column, Paragraph, Section, Table, literal
from reports.discover import repetition
from reports.frames import Record, records
from reports.labels import DASH
from reports.metrics import METRICS, POWER, SIGNAL_DELAY, THROUGHPUT
from reports.sections import Context
from reports.subjects import Repetition

ORDER = 40
SHOWN = (THROUGHPUT, SIGNAL_DELAY, POWER)
NEAR = 0.05
"""Published means that are farther from ours than this are set in bold."""


def compose(context: Context) -> Iterator[Section]:
    """One section for all repetitions."""
    repeated = repetition(context.results)
    if repeated is None or repeated.spread.empty:
        return
    blocks: list[Block] = [Paragraph(_what(repeated)), *context.draw(repeated), _ours(repeated)]
    if len(repeated.published):
        blocks.append(_published(repeated))
    yield Section("repeatability", "Repeatability", tuple(blocks))


def _what(repeated: Repetition) -> str:
    powers = repeated.spread[(repeated.spread["metric"] == POWER) & (repeated.spread["n"] > 1)]
    text = (
        f"We repeated {labels.count(len(repeated.settings), 'setting')}, each run with a fresh "
        "seed of the host's jitter and all else equal. "
    )
    if powers.empty:
        return text + "None ran more than once: there is no spread to state."
    least, most = powers["cv"].min(), powers["cv"].max()
    text += (
        f"The coefficient of variation of power is {labels.percent(least, 2)} to "
        f"{labels.percent(most, 2)} ({{repeatability-all}}, {{repeatability-ours}})."
    )
    published = repeated.published[repeated.published["metric"] == POWER]
    if published.empty:
        return text
    far = published["relative"].abs().max()
    return text + (
        f" {{repeatability-published}} sets beside ours what was published; "
        f"{int((published['relative'].abs() <= NEAR).sum())} of {len(published)} published powers "
        f"are within {labels.percent(NEAR, 0)} of ours, the farthest is off by "
        f"{labels.percent(far)}."
    )


def _ours(repeated: Repetition) -> Table:
    rows = []
    for setting in records(repeated.settings):
        spread = repeated.spread[repeated.spread["setting"] == setting["setting"]]
        lines = [row for row in records(spread) if row["metric"] in SHOWN]
        for position, line in enumerate(lines):
            rows.append((literal(setting["label"]) if position == 0 else "", *_spread(line)))
    return Table(
        name="repeatability-ours",
        title="Repeated runs",
        caption=(
            "SD is the standard deviation of single runs, CV that over the mean; the interval is "
            "the 95 % t interval of the mean. A setting that ran once has neither."
        ),
        columns=(
            Column("Setting", align="left"),
            Column("Metric", align="left"),
            Column("n"),
            Column("Mean"),
            Column("SD"),
            Column("CV"),
            Column("95 % interval"),
            Column("Least"),
            Column("Greatest"),
        ),
        rows=tuple(rows),
    )


def _spread(ours: Record) -> tuple[str, ...]:
    metric = METRICS[ours["metric"]]
    digits = metric.decimals + 1
    interval = DASH
    if ours["low"] == ours["low"]:
        interval = f"{ours['low']:.{digits}f} to {ours['high']:.{digits}f}"
    return (
        f"{metric.title}, {metric.unit}",
        f"{ours['n']:.0f}",
        _number(ours["mean"], digits),
        _number(ours["standard_deviation"], digits + 1),
        labels.percent(ours["cv"], 2),
        interval,
        _number(ours["least"], digits),
        _number(ours["greatest"], digits),
    )


def _published(repeated: Repetition) -> Table:
    label = dict(zip(repeated.settings["setting"], repeated.settings["label"], strict=True))
    rows = records(repeated.published)
    return Table(
        name="repeatability-published",
        title="Published means beside ours",
        caption=(
            "The difference is ours less published. z is the difference over its standard error, "
            "where the report gives n and SD."
        ),
        columns=(
            Column("Source", align="left"),
            Column("Setting", align="left"),
            Column("Metric", align="left"),
            Column("n", "", "Published"),
            Column("Mean", "", "Published"),
            Column("SD", "", "Published"),
            Column("Mean", "", "Ours"),
            Column("Difference"),
            Column("z"),
        ),
        rows=tuple((literal(row["source"]), label[row["setting"]], *_pair(row)) for row in rows),
        strong=frozenset(i for i, row in enumerate(rows) if abs(row["relative"]) > NEAR),
    )


def _pair(row: Record) -> tuple[str, ...]:
    metric = METRICS[row["metric"]]
    digits = metric.decimals + 1
    return (
        f"{metric.title}, {metric.unit}",
        _number(row["published_n"], 0),
        _number(row["published_mean"], digits),
        _number(row["published_standard_deviation"], digits + 1),
        _number(row["mean"], digits),
        labels.percent(row["relative"], signed=True),
        _number(row["z"], 1),
    )


def _number(value: float, decimals: int) -> str:
    return DASH if value != value else labels.minus(f"{value:.{decimals}f}")
