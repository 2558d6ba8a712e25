"""The figures, one file each: a file that declares `FIGURE` is drawn wherever there is data for it.

Figures read tables of the analysis, and compute nothing but places on paper.
"""

import importlib
import multiprocessing
import pkgutil
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from matplotlib.figure import Figure

from analysis.frames import Record, records
from analysis.tables import Tables
from common.errors import KneepointError
from reports.figures import style

Subjects = Callable[[Tables], Mapping[str, Record]]
"""What figures of a kind are drawn of: rows of a table, by what they add to the figure's name."""


@dataclass(frozen=True)
class FigureKind:
    """A kind of figure: what it is drawn of, and how."""

    name: str
    subjects: Subjects
    draw: Callable[[Record, Tables], Figure]


def each(table: str, key: str, applies: Callable[[Record], bool] = lambda _: True) -> Subjects:
    """Every row of a table that the kind suits, called by a column."""

    def subjects(tables: Tables) -> dict[str, Record]:
        return {row[key]: row for row in records(tables[table]) if applies(row)}

    return subjects


def only(table: str, key: str, applies: Callable[[Record], bool] = lambda _: True) -> Subjects:
    """The first row of a table, if there is one."""

    def subjects(tables: Tables) -> dict[str, Record]:
        first = [row for row in records(tables[table])[:1] if applies(row)]
        return dict.fromkeys([key], first[0]) if first else {}

    return subjects


@cache
def kinds() -> tuple[FigureKind, ...]:
    """Every kind of figure that a file of this package declares."""
    modules = (
        importlib.import_module(f"{__name__}.{module.name}")
        for module in pkgutil.iter_modules(__path__)
    )
    return tuple(module.FIGURE for module in modules if hasattr(module, "FIGURE"))


def available(tables: Tables) -> dict[str, tuple[FigureKind, Record]]:
    """Every figure that the tables have data for, by its name."""
    return {
        f"{kind.name}-{key}": (kind, subject)
        for kind in kinds()
        for key, subject in kind.subjects(tables).items()
    }


def draw(name: str, tables: Tables, stem: Path) -> None:
    """Draws a figure as `stem`.svg and `stem`.png.

    Args:
        name: of the figure; that of its kind stands for the first of its figures.
        tables: of the analysis.
        stem: the path of the files without their endings.

    Raises:
        KneepointError: there is no such figure.
    """
    there = available(tables)
    found = there.get(name) or next((pair for pair in there.values() if pair[0].name == name), None)
    if found is None:
        raise KneepointError(f"there is no figure {name}; there are: {', '.join(there) or 'none'}")
    kind, subject = found
    with style.house():
        style.save(kind.draw(subject, tables), stem)


def draw_all(names: Iterable[str], tables: Tables, folder: Path, processes: int = 1) -> None:
    """Draws figures into a folder, so many at a time where processes can be forked."""
    if processes == 1 or sys.platform != "linux":
        for name in names:
            draw(name, tables, folder / name)
        return
    with warnings.catch_warnings():
        # Python warns of threads when it forks; those of numpy and pyarrow can bear it.
        warnings.simplefilter("ignore", DeprecationWarning)
        pool = multiprocessing.get_context("fork").Pool(processes, _take, (tables,))
    with pool:
        pool.starmap(_draw_taken, [(name, folder / name) for name in names], chunksize=1)


_taken: Tables = {}


def _take(tables: Tables) -> None:
    """Gives a forked process the tables, which it has in memory."""
    global _taken
    _taken = tables


def _draw_taken(name: str, stem: Path) -> None:
    draw(name, _taken, stem)
