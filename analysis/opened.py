"""The results of a workflow as pandas frames, for a researcher's own analyses.

    from kneepoint import open_results

    results = open_results("results")
    results.runs.groupby("controller")["power"].median()
    results.table("audit")

Frames are read when they are first asked for, and nothing is ever written.
"""

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

import pandas as pd

from analysis.frames import with_constants
from analysis.metrics import METRICS
from analysis.schema import TABLES
from common.errors import KneepointError, suggestion
from common.made_by import NAME as MADE_BY
from common.tables import Table, TableFolder
from experiments.results import RUNS_SCHEMA, read_frame

_MAKE = "`kneepoint report` makes"
_OWN = {
    "runs": "a run of any study, comparison or other experiment; constant_*: its parameters",
    "trials": "a trial of any study; constant_*, network_*, host_*: what the study searches",
}


class OpenResults:
    """The frames of a folder of results.

    Args:
        folder: its path, `results` of the configuration.

    Raises:
        KneepointError: there is no such folder, or it holds no results.
    """

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise KneepointError(f"{folder}: no such folder; {_MAKE} the results")
        if not any(folder.glob("**/runs.*")):
            raise KneepointError(f"{folder}: holds no results; {_MAKE} them")
        self.folder = folder

    @property
    def runs(self) -> pd.DataFrame:
        """All runs, with a column `constant_<name>` for each parameter that any of them has.

        Raises:
            KneepointError: an experiment is not finished, or a file is damaged or of another
                version.
        """
        return self._runs.copy(deep=False)

    @property
    def trials(self) -> pd.DataFrame:
        """All trials; what another study searches is NaN.

        Raises:
            KneepointError: see `runs`.
        """
        return self._trials.copy(deep=False)

    def table(self, name: str) -> pd.DataFrame:
        """A table of the analysis, or `runs` or `trials`.

        Raises:
            KneepointError: there is no table of that name, or it is not made yet, damaged or of
                another version.
        """
        self._check(name)
        return getattr(self, name) if name in _OWN else self._tables[name].copy(deep=False)

    @cached_property
    def tables(self) -> tuple[str, ...]:
        """The names of the tables of the analysis that are there."""
        return tuple(name for name in TABLES if (self.folder / f"{name}.parquet").exists())

    def about(self) -> pd.DataFrame:
        """Every frame that is there: its name, how many rows it has, what a row is."""
        names = [*_OWN, *self.tables]
        meanings = [_OWN[name] if name in _OWN else TABLES[name].meaning for name in names]
        rows = [len(self.table(name)) for name in names]
        return pd.DataFrame({"name": names, "rows": rows, "row": meanings})

    def columns(self, name: str) -> pd.DataFrame:
        """The columns of a frame: what each holds, and in which unit.

        Raises:
            KneepointError: see `table`.
        """
        if name not in _OWN:
            self._check(name)
            return _declared(TABLES[name])
        frame = self.table(name)
        known = {field.name: str(field.type) for field in RUNS_SCHEMA}
        units = [METRICS[column].unit if column in METRICS else "" for column in frame]
        holds = [known.get(column, str(frame[column].dtype)) for column in frame]
        return pd.DataFrame({"column": list(frame), "holds": holds, "unit": units})

    def _check(self, name: str) -> None:
        if name not in _OWN and name not in TABLES:
            raise KneepointError(f"no table {name!r}; {suggestion(name, [*_OWN, *TABLES])}")

    @cached_property
    def _runs(self) -> pd.DataFrame:
        return with_constants(self._all("runs"))

    @cached_property
    def _trials(self) -> pd.DataFrame:
        return self._all("trials")

    @cached_property
    def _tables(self) -> Mapping[str, pd.DataFrame]:
        return TableFolder(self.folder, TABLES)

    def _all(self, name: str) -> pd.DataFrame:
        for journal in sorted(self.folder.glob("**/runs.jsonl")):
            if not (journal.parent / MADE_BY).exists():
                raise KneepointError(
                    f"{journal.parent}: not finished; `kneepoint report` finishes it, "
                    "`make confirm` if it runs in real time"
                )
        paths = sorted(self.folder.glob(f"**/{name}.parquet"))
        frames = [frame for frame in map(read_frame, paths) if len(frame)]
        columns = ["study", "trial", "state", "value", "reason"]
        return pd.concat(frames, ignore_index=True) if frames else pd.DataFrame(columns=columns)


def _declared(table: Table) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "column": [column.name for column in table.columns],
            "holds": [column.kind for column in table.columns],
            "unit": [column.unit for column in table.columns],
        }
    )


def open_results(folder: Path | str = "results") -> OpenResults:
    """Opens the results in a folder.

    Raises:
        KneepointError: see `OpenResults`.
    """
    return OpenResults(Path(folder))
