"""Reads what the workflow wrote: studies, repetitions, the showcase run, published tables."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pandas as pd

from reports.link_log import LinkLog


@dataclass(frozen=True)
class Searched:
    """A constant that a study searched, and where."""

    name: str
    low: float
    high: float
    logarithmic: bool = False


@dataclass(frozen=True)
class Study:
    """One study's results, and what its configuration says of it.

    `trials` and `runs` follow the results schema; runs carry a column `constant_<name>` for each
    constant, and so do trials for those searched (a searched setting of the engine counts as one).
    """

    name: str
    title: str
    controller: str
    networks: tuple[str, ...]
    sampler: str
    objective: str
    minimised: bool
    fit: str
    searched: tuple[Searched, ...]
    compare: tuple[str, ...]
    seed: int
    trials: pd.DataFrame
    runs: pd.DataFrame


@dataclass(frozen=True)
class Repeats:
    """Settings that were run many times.

    `settings` has columns setting (unique over all repeats), controller, network, label; `runs` a
    column setting; `published` columns setting, metric, mean, standard_deviation, n, source.
    """

    name: str
    title: str
    settings: pd.DataFrame
    published: pd.DataFrame
    runs: pd.DataFrame


@dataclass(frozen=True)
class Showcase:
    """One run with its link log."""

    controller: str
    constants: Mapping[str, float]
    network: str
    log: LinkLog


@dataclass(frozen=True, eq=False)
class Results:
    """All that a report is made of; compared by identity.

    `published` has columns table, row, controller, network, constant_*, and the metrics;
    `sources`, `networks` and `units` give a table's source, a network's title and the unit of a
    (controller, constant).
    """

    studies: tuple[Study, ...] = ()
    repeats: tuple[Repeats, ...] = ()
    showcase: Showcase | None = None
    published: pd.DataFrame = field(default_factory=lambda: pd.DataFrame({"table": []}))
    sources: Mapping[str, str] = field(default_factory=dict)
    networks: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[tuple[str, str], str] = field(default_factory=dict)
