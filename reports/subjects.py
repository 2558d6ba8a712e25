"""What a report can be about: sweeps, grids, searches, repetitions, one run, published tables.

Each is found in the results by what studies are, not by what they are called, and carries its
statistics as frames, ready to be drawn and tabulated.
"""

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from reports import labels, link_series, statistics
from reports.collect import Results, Searched, Study
from reports.frames import Record, record
from reports.metrics import METRICS, POWER
from reports.statistics import CONSTANT, Best

ONE_PEAK = ("ternary", "golden")
"""The samplers that search one constant for a single peak."""
ENUMERATING = ("grid", "table")
"""The samplers whose order of trials says nothing."""


@dataclass(frozen=True)
class Subject:
    """Anything that can be drawn; `key` is unique among subjects of its type and fit for a file."""

    key: str


@dataclass(frozen=True)
class Sweep(Subject):
    """All runs of a controller on one network that differ in one constant only.

    `curve` is from `statistics.response`; `published` has columns table, value, the metrics.
    """

    controller: str
    network: str
    constant: str
    unit: str
    studies: tuple[str, ...]
    curve: pd.DataFrame
    published: pd.DataFrame
    best: Best

    @property
    def best_value(self) -> float:
        """The constant's value of greatest power."""
        return float(self.curve["value"][self.best.label])

    @property
    def tied_values(self) -> list[float]:
        """The values that cannot be told from the best."""
        return sorted(float(self.curve["value"][label]) for label in self.best.ties)

    @property
    def reports(self) -> list[str]:
        """The published tables that are shown beside the sweep."""
        return list(dict.fromkeys(self.published["table"]))


@dataclass(frozen=True)
class Grid(Subject):
    """A full grid over two constants: power with `y` down and `x` across, ours and published."""

    title: str
    controller: str
    network: str
    x: str
    y: str
    ours: pd.DataFrame
    published: pd.DataFrame | None
    table: str
    unsaid: tuple[str, ...]
    spread: float

    @cached_property
    def relative(self) -> pd.DataFrame | None:
        """Ours over published, less one."""
        return None if self.published is None else self.ours / self.published - 1


@dataclass(frozen=True)
class Search(Subject):
    """One adaptive search: its trials in order, and what it found."""

    title: str
    controller: str
    networks: tuple[str, ...]
    sampler: str
    objective: str
    minimised: bool
    searched: tuple[Searched, ...]
    trials: pd.DataFrame
    history: pd.DataFrame
    best: Best

    @property
    def best_trial(self) -> Record:
        """The row of the best trial."""
        return record(self.trials, self.best.label)

    @property
    def best_constants(self) -> dict[str, float]:
        """The searched constants of the best trial."""
        return {c.name: float(self.best_trial[CONSTANT + c.name]) for c in self.searched}

    @cached_property
    def brackets(self) -> pd.DataFrame:
        """Where the peak can be, step by step; for a search of one constant."""
        trials = self.trials.assign(value=-self.trials["value"]) if self.minimised else self.trials
        only = self.searched[0]
        return statistics.brackets(trials, only.name).fillna({"low": only.low, "high": only.high})


@dataclass(frozen=True)
class Repetition(Subject):
    """All settings that were run many times: `spread` by setting and metric, and published means.

    `settings` has columns setting, controller, network, label; `published` is from
    `statistics.beside_published_spread`; `runs` has column setting.
    """

    settings: pd.DataFrame
    runs: pd.DataFrame
    spread: pd.DataFrame
    published: pd.DataFrame


@dataclass(frozen=True)
class OneRun(Subject):
    """One run over time, from its link log."""

    controller: str
    constants: str
    network: str
    rates: pd.DataFrame
    packets: pd.DataFrame
    signal: pd.DataFrame
    metrics: link_series.LinkMetrics


@dataclass(frozen=True)
class Comparison(Subject):
    """Every published row beside ours: `rows` from `statistics.beside`, with column within."""

    rows: pd.DataFrame
    agreement: pd.DataFrame


def margin(results: Results, controller: str, network: str) -> float:
    """What two single runs of a controller may differ by in power by chance, relative."""
    runs = [
        repeats.runs[
            (repeats.runs["controller"] == controller) & (repeats.runs["network"] == network)
        ]
        for repeats in results.repeats
    ]
    alike = pd.concat(runs) if runs else pd.DataFrame()
    return statistics.tie_margin(alike, ["study", "constants"]) if len(alike) else math.nan


def sweeps(results: Results) -> Iterator[Sweep]:
    """One sweep for each controller, network and constant that studies vary alone."""
    groups: dict[tuple[str, str, str, str], list[Study]] = {}
    for study in results.studies:
        varied = _varied(study.runs)
        if len(varied) == 1 and len(study.networks) == 1 and not study.fit:
            constant = varied[0]
            held = _held(study.runs, constant)
            groups.setdefault((study.controller, study.networks[0], constant, held), []).append(
                study
            )
    keys: list[str] = []
    for (controller, network, constant, _), studies in groups.items():
        runs = pd.concat([study.runs for study in studies], ignore_index=True)
        curve = statistics.response(runs, constant)
        best = statistics.best(curve[POWER], margin(results, controller, network))
        if best is None or len(curve) < 3:
            continue
        key = f"{controller}-{constant}-{network}"
        keys.append(key)
        tables = list(dict.fromkeys(table for study in studies for table in study.compare))
        yield Sweep(
            key=key if keys.count(key) == 1 else f"{key}-{keys.count(key)}",
            controller=controller,
            network=network,
            constant=constant,
            unit=results.units.get((controller, constant), labels.unit(constant)),
            studies=tuple(study.title for study in studies),
            curve=curve,
            published=_published_points(results.published, tables, constant),
            best=best,
        )


def grids(results: Results) -> Iterator[Grid]:
    """One grid for each study that covers every pair of values of two constants.

    A study that varies more shows the two that its published table prints.
    """
    for study in results.studies:
        varied = _varied(study.runs)
        table = study.compare[0] if study.compare else ""
        rows = results.published[results.published["table"] == table]
        printed = [name for name in varied if _values(rows, name) > 1]
        axes = printed if len(printed) == 2 else varied
        if len(axes) != 2 or study.fit:
            continue
        y, x = axes
        ours = statistics.grid(statistics.succeeded(study.runs), CONSTANT + x, CONSTANT + y, POWER)
        if ours.isna().any(axis=None) or min(ours.shape) < 2:
            continue
        beside = statistics.beside(rows, study.runs)
        published = (
            statistics.grid(beside, CONSTANT + x, CONSTANT + y, f"published_{POWER}")
            if len(printed) == 2
            else None
        )
        yield Grid(
            key=study.name,
            title=study.title,
            controller=study.controller,
            network=study.networks[0],
            x=x,
            y=y,
            ours=ours if published is None else ours.reindex_like(published),
            published=published,
            table=table,
            unsaid=tuple(name for name in varied if name not in axes),
            spread=float(beside["spread"].max()) if len(beside) else math.nan,
        )


def searches(results: Results) -> Iterator[Search]:
    """One search for each study whose sampler learns from its trials."""
    for study in results.studies:
        if study.sampler in ENUMERATING:
            continue
        values = -study.trials["value"] if study.minimised else study.trials["value"]
        chance = math.nan if study.fit else margin(results, study.controller, study.networks[0])
        best = statistics.best(values, chance)
        if best is not None:
            yield Search(
                key=study.name,
                title=study.title,
                controller=study.controller,
                networks=study.networks,
                sampler=study.sampler,
                objective=study.objective,
                minimised=study.minimised,
                searched=study.searched,
                trials=study.trials,
                history=statistics.history(study.trials, study.minimised),
                best=best,
            )


def repetition(results: Results) -> Repetition | None:
    """All settings that were run many times, together."""
    if not results.repeats:
        return None
    runs = pd.concat([repeats.runs for repeats in results.repeats], ignore_index=True)
    published = pd.concat([repeats.published for repeats in results.repeats], ignore_index=True)
    spread = statistics.repeatability(runs, ["setting"])
    measured = set(spread["setting"])
    settings = pd.concat([repeats.settings for repeats in results.repeats], ignore_index=True)
    return Repetition(
        key="all",
        settings=settings[settings["setting"].isin(measured)].reset_index(drop=True),
        runs=statistics.succeeded(runs),
        spread=spread,
        published=statistics.beside_published_spread(
            spread, published[published["setting"].isin(measured)]
        ),
    )


def one_run(results: Results) -> OneRun | None:
    """The run of the rate and delay figures, if there is one."""
    shown = results.showcase
    if shown is None:
        return None
    return OneRun(
        key=shown.controller,
        controller=shown.controller,
        constants=labels.constants(shown.constants),
        network=shown.network,
        rates=link_series.rates(shown.log),
        packets=link_series.packet_delays(shown.log),
        signal=link_series.signal_delay(shown.log),
        metrics=link_series.metrics(shown.log),
    )


def comparison(results: Results) -> Comparison | None:
    """Every published row that a study replays, if there is any."""
    parts = []
    for table, rows in results.published.groupby("table", sort=False):
        runs = [study.runs for study in results.studies if table in study.compare and not study.fit]
        if runs:
            parts.append(statistics.beside(rows, pd.concat(runs, ignore_index=True)))
    if not parts:
        return None
    rows = pd.concat(parts, ignore_index=True)
    rows["within"] = statistics.within_tolerance(rows)
    return Comparison("tables", rows, statistics.agreement(rows))


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
