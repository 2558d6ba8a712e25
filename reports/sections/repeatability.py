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


def compose(context: Context) -> Iterator[Section]:
    """One section for all repetitions."""
    repeated = repetition(context.results)
    if repeated is None or repeated.spread.empty:
        return
    blocks: list[Block] = [
        Paragraph(_what(repeated)),
        *(Paragraph(text) for text in [_published(repeated)] if text),
        *context.draw(repeated),
        _table(repeated),
    ]
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
    return text + (
        f"The coefficient of variation of power is {labels.percent(least, 2)} to "
        f"{labels.percent(most, 2)}: {{repeatability-all}}, {{repeatability-table}}."
    )


def _published(repeated: Repetition) -> str:
    """One sentence for each published mean of power."""
    label = dict(zip(repeated.settings["setting"], repeated.settings["label"], strict=True))
    texts = []
    for row in records(repeated.published[repeated.published["metric"] == POWER]):
        ours = f"{row['mean']:.2f}"
        if row["low"] == row["low"]:
            ours += f" ({row['low']:.2f} to {row['high']:.2f})"
        source = f"{row['source']}: " if row["source"] else ""
        texts.append(
            f"{literal(source)}{label[row['setting']]}, published "
            f"{row['published_mean']:.2f}, ours {ours}, "
            f"{labels.percent(row['relative'], signed=True)}."
        )
    return " ".join(texts)


def _table(repeated: Repetition) -> Table:
    published = {(row["setting"], row["metric"]): row for row in records(repeated.published)}
    rows = []
    for setting in records(repeated.settings):
        spread = repeated.spread[repeated.spread["setting"] == setting["setting"]]
        lines = [row for row in records(spread) if row["metric"] in SHOWN]
        for position, line in enumerate(lines):
            name = literal(setting["label"]) if position == 0 else ""
            rows.append((name, *_cells(line, published.get((setting["setting"], line["metric"])))))
    return Table(
        name="repeatability-table",
        title="Repeated runs beside published ones",
        caption=(
            "SD is the standard deviation of single runs, CV that over the mean; the interval is "
            "the 95 % t interval of the mean. A setting that ran once has neither."
        ),
        columns=(
            Column("Setting", align="left"),
            Column("Metric", align="left"),
            Column("n", "", "Ours"),
            Column("Mean", "", "Ours"),
            Column("SD", "", "Ours"),
            Column("CV", "", "Ours"),
            Column("95 % interval", "", "Ours"),
            Column("n", "", "Published"),
            Column("Mean", "", "Published"),
            Column("SD", "", "Published"),
            Column("Difference"),
        ),
        rows=tuple(rows),
    )


def _cells(ours: Record, published: Record | None) -> tuple[str, ...]:
    metric = METRICS[ours["metric"]]
    digits = metric.decimals + 1

    def text(value: float, decimals: int = digits) -> str:
        return DASH if value != value else f"{value:.{decimals}f}"

    interval = DASH
    if ours["low"] == ours["low"]:
        interval = f"{text(ours['low'])} to {text(ours['high'])}"
    cells = (
        f"{metric.title}, {metric.unit}",
        f"{ours['n']:.0f}",
        text(ours["mean"]),
        text(ours["standard_deviation"], digits + 1),
        labels.percent(ours["cv"], 2),
        interval,
    )
    if published is None:
        return (*cells, DASH, DASH, DASH, DASH)
    return (
        *cells,
        text(published["published_n"], 0),
        text(published["published_mean"]),
        text(published["published_standard_deviation"], digits + 1),
        labels.percent(published["relative"], signed=True),
    )
