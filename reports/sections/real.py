"""Real mahimahi: what was run on this host, how much it takes at once, what it was found to be."""

from collections.abc import Iterator

import pandas as pd

from reports import labels
from reports.collect import Results, Study
from reports.content import Block, Column, Paragraph, Section, Table, code, literal
from reports.discover_real import agreement, probing, waiting
from reports.frames import records
from reports.metrics import METRICS, SIGNAL_DELAY, THROUGHPUT
from reports.sections import Context
from reports.sections.exclusions import real_frames
from reports.statistics import CONSTANT
from reports.subjects import Probing, Waiting

ORDER = 42
RARE = (128, 1024, 8192)
"""Of so many datagrams one: how long it waited is told in words."""
BUSY = "the host was too busy"
"""How the reason of a run begins that was repeated for that (see engines.mahimahi.engine)."""


def compose(context: Context) -> Iterator[Section]:
    """One section, if anything ran in real mahimahi."""
    real, frames = context.results.real, real_frames(context.results)
    if real is None or not frames:
        return
    blocks: list[Block] = [Paragraph(_what(context.results))]
    probe = probing(context.results)
    if probe is not None:
        blocks += [Paragraph(_probed(probe)), *context.draw(probe), _levels(probe)]
    waits = waiting(context.results)
    if waits is not None:
        blocks += [Paragraph(_waited(waits)), *context.draw(waits)]
    if real.calibration is not None:
        blocks += [Paragraph(_calibrated(real.calibration)), _host(real.calibration)]
    if real.spread is not None:
        blocks += [Paragraph(_differs(real.spread)), _spreads(real.spread)]
    yield Section("real", "Real mahimahi", tuple(blocks))


def _what(results: Results) -> str:
    frames = real_frames(results)
    runs = sum(len(frame) for frame in frames)
    failed = sum(int((frame["status"] == "failed").sum()) for frame in frames)
    busy = sum(int(_was_busy(frame["status"], frame["reason"]).sum()) for frame in frames)
    text = (
        f"The same controllers also ran in real time: {labels.count(runs, 'run')} in mahimahi's "
        "own shells, with a sender inside and a receiver outside that exchange datagrams over "
        "UDP. "
    )
    found = agreement(results)
    if found is not None:
        controllers = found.settings["controller"].nunique()
        each = found.runs.groupby("trial").size()
        least, most = int(each.min()), int(each.max())
        times = f"{most}" if least == most else f"{least} to {most}"
        text += (
            f"{labels.count(len(found.settings), 'setting')} of "
            f"{labels.count(controllers, 'controller')} ran {times} times each: "
            f"{labels.joined(_origins(found.settings['origins']))}. "
        )
    text += (
        f"{labels.count(busy, 'run')} had to be repeated because the host was too busy. "
        if busy
        else "The host was never too busy for a run. "
    )
    return text + (
        f"{labels.count(failed, 'run')} failed ({{failed-runs}})." if failed else "None failed."
    )


def _was_busy(status: "pd.Series[str]", reason: "pd.Series[str]") -> "pd.Series[bool]":
    return (status == "ok") & reason.str.startswith(BUSY)


def _origins(origins: "pd.Series[str]") -> list[str]:
    """How many settings there are of each origin; one setting may have several."""
    words = {
        "calibration": "{} for calibration",
        "listed": "{} by name",
        "published": "{} as the best published of a controller",
        "tuned": "{} as the best tuned",
        "contradicted": "{} of rows that the audit contradicts",
    }
    counts = origins.explode().value_counts()
    return [text.format(counts[name]) for name, text in words.items() if name in counts]


def _probed(probe: Probing) -> str:
    text = (
        f"**This host takes {labels.count(probe.slots, 'real run')} at once** on "
        f"{labels.count(probe.cores, 'core')}: so many give what lone runs give "
        f"({{probe-{probe.key}}}). "
    )
    ends = [literal(row["reason"]) for row in records(probe.levels) if not row["agrees"]]
    return text + (f"Beyond that, {'; '.join(ends)}." if ends else "Beyond that, none were tried.")


def _levels(probe: Probing) -> Table:
    shown = (THROUGHPUT, SIGNAL_DELAY)
    lines = records(probe.levels)
    return Table(
        name="probe-levels",
        title="Real runs at once",
        caption=(
            "Differences are those from the lone runs: of the mean, and the greatest of a single "
            "run. The scheduling delay is the greatest 99th percentile of a run."
        ),
        columns=(
            Column("Runs at once"),
            Column("Runs"),
            Column("Failed"),
            *(
                Column(head, "", METRICS[metric].title)
                for metric in shown
                for head in ("Mean", "Furthest")
            ),
            Column("Scheduling delay", "ms"),
            Column("Agrees", align="left"),
        ),
        rows=tuple(
            (
                str(line["concurrency"]),
                str(line["runs"]),
                str(line["failed"] or labels.DASH),
                *(
                    cell
                    for metric in shown
                    for cell in (
                        labels.percent(line[f"relative_{metric}"], 2, signed=True),
                        labels.percent(line[f"furthest_{metric}"], 2),
                    )
                ),
                _milliseconds(line["scheduling_delay_p99_us"]),
                "yes" if line["agrees"] else "no",
            )
            for line in lines
        ),
        strong=frozenset(i for i, line in enumerate(lines) if line["concurrency"] == probe.slots),
    )


def _milliseconds(microseconds: float) -> str:
    return labels.DASH if microseconds != microseconds else f"{microseconds / 1000:.2f}"


def _waited(waits: Waiting) -> str:
    rare = [
        f"one in {one_in} at least {waits.exceeded_us(one_in) / 1000:.2g} ms"
        for one_in in RARE
        if waits.exceeded_us(one_in) == waits.exceeded_us(one_in)
    ]
    return (
        "A process does not run as soon as something wakes it: it waits for the processor. In "
        f"{labels.count(waits.runs, 'run')} of {labels.words(waits.controller)} every second "
        f"datagram waited {waits.exceeded_us(2):.0f} µs or longer for the receiver"
        + (f", {labels.joined(rare)}" if rare else "")
        + f" ({{waits-{waits.key}}}). A controller that takes a short silence for a loss feels the "
        "rare ones. Processes of the emulated host wait so, too; only by what factor is fitted."
    )


def _calibrated(fit: Study) -> str:
    best = records(fit.trials.sort_values("value", kind="stable"))[0]
    found = {each.name: best[CONSTANT + each.name] for each in fit.searched}
    rows = fit.runs.loc[fit.runs["trial"] == best["trial"], "row"].nunique()
    return (
        f"What is left of the emulated host was then fitted to the real runs of "
        f"{labels.count(rows, labels.words(fit.controller))}, and to nothing else: "
        f"{labels.constants_with_units(found)} come nearest of {len(fit.trials)} combinations, "
        f"with misfit {best['value']:.3g} ({{calibration}})."
    )


def _host(fit: Study) -> Table:
    """The best trials of the fit."""
    best = records(fit.trials.dropna(subset=["value"]).sort_values("value", kind="stable"))[:5]
    return Table(
        name="calibration",
        title="The emulated host, fitted to real runs",
        caption=(
            f"The {len(best)} best of {len(fit.trials)} combinations. The misfit is the mean, over "
            f"throughput and signal delay of each setting of {code(fit.controller)}, of a loss of "
            "the relative error."
        ),
        columns=(
            *(
                Column(
                    labels.sentence(each.name),
                    labels.unit(each.name),
                    f"{labels.number(each.low)} to {labels.number(each.high)}",
                )
                for each in fit.searched
            ),
            Column("Misfit"),
        ),
        rows=tuple(
            (
                *(labels.number(trial[CONSTANT + each.name]) for each in fit.searched),
                f"{trial['value']:.3g}",
            )
            for trial in best
        ),
        strong=frozenset({0}),
    )


def _differs(spreads: pd.DataFrame) -> str:
    best = records(spreads[spreads["is_best"]])[0]
    real = best["real_deviation"]
    if real != real:
        return (
            "Each window ran only once, which tells nothing of how much the host differs from run "
            "to run: it is taken to be the same in all."
        )
    return (
        f"A real host is not equally busy in every run: throughput of one window differs by "
        f"{labels.percent(real, 2)} between runs (standard deviation over mean, pooled over the "
        f"windows). So each emulated run has a mean lateness of its own, log-normal around that of "
        f"the fit. A deviation of its logarithm of {labels.number(best['wake_spread'])} comes "
        f"nearest, with {labels.percent(best['emulated_deviation'], 2)} ({{wake-spread}}). All "
        "that follows is emulated on that host."
    )


def _spreads(spreads: pd.DataFrame) -> Table:
    lines = records(spreads)
    return Table(
        name="wake-spread",
        title="How much emulated runs differ, by the spread of the host's lateness",
        caption=(
            "Spread: deviation of the logarithm of a run's mean lateness. Throughput: standard "
            "deviation of single runs over their mean, pooled over the windows."
        ),
        columns=(
            Column("Spread"),
            Column("Emulated", "%", "Throughput"),
            Column("Real", "%", "Throughput"),
        ),
        rows=tuple(
            (
                labels.number(line["wake_spread"]),
                *(
                    f"{100 * line[name]:.2f}" if line[name] == line[name] else labels.DASH
                    for name in ("emulated_deviation", "real_deviation")
                ),
            )
            for line in lines
        ),
        strong=frozenset(i for i, line in enumerate(lines) if line["is_best"]),
    )
