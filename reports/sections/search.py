"""A search: what it found, how it got there, and what was known before."""

from collections.abc import Iterator

from reports import labels
from reports.content import Block, Column, Paragraph, Section, Table, code, literal
from reports.discover import reports_compared, searches, sweeps
from reports.frames import Record, records
from reports.metrics import METRICS, POWER, SIGNAL_DELAY, THROUGHPUT
from reports.sections import Context
from reports.statistics import CONSTANT
from reports.subjects import ONE_PEAK, Search
from search.objective import MISFIT_SCALE

SHOWN = 8
NEAR = 1.5
ORDER = 35

_SAMPLERS = {"tpe": "TPE", "cmaes": "CMA-ES", "qmc": "quasi-Monte-Carlo"}


def compose(context: Context) -> Iterator[Section]:
    """One section for each search but fits and those for a single peak, which have their own."""
    for found in searches(context.results):
        if found.sampler not in ONE_PEAK and not found.fit:
            yield section(context, found)


def section(context: Context, search: Search) -> Section:
    """What was searched, what was found, how it compares, and how the search went."""
    blocks: list[Block] = [Paragraph(_what(context, search)), Paragraph(_found(search))]
    before = _beside_sweep(context, search) or _beside_published(context, search)
    if before:
        blocks.append(Paragraph(before))
    blocks += context.draw(search)
    if len(search.searched) > 1:
        blocks.append(_best_trials(search))
    return Section(f"search-{search.key}", literal(search.title), tuple(blocks))


def _what(context: Context, search: Search) -> str:
    ranges = [
        f"{labels.words(c.name)} from {labels.number(c.low)} to {labels.number(c.high)}"
        for c in search.searched
    ]
    networks = labels.joined([literal(context.network(name)) for name in search.networks])
    sampler = _SAMPLERS.get(search.sampler, search.sampler)
    goal = (
        f"least misfit to {labels.joined([code(t) for t in search.fit])}"
        if search.minimised
        else "greatest power"
    )
    failed = int(search.history["failed"].sum())
    text = (
        f"The {sampler} search looked for the {goal} of {labels.words(search.controller)} on "
        f"{networks}{', in real mahimahi,' if search.is_real else ''} over "
        f"{labels.joined(ranges)}, in {labels.count(len(search.trials), 'trial')}"
    )
    return text + (f", {failed} of which failed." if failed else ".")


def _found(search: Search) -> str:
    best = search.best_trial
    constants = labels.constants_with_units(search.best_constants)
    text = f"**The best is {constants}** (trial {int(best['trial'])}): "
    if search.minimised:
        return text + f"misfit {best['value']:.3g}. {_how_sharp(search)}"
    text += (
        f"power {best['value']:.2f} Mbit/s/s, {best[THROUGHPUT]:.2f} Mbit/s at "
        f"{best[SIGNAL_DELAY]:.0f} ms. "
    )
    if search.best.margin != search.best.margin:
        return text + "No setting of this controller was repeated: how sure this is, is not known."
    ties = len(search.best.ties)
    others = f"{labels.count(ties, 'other trial')} {'comes' if ties == 1 else 'come'}"
    return text + (
        f"{others if ties else 'No other trial comes'} within the "
        f"{labels.chance(search.best.margin, search.best.runs)}."
    )


def _how_sharp(search: Search) -> str:
    """How far the searched constants may move before a fit is clearly worse."""
    good = search.trials[search.trials["value"] <= NEAR * search.best_trial["value"]]
    parts = []
    for constant in search.searched:
        values = good[CONSTANT + constant.name]
        parts.append(
            f"{labels.words(constant.name)} from {labels.number(values.min())} to "
            f"{labels.constants_with_units({constant.name: values.max()}, named=False)}"
        )
    reach = f"Trials with at most {NEAR:g} times that misfit reach {labels.joined(parts)}."
    if len(good) == 1:
        reach = f"No other trial has less than {NEAR:g} times that misfit."
    loss = (
        f"quadratic up to {labels.percent(MISFIT_SCALE, 0)} and linear beyond, so that one wrong "
        "row cannot drag the fit"
        if search.robust
        else "quadratic"
    )
    return (
        f"{reach} The misfit is the mean, over the published throughputs and delays, of a loss of "
        f"the relative error, {loss}."
        + (" Every table counts alike, whatever its rows." if len(search.fit) > 1 else "")
    )


def _beside_sweep(context: Context, search: Search) -> str:
    """How a search for one peak agrees with a sweep of the same constant."""
    if search.sampler not in ONE_PEAK or search.minimised:
        return ""
    only = search.searched[0].name
    for sweep in sweeps(context.results):
        if (sweep.controller, sweep.network, sweep.constant) == (
            search.controller,
            search.networks[0],
            only,
        ):
            found = search.best_constants[only]
            agrees = found == sweep.best_value or found in sweep.tied_values
            whose = "The emulator's sweep" if search.is_real else "The sweep"
            return (
                f"{whose} {'agrees' if agrees else 'disagrees'}: over all its values power is "
                f"greatest at {labels.words(only)} {labels.number(sweep.best_value)} "
                f"({{power-curve-{sweep.key}}}), which took {len(sweep.curve)} evaluations where "
                f"the search took {len(search.brackets)}."
            )
    return ""


def _beside_published(context: Context, search: Search) -> str:
    """The best power published for the controller, and what the search gained over it."""
    rows = context.results.published
    if search.minimised or rows.empty or POWER not in rows:
        return ""
    rows = rows[(rows["controller"] == search.controller) & (rows["network"] == search.networks[0])]
    rows = rows.dropna(subset=[POWER]).sort_values(POWER, ascending=False, kind="stable")
    if rows.empty:
        return ""
    best = records(rows)[0]
    gain = search.best.value / best[POWER] - 1
    searched = {constant.name for constant in search.searched}
    printed = {
        name.removeprefix(CONSTANT): value
        for name, value in best.items()
        if name.startswith(CONSTANT) and name.removeprefix(CONSTANT) in searched and value == value
    }
    return (
        f"The best published for this controller is {best[POWER]:.2f} Mbit/s/s "
        f"({labels.report_of(best['table'])}: {labels.constants(printed)})"
        f"{_replayed(context, best)}; the search's best is {labels.percent(abs(gain))} "
        f"{'above' if gain > 0 else 'below'} it. Found on one network, it may not hold on another."
    )


def _replayed(context: Context, published: Record) -> str:
    """Our power at a published row's constants, where a study ran it."""
    compared = reports_compared(context.results)
    if compared is None:
        return ""
    for row in records(compared.rows):
        if (row["table"], row["row"]) == (published["table"], published["row"]) and row["runs"]:
            return f", where ours is {row[f'ours_{POWER}']:.2f}"
    return ""


def _best_trials(search: Search) -> Table:
    done = search.trials.dropna(subset=["value"])
    done = done.sort_values("value", ascending=search.minimised, kind="stable").head(SHOWN)
    metrics = () if search.minimised else (THROUGHPUT, SIGNAL_DELAY, POWER)
    rows = [
        (
            str(int(row["trial"])),
            *(labels.number(row[CONSTANT + c.name]) for c in search.searched),
            *(METRICS[metric].text(row[metric]) for metric in metrics),
            *([f"{row['value']:.4g}"] if search.minimised else []),
        )
        for row in records(done)
    ]
    return Table(
        name=f"best-trials-{search.key}",
        title=f"The {len(rows)} best trials",
        caption=f"The best trials of {len(search.trials)}, the best first.",
        columns=(
            Column("Trial"),
            *(
                Column(labels.sentence(c.name), labels.unit(c.name), "Constants")
                for c in search.searched
            ),
            *(Column(METRICS[metric].title, METRICS[metric].unit) for metric in metrics),
            *([Column("Misfit")] if search.minimised else []),
        ),
        rows=tuple(rows),
        strong=frozenset({0}),
    )
