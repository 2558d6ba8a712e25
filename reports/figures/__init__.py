"""The figures, one file each: a file that declares `FIGURE` is drawn wherever its subject occurs.

Figures read statistics only: each draws one of the subjects of `reports.subjects`.
"""

import importlib
import multiprocessing
import pkgutil
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
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
    def picture(self) -> Picture:
        """How the report places it."""
        name = f"{self.kind.name}-{self.subject.key}"
        title, caption = self.kind.title(self.subject), self.kind.caption(self.subject)
        return Picture(name, title, caption, self.folder / name)

    def draw(self) -> None:
        """Draws it as SVG and as PNG."""
        with style.house():
            style.save(self.kind.draw(self.subject), self.picture.stem)


def plan(subject: Subject, folder: Path) -> list[Drawing]:
    """Every figure that suits the subject."""
    return [Drawing(kind, subject, folder) for kind in kinds() if kind.draws(subject)]


_drawings: Sequence[Drawing] = ()  # what the processes of `draw_all` share by being forked


def draw_all(drawings: Sequence[Drawing], processes: int = 1) -> None:
    """Draws them; more than one process only where processes can be forked, for there it pays."""
    global _drawings
    if processes == 1 or len(drawings) < 2 or sys.platform != "linux":
        for drawing in drawings:
            drawing.draw()
        return
    _drawings = drawings
    with warnings.catch_warnings():
        # Python warns of threads when it forks; those of numpy and pyarrow can bear it.
        warnings.simplefilter("ignore", DeprecationWarning)
        with multiprocessing.get_context("fork").Pool(processes) as pool:
            pool.map(_draw, range(len(drawings)), chunksize=1)


def _draw(number: int) -> None:
    _drawings[number].draw()
