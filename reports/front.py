"""The first page: what was run, and what came of it, in figures."""

import pandas as pd

from reports import labels
from reports.collect import Results
from reports.content import Highlight, Report, Section, code, literal
from reports.discover import held_out, repetition, reports_compared, searches, sweeps
from reports.discover_real import agreement
from reports.metrics import POWER, SIGNAL_DELAY, THROUGHPUT
from reports.provenance import Provenance
from reports.subjects import Comparison, Search, Sweep

TITLE = "The knee of the throughput-delay curve"


def assemble(results: Results, provenance: Provenance, sections: tuple[Section, ...]) -> Report:
    """The whole report."""
    return Report(
        title=TITLE,
        subtitle=_subtitle(results),
        abstract=(_what(results, provenance), _findings(results)),
        highlights=_highlights(results),
        sections=sections,
    )


def _networks(results: Results) -> str:
    used = [name for study in results.studies for name in study.networks]
    titles = [results.networks.get(name, name) for name in dict.fromkeys(used)]
    return labels.joined(titles)


def _subtitle(results: Results) -> str:
    controllers = list(dict.fromkeys(study.controller for study in results.studies))
    if reports_compared(results) is not None:
        return "Published results replayed, searched and repeated"
    names = [labels.words(name) for name in controllers]
    text = f"{labels.joined(names)} on {_networks(results)}"
    return text[:1].upper() + text[1:]


def _what(results: Results, provenance: Provenance) -> str:
    if not results.studies:
        return "No study of this configuration has results."
    runs = sum(len(study.runs) for study in results.studies)
    runs += sum(len(each.runs) for each in results.repeats)
    runs += len(results.hold_out.runs) if results.hold_out else 0
    controllers = list(dict.fromkeys(study.controller for study in results.studies))
    names = labels.joined([labels.words(name) for name in controllers])
    return (
        "A congestion controller works best at the knee of its throughput-delay curve, where "
        f"power, throughput over delay, is greatest. We looked for the knee of {names} on "
        f"{literal(_networks(results))}: {labels.count(runs, 'run')} in "
        f"{labels.count(len(results.studies), 'study', 'studies')}{_repeated(results)}, all from "
        f"the seed {provenance.seed}."
    )


def _repeated(results: Results) -> str:
    settings = sum(len(each.settings) for each in results.repeats)
    return f" and {labels.count(settings, 'repeated setting')}" if settings else ""


def _findings(results: Results) -> str:
    texts = [_sweep_sentence(sweep, _place(results, sweep)) for sweep in sweeps(results)]
    texts += _fits(results)
    compared = reports_compared(results)
    if compared is not None:
        agreed, rows = int(compared.rows["within"].sum()), compared.agreement["compared"].sum()
        texts.append(
            f"Of {rows} published rows that we replayed, {agreed} agree with ours within the "
            f"tolerances of {{audit}}{_contradicted(compared)}."
        )
    texts += [*_tuned_sentence(results), *_held_out_sentence(results)]
    return " ".join([*texts, *_real_sentence(results)])


def _contradicted(compared: Comparison) -> str:
    wrong = int((compared.rows["verdict"] == "contradicted").sum())
    return f", which contradicts {labels.count(wrong, 'row')}" if wrong else ""


def _fits(results: Results) -> list[str]:
    """What was fitted of the host, each; what was fitted of controllers, together."""
    fits = [search for search in searches(results) if search.minimised]
    of_host = {study.name for study in results.studies if study.is_of_host}
    texts = [_fitted(search) for search in fits if search.key in of_host]
    others = {table for search in fits if search.key not in of_host for table in search.fit}
    if others:
        tables = labels.count(len(others), "published table")
        texts.append(f"Constants that reports leave unsaid were fitted to {tables}.")
    return texts


def _fitted(search: Search) -> str:
    tables = labels.joined([code(table) for table in search.fit])
    return f"Fitted to {tables} alone: {labels.constants_with_units(search.best_constants)}."


def _tuned(results: Results) -> list[Search]:
    """The searches for the greatest power over several constants, the best first."""
    found = [s for s in searches(results) if not s.minimised and len(s.searched) > 1]
    return sorted(found, key=lambda search: -search.best.value)


def _tuned_sentence(results: Results) -> list[str]:
    tuned = _tuned(results)
    if not tuned:
        return []
    best, worst = tuned[0], tuned[-1]
    text = (
        f"The best {labels.words(best.controller)} that {len(best.trials)} trials found has power "
        f"{best.best.value:.2f} ({labels.constants(best.best_constants)})"
    )
    if len(tuned) > 1:
        text += (
            f", the greatest of {len(tuned)} controllers searched; the least is "
            f"{labels.words(worst.controller)} with {worst.best.value:.2f}"
        )
    return [text + "."]


def _held_out_sentence(results: Results) -> list[str]:
    held = held_out(results)
    compared = held.gains.dropna(subset=["training_gain"]) if held else pd.DataFrame()
    if held is None or compared.empty:
        return []
    worse = int((compared["held_out_gain"] < 0).sum())
    return [
        f"On {labels.count(len(held.networks) - 1, 'network')} that no search has seen, {worse} of "
        f"{len(compared)} tuned settings do worse than their controller's best published one "
        "({held-out})."
    ]


def _real_sentence(results: Results) -> list[str]:
    found = agreement(results)
    if found is None:
        return []
    text = (
        f"{labels.count(len(found.settings), 'setting')} also ran in real mahimahi, "
        f"{labels.count(len(found.runs), 'run')} in all"
    )
    accuracy = found.accuracy
    if accuracy.settings:
        text += (
            f": over those that the emulator was not fitted to, it is off by "
            f"{labels.percent(accuracy.relative[THROUGHPUT])} of throughput and "
            f"{labels.percent(accuracy.relative[SIGNAL_DELAY])} of signal delay in the mean "
            "({agreement})"
        )
    return [text + "."]


def _place(results: Results, sweep: Sweep) -> str:
    """Where a sweep ran, if that needs saying."""
    if len(sweeps(results)) == 1:
        return ""
    return f" on {literal(results.networks.get(sweep.network, sweep.network))}"


def _sweep_sentence(sweep: Sweep, place: str) -> str:
    name = labels.words(sweep.constant)
    verb = "is" if labels.words(sweep.controller).endswith(name) else f"has {name}"
    text = (
        f"The best {labels.words(sweep.controller)}{place} {verb} "
        f"{labels.number(sweep.best_value)}, with power "
        f"{labels.with_interval(sweep.best.value, sweep.best.half_width)} Mbit/s/s"
    )
    tied = [labels.number(value) for value in sweep.tied_values]
    return text + (f"; {labels.joined(tied)} cannot be told from it." if tied else ".")


def _highlights(results: Results) -> tuple[Highlight, ...]:
    found = [_best_of(sweep, _place(results, sweep)) for sweep in sweeps(results)]
    compared = reports_compared(results)
    if compared is not None:
        agreed, rows = int(compared.rows["within"].sum()), compared.agreement["compared"].sum()
        medians = compared.rows[f"relative_{POWER}"].abs().median()
        found.append(
            Highlight(
                f"{agreed} of {rows}",
                "published rows agree",
                f"median difference in power {labels.percent(medians)}",
            )
        )
    repeated = repetition(results)
    if repeated is not None:
        powers = repeated.spread[(repeated.spread["metric"] == POWER) & (repeated.spread["n"] > 1)]
        if len(powers):
            found.append(
                Highlight(
                    labels.percent(powers["cv"].max(), 2),
                    "greatest variation of power",
                    f"coefficient over {labels.count(len(powers), 'repeated setting')}",
                )
            )
    found += [_best_found(search) for search in _tuned(results)[:1]]
    found += [*_what_holds(results), *_how_real(results)]
    return tuple(found)


def _how_real(results: Results) -> list[Highlight]:
    found = agreement(results)
    if found is None or not found.accuracy.settings:
        return []
    accuracy = found.accuracy
    return [
        Highlight(
            labels.percent(accuracy.relative[THROUGHPUT]),
            "mean error of emulated throughput against real mahimahi",
            f"{labels.percent(accuracy.relative[SIGNAL_DELAY])} of signal delay; "
            f"{labels.count(accuracy.settings, 'setting')} of "
            f"{labels.count(accuracy.controllers, 'controller')}",
        )
    ]


def _what_holds(results: Results) -> list[Highlight]:
    held = held_out(results)
    gains = held.gains.dropna(subset=["training_gain"]) if held else pd.DataFrame()
    if held is None or gains.empty:
        return []
    return [
        Highlight(
            labels.percent(gains["held_out_gain"].median(), signed=True),
            "power by tuning, on networks not searched on",
            f"median of {labels.count(len(gains), 'setting')}; "
            f"{labels.percent(gains['training_gain'].median(), signed=True)} where it searched",
        )
    ]


def _best_of(sweep: Sweep, place: str) -> Highlight:
    tied = [labels.number(value) for value in sweep.tied_values]
    detail = f"power {labels.with_interval(sweep.best.value, sweep.best.half_width)} Mbit/s/s"
    if tied:
        detail += f"; {labels.joined(tied)} tie"
    unit = f" {sweep.unit}" if sweep.unit else ""
    return Highlight(
        f"{labels.number(sweep.best_value)}{unit}",
        f"best {labels.words(sweep.constant)}{place}",
        detail,
    )


def _best_found(search: Search) -> Highlight:
    return Highlight(
        f"{search.best.value:.2f}",
        f"power of the best {labels.words(search.controller)} found",
        labels.constants(search.best_constants),
    )
