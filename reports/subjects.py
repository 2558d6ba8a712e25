"""What a report can be about: sweeps, grids, searches, repetitions, one run, published tables.

Each carries its statistics as frames, ready to be drawn and tabulated; `reports.discover` finds
them in the results.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from reports import link_series, statistics, surface
from reports.collect import Searched
from reports.frames import Record, record, records
from reports.importances import importances
from reports.real_statistics import Accuracy, explained
from reports.statistics import CONSTANT, Best
from reports.surface import Surface

ONE_PEAK = ("ternary", "golden")
"""The samplers that search one constant for a single peak."""
ENUMERATING = ("grid",)
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
    """A full grid over two constants: power with `y` down and `x` across, ours and published.

    Ours is the mean over whatever else the study varied; `others` has the effect of each such
    constant, from `statistics.effect`.
    """

    title: str
    controller: str
    network: str
    x: str
    y: str
    ours: pd.DataFrame
    published: pd.DataFrame | None
    table: str
    others: Mapping[str, pd.DataFrame]

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
    fit: tuple[str, ...]
    robust: bool
    searched: tuple[Searched, ...]
    trials: pd.DataFrame
    history: pd.DataFrame
    best: Best
    is_real: bool = False

    @property
    def minimised(self) -> bool:
        """Whether a smaller value is better: a misfit, to the tables `fit`."""
        return bool(self.fit)

    @property
    def best_trial(self) -> Record:
        """The row of the best trial."""
        return record(self.trials, self.best.label)

    @property
    def best_constants(self) -> dict[str, float]:
        """The searched constants of the best trial."""
        return {c.name: float(self.best_trial[CONSTANT + c.name]) for c in self.searched}

    @cached_property
    def importances(self) -> dict[str, float]:
        """The share of each constant in the search's success, where that can be told."""
        return importances(self.trials, self.searched, self.minimised)

    @property
    def measured(self) -> pd.DataFrame:
        """The trials that have a value and of which no run failed."""
        return self.trials[self.trials["value"].notna() & (self.trials["reason"] == "")]

    @cached_property
    def surface(self) -> Surface | None:
        """The value over the two most important constants; None where that tells nothing."""
        axes = surface.axes(self.measured, self.searched, self.importances)
        found = surface.surface(self.measured, *axes) if axes else None
        return found if found is not None and found.tells else None

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
    is_real: bool = False


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
    is_real: bool = False


@dataclass(frozen=True)
class Comparison(Subject):
    """Every published row beside ours: `rows` from `audit.audit`, with column within.

    The key is "reports", or "measured" where the rows are our own real runs.
    """

    rows: pd.DataFrame
    agreement: pd.DataFrame

    @property
    def noun(self) -> str:
        """What stands beside ours."""
        return "Published" if self.key == "reports" else "Measured"


@dataclass(frozen=True)
class HeldOut(Subject):
    """Published and tuned settings on networks that no search has seen (`reports.hold_out`).

    `settings` has every distinct one with its scores; `standings` the best published and the tuned
    ones with their ranks; `relative` their relative power, one row each in that order, one column a
    network, the training network first; `gains` has a row for each tuned setting; `repeats` says
    how often these ran on each network, `runs` counts all.
    """

    networks: pd.DataFrame
    settings: pd.DataFrame
    standings: pd.DataFrame
    relative: pd.DataFrame
    gains: pd.DataFrame
    correlation: float
    repeats: int
    runs: int

    @property
    def training(self) -> str:
        """The title of the training network."""
        return str(self.networks["title"].iloc[0])


@dataclass(frozen=True)
class Probing(Subject):
    """How many real runs the host takes at once.

    `levels` is from `real_statistics.probe_levels`, `runs` from `real_statistics.probe_runs`.
    """

    slots: int
    cores: int
    busy_us: float
    controller: str
    levels: pd.DataFrame
    runs: pd.DataFrame


@dataclass(frozen=True)
class Waiting(Subject):
    """How long real processes waited for the processor.

    `delays` has columns one_in, delay_us (mean over runs), least_us, greatest_us, n_runs: one
    datagram in so many waited so long, or longer.
    """

    controller: str
    runs: int
    delays: pd.DataFrame

    def exceeded_us(self, one_in: int) -> float:
        """The delay that one datagram in so many, a power of two, reached; NaN if none tells."""
        found = self.delays.loc[self.delays["one_in"] == one_in, "delay_us"]
        return float(found.iloc[0]) if len(found) else float("nan")


@dataclass(frozen=True)
class Agreement(Subject):
    """Settings in real mahimahi, and in the emulator where that was calibrated.

    `settings` has columns trial, controller, network, constants, origins, rows, name (among the
    controller's settings: why it ran, or the values of the constants in `varied`) and label;
    `rows` is from `real_statistics.beside_real`, and so is `again`, for the further real runs of
    settings that the emulator did not predict; `runs` has all real runs but these.
    """

    settings: pd.DataFrame
    varied: Mapping[str, tuple[str, ...]]
    rows: pd.DataFrame
    runs: pd.DataFrame
    again: pd.DataFrame
    accuracy: Accuracy

    def of_metric(self, metric: str) -> dict[int, Record]:
        """The row of each setting, by its trial."""
        rows = records(self.rows[self.rows["metric"] == metric])
        return {int(row["trial"]): row for row in rows}

    @property
    def is_compared(self) -> bool:
        """Whether there is anything of the emulator's."""
        return bool(self.rows["relative"].notna().any())

    @property
    def outside(self) -> pd.DataFrame:
        """The settings and metrics whose real mean the emulator does not predict, and why."""
        rows = self.rows[~self.rows["inside"].fillna(True).astype(bool)]
        named = rows.merge(self.settings[["trial", "label"]], on="trial")
        return explained(named, self.runs, self.again)
