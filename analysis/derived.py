"""What one section of the report computes from the tables; no file holds it."""

from collections.abc import Callable, Iterator, Mapping

import pandas as pd

from analysis import (
    agreement,
    comparisons,
    confirmation,
    held_out,
    host,
    repeatability,
    sweeps,
    worst_cases,
)
from common.tables import Tables

DERIVED: Mapping[str, Callable[[Tables], pd.DataFrame]] = {
    "agreement_accuracy": agreement.accuracy,
    "agreement_settings": agreement.settings,
    "comparison_cycles": comparisons.cycles,
    "comparison_engines": comparisons.beside_kernel,
    "comparison_figures": comparisons.compared_figures,
    "comparisons": comparisons.summaries,
    "confirmed": confirmation.confirmed,
    "grids": sweeps.grids,
    "hardenings": worst_cases.hardenings,
    "held_out": held_out.summary,
    "held_out_standings": held_out.standings,
    "network_sweep_points": comparisons.network_sweep_points,
    "network_sweeps": comparisons.network_sweeps,
    "probe_levels": host.probe_levels,
    "repeatability": repeatability.spreads,
    "repeatability_beside_published": repeatability.beside_published,
    "sweep_bests": sweeps.bests,
}
"""By its name; without a row, a frame may have no columns."""


class WithDerived(Mapping[str, pd.DataFrame]):
    """Tables, and what is derived of them, computed when it is first asked for."""

    def __init__(self, tables: Tables) -> None:
        self._tables = tables
        self._derived: dict[str, pd.DataFrame] = {}

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in DERIVED:
            return self._tables[name]
        if name not in self._derived:
            self._derived[name] = DERIVED[name](self._tables)
        return self._derived[name]

    def __iter__(self) -> Iterator[str]:
        yield from (*self._tables, *DERIVED)

    def __len__(self) -> int:
        return len(self._tables) + len(DERIVED)
