"""What one section of the report computes from the tables; no file holds it."""

from collections.abc import Callable, Iterator, Mapping

import pandas as pd

from analysis import audit, comparisons, confirmation, sweeps
from common.tables import Tables


def _errors(tables: Tables) -> pd.DataFrame:
    """Sizes of the differences of each comparison: see `audit.errors`."""
    by_comparison = tables["audit"].groupby("comparison", sort=False)
    parts = [audit.errors(rows).assign(comparison=name) for name, rows in by_comparison]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


DERIVED: Mapping[str, Callable[[Tables], pd.DataFrame]] = {
    "audit_errors": _errors,
    "comparison_cycles": comparisons.cycles,
    "comparison_engines": comparisons.beside_kernel,
    "confirmed_best": confirmation.best,
    "confirmed_rows": confirmation.contradicted,
    "sweep_bests": sweeps.bests,
}
"""By its name; without a row, a frame has no columns."""


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
