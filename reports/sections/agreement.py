"""The emulator beside real mahimahi, for every setting that ran in both."""

from collections.abc import Iterator

from reports import labels
from reports.content import Block, Column, Paragraph, Section, Table, literal
from reports.discover_real import agreement
from reports.frames import Record, records
from reports.labels import DASH
from reports.metrics import METRICS, POWER, QUEUEING_DELAY, SIGNAL_DELAY, THROUGHPUT
from reports.real_statistics import (
    BUSIER,
    CALIBRATION,
    CERTAINTY,
    GOAL,
    GOAL_MS,
    NOT_AGAIN,
    QUIETER,
    SMALL,
    UNEXPLAINED,
)
from reports.sections import Context
from reports.subjects import Agreement

ORDER = 43
_TABLES = {
    "agreement-throughput": (THROUGHPUT, SIGNAL_DELAY),
    "agreement-power": (QUEUEING_DELAY, POWER),
}


def compose(context: Context) -> Iterator[Section]:
    """One section, if any setting ran in real mahimahi."""
    found = agreement(context.results)
    if found is None:
        return
    blocks: list[Block] = [Paragraph(_how(found))]
    if found.is_compared:
        blocks += [Paragraph(_how_near(found)), Paragraph(_outside(found))]
        if len(found.outside):
            blocks.append(_reasons(found))
    blocks += context.draw(found)
    blocks += [_table(found, name, metrics) for name, metrics in _TABLES.items()]
    yield Section("agreement", "The emulator beside real mahimahi", tuple(blocks))


def _how(found: Agreement) -> str:
    if not found.is_compared:
        return (
            "The emulator has not been calibrated to these real runs yet, so that there is nothing "
            "to set beside them: `make confirm` does it."
        )
    emulated = int(found.rows["emulated_n"].max())
    return (
        f"The emulator ran each setting {labels.count(emulated, 'time')} on the calibrated host, "
        f"each time with another seed. From these runs alone follows in which range the mean of as "
        f"many further runs as there are real ones lies in {labels.percent(CERTAINTY, 0)} of "
        "cases, the prediction interval: {agreement-real} sets it beside the real mean, "
        "{agreement-throughput} and {agreement-power} have the numbers."
    )


def _how_near(found: Agreement) -> str:
    accuracy = found.accuracy
    if not accuracy.settings:
        return "Every setting served to calibrate the host: none is left to judge agreement by."
    late, meets = accuracy.relative[SIGNAL_DELAY], accuracy.meets
    return (
        f"**Over the {labels.count(accuracy.settings, 'setting')} of "
        f"{labels.count(accuracy.controllers, 'controller')} that the host was not fitted to, the "
        f"emulator's throughput is off by {labels.percent(accuracy.relative[THROUGHPUT], 2)} in "
        f"the mean, its signal delay by {labels.percent(late, 2)} or {accuracy.delay_ms:.1f} ms.** "
        f"The goal, {labels.percent(GOAL[THROUGHPUT], 0)} of throughput and "
        f"{labels.percent(GOAL[SIGNAL_DELAY], 0)} or {GOAL_MS:g} ms of signal delay, is "
        f"{_met(meets[THROUGHPUT], meets[SIGNAL_DELAY])}. Queueing delay is off by "
        f"{labels.percent(accuracy.relative[QUEUEING_DELAY], 2)}, power by "
        f"{labels.percent(accuracy.relative[POWER], 2)}."
    )


def _met(throughput: bool, delay: bool) -> str:
    if throughput == delay:
        return "reached" if throughput else "missed"
    return "reached for throughput only" if throughput else "reached for signal delay only"


def _outside(found: Agreement) -> str:
    judged = int(found.rows["inside"].notna().sum())
    if not judged:
        return "No setting ran often enough in the emulator to predict a range."
    if found.outside.empty:
        return f"All of the {judged} real means lie in the emulator's prediction intervals."
    count = len(found.outside)
    reasons = found.outside["why"].value_counts()
    told = [text.format(reasons[why]) for why, text in _COUNTED.items() if why in reasons]
    return (
        f"{count} of {judged} real means, of four metrics each, "
        f"{'lies' if count == 1 else 'lie'} outside the emulator's prediction interval; by chance "
        f"alone {judged * (1 - CERTAINTY):.1f} would be expected to. {{agreement-outside}} lists "
        f"them: {labels.joined(told)}.{_further(found)}"
    )


def _further(found: Agreement) -> str:
    """What was run again, of what nothing else explains."""
    counts = found.again.drop_duplicates("trial")["real_n"]
    settings = int((counts > 0).sum())
    if not settings:
        return ""
    return (
        f" {labels.count(settings, 'setting')} that nothing else explains ran again, "
        f"{labels.count(int(counts.max()), 'time')}, and these runs alone tell whether it was "
        "chance, or a moment of the host; they count nowhere else."
    )


_COUNTED = {
    SMALL: "{} within the goal, though the interval is narrower still",
    BUSIER: "{} of runs that met a busier host than others",
    QUIETER: "{} of runs that met a quieter host",
    NOT_AGAIN: "{} that further runs do not show again",
    UNEXPLAINED: "{} without such an explanation",
}
_TOLD = {
    SMALL: "within the goal",
    BUSIER: "a busier host",
    QUIETER: "a quieter host",
    NOT_AGAIN: "not seen again",
    UNEXPLAINED: DASH,
}


def _reasons(found: Agreement) -> Table:
    lines = records(found.outside)
    return Table(
        name="agreement-outside",
        title="Real means outside the prediction interval",
        caption=(
            "Throughput in Mbit/s, delays in ms, power in Mbit/s/s. Scheduling delay: mean 99th "
            "percentile of the setting's real runs; over all settings its median is "
            f"{lines[0]['usual_ms']:.2f} ms. Again: the mean of further real runs."
        ),
        columns=(
            Column("Setting", align="left"),
            Column("Metric", align="left"),
            Column("Real"),
            Column("Predicted"),
            Column("Difference"),
            Column("Scheduling delay", "ms"),
            Column("Again"),
            Column("Why", align="left"),
        ),
        rows=tuple(
            (
                literal(line["label"]),
                METRICS[line["metric"]].title,
                _digits(line, "real_mean"),
                labels.unbroken(
                    f"{_digits(line, 'expected_low')} to {_digits(line, 'expected_high')}"
                ),
                labels.percent(line["relative"], signed=True),
                _milliseconds(line["scheduling_ms"]),
                _digits(line, "again_mean"),
                _TOLD[line["why"]],
            )
            for line in lines
        ),
    )


def _digits(line: Record, name: str) -> str:
    value = line[name]
    return DASH if value != value else f"{value:.{METRICS[line['metric']].decimals + 1}f}"


def _milliseconds(value: float) -> str:
    return DASH if value != value else f"{value:.2f}"


def _table(found: Agreement, name: str, metrics: tuple[str, ...]) -> Table:
    rows: list[tuple[str, ...]] = []
    strong, muted = set(), set()
    for controller, settings in found.settings.groupby("controller", sort=False):
        heading = f"**{labels.unbroken(labels.sentence(str(controller)))}**"
        rows.append((heading, *[""] * (1 + 3 * len(metrics))))
        for setting in records(settings):
            lines = [found.of_metric(metric)[setting["trial"]] for metric in metrics]
            if any(line["inside"] is False for line in lines):
                strong.add(len(rows))
            elif CALIBRATION in setting["origins"]:
                muted.add(len(rows))
            why = ", ".join(setting["origins"])
            rows.append(
                (
                    literal(setting["name"]),
                    "" if why == setting["name"] else why,
                    *(cell for line in lines for cell in _cells(line)),
                )
            )
    titles = labels.joined([METRICS[metric].title.lower() for metric in metrics])
    return Table(
        name=name,
        title=f"{titles[:1].upper()}{titles[1:]}, emulated and real",
        caption=(
            "Real: mean and half the width of its 95 % t interval. Emulator: mean and half the "
            f"width of its {labels.percent(CERTAINTY, 0)} prediction interval for a mean of as "
            "many runs, half a millisecond included, for delays are whole ones. The difference is "
            "the emulator's mean less the real one, relative to that. In bold, the real mean of "
            "one of the two lies outside; in grey, the host was fitted to the setting."
        ),
        columns=(
            Column("Setting", align="left"),
            Column("Why", align="left"),
            *(
                Column(head, "" if head == "Difference" else METRICS[metric].unit, title)
                for metric in metrics
                for title in [METRICS[metric].title]
                for head in ("Real", "Emulator", "Difference")
            ),
        ),
        rows=tuple(rows),
        strong=frozenset(strong),
        muted=frozenset(muted),
    )


def _cells(line: Record) -> tuple[str, str, str]:
    metric = METRICS[line["metric"]]
    return (
        measured(line["real_mean"], line["real_high"] - line["real_mean"], metric.decimals + 1),
        measured(
            line["emulated_mean"],
            line["expected_high"] - line["emulated_mean"],
            metric.decimals + 1,
        ),
        labels.percent(line["relative"], signed=True),
    )


def measured(mean: float, half_width: float, decimals: int) -> str:
    """A mean and half the width of its interval, where these are known."""
    if mean != mean:
        return DASH
    text = f"{mean:.{decimals}f}"
    if half_width != half_width:
        return text
    return labels.unbroken(f"{text} ± {half_width:.{decimals}f}")
