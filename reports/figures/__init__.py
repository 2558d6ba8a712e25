"""The figures, one file each: a file that declares `FIGURE` is drawn wherever its subject occurs.

Figures read statistics only: each draws one of the subjects of `reports.subjects`.
"""

import importlib
import pkgutil
from collections.abc import Callable
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


def draw(subject: Subject, folder: Path) -> tuple[Picture, ...]:
    """Draws every figure that suits the subject into `folder`, as SVG and as PNG."""
    pictures = []
    for kind in kinds():
        if kind.draws(subject):
            name = f"{kind.name}-{subject.key}"
            with style.house():
                style.save(kind.draw(subject), folder / name)
            title, caption = kind.title(subject), kind.caption(subject)
            pictures.append(Picture(name, title, caption, folder / name))
    return tuple(pictures)
