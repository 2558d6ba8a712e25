"""The sections of the report, one file each: a file with `ORDER` and `compose` is part of it.

`compose(context)` yields the sections for which there are results, and none where there are not.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from reports.collect import Results
from reports.content import Picture, Section
from reports.figures import Drawing, plan
from reports.provenance import Provenance
from reports.subjects import Subject


@dataclass(frozen=True)
class Context:
    """What sections are composed from; `drawn` is called with each figure that they place."""

    results: Results
    provenance: Provenance
    figures: Path
    drawn: Callable[[Drawing], None] = lambda _: None

    def draw(self, subject: Subject) -> tuple[Picture, ...]:
        """Every figure of the subject, to be drawn into the folder `figures`."""
        drawings = plan(subject, self.figures)
        for drawing in drawings:
            self.drawn(drawing)
        return tuple(drawing.picture for drawing in drawings)

    def network(self, name: str) -> str:
        """A network's title."""
        return self.results.networks.get(name, name)


def compose(context: Context) -> tuple[Section, ...]:
    """All sections in the order that their files give."""
    modules = [
        importlib.import_module(f"{__name__}.{module.name}")
        for module in pkgutil.iter_modules(__path__)
    ]
    parts: list[Iterable[Section]] = [
        module.compose(context)
        for module in sorted(modules, key=lambda module: (module.ORDER, module.__name__))
    ]
    return tuple(section for part in parts for section in part)
