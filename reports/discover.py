"""Finds in the results what there is to report, by what studies are, not by what they are called.

Results are compared by identity, so that each of these is computed once a report.
"""

import json
from collections import Counter
from functools import lru_cache

import pandas as pd

from reports import hold_out, labels, link_series, statistics
from reports.audit import audit
from reports.collect import MAHIMAHI, Results, Study
from reports.metrics import METRICS, POWER
from reports.statistics import CONSTANT, Chance
from reports.subjects import (
    ENUMERATING,
    Comparison,
    Grid,
    HeldOut,
    OneRun,
    Repetition,
    Search,
    Sweep,
)

once = lru_cache(maxsize=2)
"""For the results of the emulator, and for those of real mahimahi."""

FEWEST = 8
"""Fewer values of a constant make no sweep."""


def luck(results: Results, controller: str, network: str) -> Chance:
    """How much a controller's power varies by chance on a network: from its repetitions.

    Where it has none, from those of its best settings, or from those within trials of a study.
    """

    def of(frames: list[pd.DataFrame]) -> Chance:
        runs = pd.concat(frames) if frames else pd.DataFrame()
        if runs.empty:
            return Chance()
        alike = runs[(runs["controller"] == controller) & (runs["network"] == network)]
        return statistics.chance(alike, ["study", "constants"])

    found = of([each.runs for each in results.repeats])
    if not found.degrees and results.hold_out:
        found = of([results.hold_out.runs.drop_duplicates("run_id")])
    return found if found.degrees else of([s.runs for s in results.studies if not s.fit])


@once
def sweeps(results: Results) -> tuple[Sweep, ...]:
    """One sweep for each controller, network and constant that studies vary alone."""
    groups: dict[tuple[str, str, str, str], list[Study]] = {}
    for study in results.studies:
        varied = _varied(study.runs)
        if len(varied) == 1 and len(study.networks) == 1 and not study.fit:
            alike = study.controller, study.networks[0], varied[0], _held(study.runs, varied[0])
            groups.setdefault(alike, []).append(study)
    found: list[Sweep] = []
    taken: Counter[str] = Counter()
    for (_, _, constant, _), studies in groups.items():
        sweep = _sweep(results, constant, studies, taken)
        if sweep is not None:
            found.append(sweep)
    return tuple(found)


def _sweep(
    results: Results, constant: str, studies: list[Study], taken: Counter[str]
) -> Sweep | None:
    controller, network = studies[0].controller, studies[0].networks[0]
    runs = pd.concat([study.runs for study in studies], ignore_index=True)
    curve = statistics.response(runs, constant)
    best = statistics.best(curve[POWER], curve["runs"], luck(results, controller, network))
    if best is None or len(curve) < FEWEST:
        return None
    key = f"{controller}-{constant}-{network}"
    taken[key] += 1
    tables = list(dict.fromkeys(table for study in studies for table in study.compare))
    return Sweep(
        key=key if taken[key] == 1 else f"{key}-{taken[key]}",
        controller=controller,
        network=network,
        constant=constant,
        unit=results.units.get((controller, constant), labels.unit(constant)),
        studies=tuple(study.title for study in studies),
        curve=curve,
        published=_published_points(results.published, tables, constant),
        best=best,
    )


@once
def grids(results: Results) -> tuple[Grid, ...]:
    """One grid for each study that covers every pair of values of two constants.

    A study that varies more shows the two that its published table prints.
    """
    found = (_grid(results, study) for study in results.studies if not study.fit)
    return tuple(grid for grid in found if grid is not None)


def _grid(results: Results, study: Study) -> Grid | None:
    varied = _varied(study.runs)
    table = study.compare[0] if study.compare else ""
    rows = results.published[results.published["table"] == table]
    printed = [name for name in varied if _values(rows, name) > 1]
    axes = printed if len(printed) == 2 else varied
    if len(axes) != 2:
        return None
    y, x = (CONSTANT + name for name in axes)
    ours = statistics.grid(statistics.succeeded(study.runs), x, y, POWER)
    if ours.isna().any(axis=None) or min(ours.shape) < 2:
        return None
    published = None
    if axes == printed:
        published = statistics.grid(rows, x, y, POWER)
        ours = ours.reindex_like(published)
    others = [name for name in varied if name not in axes]
    return Grid(
        key=study.name,
        title=study.title,
        controller=study.controller,
        network=study.networks[0],
        x=axes[1],
        y=axes[0],
        ours=ours,
        published=published,
        table=table,
        others={
            name: statistics.effect(statistics.succeeded(study.runs), CONSTANT + name, [x, y])
            for name in others
        },
    )


@once
def searches(results: Results) -> tuple[Search, ...]:
    """One search for each fit, and for each study whose sampler learns from its trials."""
    searching = (s for s in results.studies if s.fit or s.sampler not in ENUMERATING)
    found = (_search(results, study) for study in searching)
    return tuple(search for search in found if search is not None)


def _search(results: Results, study: Study) -> Search | None:
    values = -study.trials["value"] if study.minimised else study.trials["value"]
    chance = Chance() if study.fit else luck(results, study.controller, study.networks[0])
    best = statistics.best(values, study.trials["n_runs"], chance)
    if best is None:
        return None
    return Search(
        key=study.name,
        title=study.title,
        controller=study.controller,
        networks=study.networks,
        sampler=study.sampler,
        objective=study.objective,
        fit=study.fit,
        robust=study.robust,
        searched=study.searched,
        trials=study.trials,
        history=statistics.history(study.trials, study.minimised),
        best=best,
        is_real=results.engine == MAHIMAHI,
    )


@once
def repetition(results: Results) -> Repetition | None:
    """All settings that were run many times, together."""
    if not results.repeats:
        return None
    runs = pd.concat([repeats.runs for repeats in results.repeats], ignore_index=True)
    published = pd.concat([repeats.published for repeats in results.repeats], ignore_index=True)
    spread = statistics.repeatability(runs, ["setting"])
    measured = set(spread["setting"])
    settings = pd.concat([repeats.settings for repeats in results.repeats], ignore_index=True)
    is_real = results.engine == MAHIMAHI
    return Repetition(
        key="real" if is_real else "all",
        settings=settings[settings["setting"].isin(measured)].reset_index(drop=True),
        runs=statistics.succeeded(runs),
        spread=spread,
        published=statistics.beside_published_spread(
            spread, published[published["setting"].isin(measured)]
        ),
        is_real=is_real,
    )


@once
def held_out(results: Results) -> HeldOut | None:
    """Settings on held-out networks, if there are any."""
    found = results.hold_out
    if found is None:
        return None
    networks = found.networks.sort_values("is_training", ascending=False, kind="stable")
    relative = hold_out.relative_power(found.runs, networks)
    scored = hold_out.scores(relative, networks)
    settings = hold_out.distinct_settings(found.settings)
    standings = hold_out.standings(settings[settings["best"]], scored)
    standings["label"] = _setting_labels(standings)
    wide = relative.pivot_table(index="trial", columns="network", values="relative")
    settings = settings.merge(scored, on="trial", validate="one_to_one")
    return HeldOut(
        key="all",
        networks=networks.reset_index(drop=True),
        settings=settings,
        standings=standings,
        relative=wide.loc[standings["trial"], networks["network"]],
        gains=hold_out.gains(found.settings, relative, found.runs, networks),
        correlation=hold_out.rank_correlation(settings["training"], settings["held_out"]),
        repeats=int(relative["runs"].max()),
        runs=len(found.runs),
    )


def _setting_labels(settings: pd.DataFrame) -> "pd.Series[str]":
    """Controller and origin; the study, too, where several tuned the same controller."""
    names = settings["controller"].map(labels.sentence) + ", " + settings["origin"]
    shared = names.duplicated(keep=False)
    return names.where(~shared, names + " by " + settings["study"])


@once
def one_run(results: Results) -> OneRun | None:
    """The run of the rate and delay figures, if there is one."""
    shown = results.showcase
    if shown is None:
        return None
    is_real = results.engine == MAHIMAHI
    return OneRun(
        key=f"real-{shown.controller}" if is_real else shown.controller,
        controller=shown.controller,
        constants=labels.constants(shown.constants),
        network=shown.network,
        rates=link_series.rates(shown.log),
        packets=link_series.packet_delays(shown.log),
        signal=link_series.signal_delay(shown.log),
        metrics=link_series.metrics(shown.log),
        is_real=is_real,
    )


@once
def comparisons(results: Results) -> tuple[Comparison, ...]:
    """The published rows that studies replay: those of reports, and those that we measured."""
    tables = results.published["table"]
    of_report = tables.map(lambda table: labels.is_of_report(str(table))).astype(bool)
    found = (
        _comparison(results, key, results.published[rows])
        for key, rows in (("reports", of_report), ("measured", ~of_report))
    )
    return tuple(each for each in found if each is not None)


def reports_compared(results: Results) -> Comparison | None:
    """The comparison with the reports, if there is one."""
    return next((each for each in comparisons(results) if each.key == "reports"), None)


def _comparison(results: Results, key: str, published: pd.DataFrame) -> Comparison | None:
    parts = []
    for table, rows in published.groupby("table", sort=False):
        runs = [study.runs for study in results.studies if table in study.compare and not study.fit]
        if runs:
            parts.append(statistics.beside(rows, pd.concat(runs, ignore_index=True)))
    if not parts:
        return None
    rows = audit(
        pd.concat(parts, ignore_index=True),
        fitted={table: _fitted(results, table) for table in published["table"].unique()},
        unstated={table: tuple(source.unstated) for table, source in results.sources.items()},
        remarks={table: source.remark for table, source in results.sources.items()},
    )
    rows["within"] = statistics.within_tolerance(rows)
    return Comparison(key, rows, statistics.agreement(rows))


def _fitted(results: Results, table: str) -> tuple[str, ...]:
    """What was fitted to a table: constants that it declares, settings of the host that fits do."""
    declared = results.sources[table].fitted if table in results.sources else ()
    fits = [study for study in results.studies if table in study.fit and study.is_of_host]
    host = [each.name for study in fits for each in study.searched]
    return tuple(dict.fromkeys((*declared, *host)))


def _varied(runs: pd.DataFrame) -> list[str]:
    """The constants that differ among the runs, those of fewer values first."""
    columns = [name for name in runs.columns if name.startswith(CONSTANT)]
    names = [name.removeprefix(CONSTANT) for name in columns]
    counts = {name: _values(runs, name) for name in names}
    return sorted((name for name, n in counts.items() if n > 1), key=lambda name: counts[name])


def _values(rows: pd.DataFrame, constant: str) -> int:
    """How many values of a constant the rows have."""
    return rows[CONSTANT + constant].nunique() if CONSTANT + constant in rows else 0


def _held(runs: pd.DataFrame, constant: str) -> str:
    """The other constants of a study, as text that is equal where they are."""
    values = json.loads(runs["constants"].iloc[0])
    return json.dumps({name: value for name, value in values.items() if name != constant})


def _published_points(published: pd.DataFrame, tables: list[str], constant: str) -> pd.DataFrame:
    """The rows of the tables that print the constant and a metric: table, value, the metrics."""
    column = CONSTANT + constant
    columns = ["table", "value", *METRICS]
    if column not in published:
        return pd.DataFrame(columns=columns)
    rows = published[published["table"].isin(tables)].rename(columns={column: "value"})
    return rows.reindex(columns=columns).dropna(subset=["value"]).reset_index(drop=True)
