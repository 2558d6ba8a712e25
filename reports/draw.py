"""Draws figures from the tables of the analysis.

python -m kneepoint.reports.draw --results results power-curve

draws every figure of one or several kinds as SVG, here into results/figures/power-curve. Figures
are named after kind and content: power-curve-fixed_window-window-contest. With --out
FOLDER/NAME.svg, only the figure NAME is drawn; the name of a kind means its first figure.
"""

import argparse
import gc
import shutil
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from matplotlib.figure import Figure

from kneepoint.analysis import labels
from kneepoint.analysis.schema import NAMES, tables_in
from kneepoint.common.errors import KneepointError, run_command_line
from kneepoint.common.notes import seal
from kneepoint.common.tables import Tables
from kneepoint.reports.figures import PART_OF, drawn, kind_of, module_of, style

Drawing = Callable[[], Figure]
_IMAGE_DPI = 150
"""Resolution of rasterised parts of a figure, such as thousands of dots."""


def available(tables: Tables, kinds: Iterable[str] = PART_OF) -> dict[str, Drawing]:
    """Returns every figure for which the tables have data, by name."""
    found: dict[str, Drawing] = {}
    for kind in kinds:
        each = drawn(kind)
        for key, subject in each.subjects(tables).items():
            found[f"{kind}-{key}"] = partial(each.draw, subject, tables)
    return found


def find(name: str, tables: Tables) -> Drawing:
    """Returns a function that draws a figure; the name of a kind means its first figure.

    Raises:
        KneepointError: there is no such figure.
    """
    kind = kind_of(name)
    if kind is None:
        raise KneepointError(f"there is no figure {name}; kinds of figures: {', '.join(PART_OF)}")
    found = available(tables, [kind])
    if not found or name not in (kind, *found):
        known = ", ".join(found) or "none, because the tables have no data"
        raise KneepointError(f"there is no figure {name}; figures of this kind: {known}")
    return found.get(name) or next(iter(found.values()))


def own_names(results: Path) -> dict[str, str]:
    """Returns the names that a report's configuration gives to parameters and controllers."""
    table = tables_in(results)[NAMES]
    return dict(zip(table["name"], table["printed"], strict=True))


def save(drawing: Drawing, path: Path) -> None:
    """Draws a figure in the house style, as SVG."""
    with style.house():
        style.write(drawing(), path, _IMAGE_DPI)


def draw_kind(kind: str, tables: Tables, folder: Path) -> None:
    """Draws every figure of a kind into `folder`, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, drawing in available(tables, [kind]).items():
        save(drawing, folder / f"{name}.svg")


def _draw_in(results: Path, kind: str) -> None:
    with labels.printed_as(own_names(results)):
        folder = results / "figures" / kind
        draw_kind(kind, tables_in(results), folder)
    seal(str(folder), sorted(folder.glob("*.svg")), "kneepoint.reports.draw", module_of(kind))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--results", type=Path, required=True, help="folder of the tables")
    parser.add_argument("--out", type=Path, help="draw this figure only: the path of its SVG")
    parser.add_argument("--processes", type=int, default=1, help="draw kinds side by side")
    parser.add_argument("kinds", nargs="+", choices=PART_OF, metavar="KIND", help="%(choices)s")
    arguments = parser.parse_args()
    results, out = arguments.results, arguments.out
    gc.set_threshold(200_000)  # matplotlib's cycles: collecting them took a tenth of the time
    if out:
        with labels.printed_as(own_names(results)):
            save(find(out.stem, tables_in(results)), out)
        return
    with ProcessPoolExecutor(arguments.processes) as pool:
        list(pool.map(partial(_draw_in, results), arguments.kinds))  # list() raises the errors


if __name__ == "__main__":
    run_command_line(main)
