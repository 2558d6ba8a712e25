"""The results of a workflow as pandas frames, for a researcher's own analyses.

    from kneepoint import open_results

    results = open_results("results")
    results.runs.groupby("controller")["power"].median()
    results.table("audit")

Frames are read on first access; nothing is written.
"""

from pathlib import Path

import pandas as pd

from kneepoint.analysis.frames import with_parameters
from kneepoint.analysis.metrics import METRICS
from kneepoint.analysis.schema import TABLES, tables_in
from kneepoint.common.errors import KneepointError, suggestion
from kneepoint.common.made_by import NAME as MADE_BY
from kneepoint.common.made_by import require_as_written
from kneepoint.common.tables import read_frame, unit_in
from kneepoint.runs.question import reserved
from kneepoint.runs.results import RUNS, TRIALS

_MAKE = "`kneepoint report` makes"
_OWN = {
    "runs": "a run of any study, comparison or other experiment; parameter_*: its parameters",
    "trials": "a trial of any study; parameter_*, network_*, host_*: the searched values",
}


class OpenResults:
    """The frames of a folder of results.

    Args:
        folder: its path, `results` of the configuration.

    Raises:
        KneepointError: the folder does not exist, or has no results.
    """

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise KneepointError(f"{folder}: no such folder; {_MAKE} the results")
        self.folder = folder
        if not self._files("runs.*"):
            raise KneepointError(f"{folder}: has no results; {_MAKE} them")
        self._tables = tables_in(folder)
        self._own: dict[str, pd.DataFrame] = {}

    @property
    def runs(self) -> pd.DataFrame:
        """All runs, with a column `parameter_<name>` for each parameter of any run."""
        return self.table("runs")

    @property
    def trials(self) -> pd.DataFrame:
        """All trials; columns that a study does not search are NaN."""
        return self.table("trials")

    @property
    def tables(self) -> tuple[str, ...]:
        """The names of the available tables of the analysis."""
        return tuple(name for name in TABLES if (self.folder / f"{name}.parquet").exists())

    def table(self, name: str) -> pd.DataFrame:
        """Returns a table of the analysis, or `runs` or `trials`.

        Raises:
            KneepointError: no table has this name, the table or an experiment is not finished, or a
                file is damaged, of another version, or changed since it was written.
        """
        if name not in _OWN and name not in TABLES:
            raise KneepointError(f"no table {name!r}; {suggestion(name, [*_OWN, *TABLES])}")
        if name in _OWN and name not in self._own:
            self._own[name] = self._all(name)
        return (self._own if name in _OWN else self._tables)[name].copy(deep=False)

    def about(self) -> pd.DataFrame:
        """Lists every available frame: name, number of rows, and meaning of a row."""
        meanings = _OWN | {name: TABLES[name].meaning for name in self.tables}
        rows = [len(self.table(name)) for name in meanings]
        return pd.DataFrame({"name": list(meanings), "rows": rows, "row": meanings.values()})

    def columns(self, name: str) -> pd.DataFrame:
        """Lists the columns of a frame, with type and unit.

        Raises:
            KneepointError: see `table`.
        """
        frame = self.table(name)
        if name in _OWN:
            units = {column: metric.unit for column, metric in METRICS.items()}
            rows = [(str(c), str(frame[c].dtype), units.get(str(c), "")) for c in frame]
        else:
            rows = [(each.name, str(each.type), unit_in(each)) for each in TABLES[name].columns]
        return pd.DataFrame(rows, columns=["column", "holds", "unit"])

    def _files(self, pattern: str) -> list[Path]:
        """Yields files of all experiments, without nested results of other configurations."""
        found = [path.relative_to(self.folder).parts for path in self.folder.glob(f"**/{pattern}")]
        own = [parts for parts in found if len(parts) <= 2 or parts[0] in reserved()]
        return [self.folder.joinpath(*parts) for parts in sorted(own)]

    def _all(self, name: str) -> pd.DataFrame:
        """Reads the runs or trials of all experiments; refuses unfinished experiments."""
        for journal in self._files("runs.jsonl"):
            if not (journal.parent / MADE_BY).exists():
                raise KneepointError(
                    f"{journal.parent}: not finished; `kneepoint report` finishes it, "
                    "`make confirm` if it runs in real time"
                )
        paths = self._files(f"{name}.parquet")
        for path in paths:
            require_as_written(path)
        schema = RUNS if name == "runs" else TRIALS
        frames = [frame for path in paths if len(frame := read_frame(path, schema))]
        if not frames:
            return pd.DataFrame(columns=["study", "trial"])
        found = pd.concat(frames, ignore_index=True)
        return with_parameters(found) if name == "runs" else found


def open_results(folder: Path | str = "results") -> OpenResults:
    """Opens the results in a folder.

    Raises:
        KneepointError: see `OpenResults`.
    """
    return OpenResults(Path(folder))
