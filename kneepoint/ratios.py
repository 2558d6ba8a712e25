"""Plots a comparison: the ratio of two settings on each network, and over all of them."""

from pathlib import Path

from kneepoint.comparison import Comparison
from reports.figures import style


def draw(comparison: Comparison, out: Path) -> None:
    """Plots A over B with 95 % intervals as a PNG, SVG or PDF file.

    A network on which no pair of runs succeeded has no point, one with a single pair no interval.
    """
    lines = [(each.network, each.found, len(each.a)) for each in comparison.networks]
    found = comparison.overall
    lines.append(("all networks", found, found.pairs if found else 0))
    with style.house():
        figure = style.page(0.9 + 0.22 * len(lines))
        axes = figure.add_subplot()
        axes.axvline(1, color=style.QUIET, linewidth=0.7)
        for at, (_, ratio, _) in enumerate(lines):
            if ratio is None:
                continue
            colour = style.BEST if at == len(lines) - 1 else style.OURS
            axes.hlines(at, ratio.low, ratio.high, color=colour, linewidth=1.4)
            axes.plot(ratio.ratio, at, "o", color=colour)
        axes.set_yticks(range(len(lines)), [f"{name}, n = {pairs}" for name, _, pairs in lines])
        axes.set_ylim(len(lines) - 0.5, -0.5)
        noun = comparison.metric.noun
        better = "more" if comparison.metric.greater_is_better else "less"
        axes.set_xlabel(f"{noun.capitalize()} of A over B with 95 % intervals; {better} is better")
        names = [Path(spec.controller).stem for spec in comparison.specs]
        axes.set_title(f"A: {names[0]}, B: {names[1]}")
        style.lay_out(figure)
        style.write(figure, out)
