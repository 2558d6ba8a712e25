"""The figures, one file each: a file that declares `FIGURE` is drawn wherever its subject occurs.

Figures read statistics only: each draws one of the subjects of `reports.subjects`.
"""

import importlib
import multiprocessing
import pkgutil
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from multiprocessing.pool import AsyncResult
from pathlib import Path
from typing import Any, Generic, TypeVar

from matplotlib.figure import Figure

from reports.content import Picture
from reports.figures import style
from reports.subjects import Subject

S = TypeVar("S", bound=Subject)


@dataclass(frozen=True)
class FigureKind(Generic[S]):
    """A kind of figure: what it is drawn of, how, and what stands under it.

    `order` sorts the figures of one subject; `applies` says which subjects of the type it suits.
    """

    name: str
    subject: type[S]
    order: int
    title: Callable[[S], str]
    caption: Callable[[S], str]
    draw: Callable[[S], Figure]
    applies: Callable[[S], bool] = lambda _: True

    def __reduce__(self) -> tuple[Callable[[str], "FigureKind[Any]"], tuple[str]]:
        """Goes to another process by its name, for its functions may have none."""
        return _kind_called, (self.name,)

    def draws(self, subject: Subject) -> bool:
        """Whether the subject has a figure of this kind."""
        return isinstance(subject, self.subject) and self.applies(subject)


@cache
def kinds() -> tuple[FigureKind[Any], ...]:
    """Every kind of figure that a file of this package declares, in order."""
    modules = (
        importlib.import_module(f"{__name__}.{module.name}")
        for module in pkgutil.iter_modules(__path__)
    )
    found = [module.FIGURE for module in modules if hasattr(module, "FIGURE")]
    return tuple(sorted(found, key=lambda kind: (kind.order, kind.name)))


@dataclass(frozen=True)
class Drawing:
    """A figure of a subject that is to be drawn into a folder."""

    kind: FigureKind[Any]
    subject: Subject
    folder: Path

    @property
    def name(self) -> str:
        """What the figure, and each of its files, is called."""
        return f"{self.kind.name}-{self.subject.key}"

    @property
    def picture(self) -> Picture:
        """How the report places it."""
        title, caption = self.kind.title(self.subject), self.kind.caption(self.subject)
        return Picture(self.name, title, caption, self.folder / self.name)

    def draw(self) -> None:
        """Draws it as SVG and as PNG."""
        with style.house():
            style.save(self.kind.draw(self.subject), self.folder / self.name)


def plan(subject: Subject, folder: Path) -> list[Drawing]:
    """Every figure that suits the subject."""
    return [Drawing(kind, subject, folder) for kind in kinds() if kind.draws(subject)]


@contextmanager
def drawing(processes: int = 1) -> Iterator[Callable[[Drawing], None]]:
    """Gives what draws a figure; on leaving, all are drawn.

    So many processes draw while their owner goes on; of one, or where processes cannot be forked,
    the owner draws itself.
    """
    if processes == 1 or sys.platform != "linux":
        yield Drawing.draw
        return
    kinds()  # forked processes need not import them
    with warnings.catch_warnings():
        # Python warns of threads when it forks; those of numpy and pyarrow can bear it.
        warnings.simplefilter("ignore", DeprecationWarning)
        pool = multiprocessing.get_context("fork").Pool(processes)
    with pool:
        drawn: list[AsyncResult[None]] = []
        yield lambda drawing: drawn.append(pool.apply_async(drawing.draw))
        for result in drawn:
            result.get()


def _kind_called(name: str) -> FigureKind[Any]:
    return next(kind for kind in kinds() if kind.name == name)
