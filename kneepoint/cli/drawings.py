"""Figures of commands: the capacity of traces, and the ratios of a comparison."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from kneepoint.analysis.frames import Record
from kneepoint.analysis.metrics import METRICS
from kneepoint.cli.comparison import is_better_above_1
from kneepoint.reports.figures import style


def draw_capacity(series: Mapping[str, Sequence[float]], bin_ms: int, out: Path) -> None:
    """Plots the capacity of traces (Mbit/s per bin), one panel each, as a PNG, SVG or PDF file."""
    with style.house():
        figure = style.page(0.6 + 2.0 * len(series))
        panels = figure.subplots(len(series), sharex=True, squeeze=False)[:, 0]
        for axes, (name, rates) in zip(panels, series.items(), strict=True):
            starts_s = [number * bin_ms / 1000 for number in range(len(rates) + 1)]
            mean = sum(rates) / len(rates)
            axes.fill_between(
                starts_s,
                [*rates, rates[-1]],
                step="post",
                color=style.OURS,
                linewidth=0,
                label=f"{name}: capacity in bins of {bin_ms / 1000:g} s, mean {mean:.2f} Mbit/s",
            )
            axes.set(ylim=(0, None), ylabel="Rate (Mbit/s)")
            axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0))
        panels[-1].set(xlim=(0, None), xlabel="Time (s)")
        style.write(figure, out)


def draw_ratios(found: Record, titles: Sequence[str], out: Path) -> None:
    """Plots A over B with 95 % intervals as a PNG, SVG or PDF file.

    A network without a successful pair has no point; a network with a single pair has no interval.
    """
    lines = [*found["networks"], {"network": "all networks", **found["overall"]}]
    with style.house():
        figure = style.page(0.9 + 0.22 * len(lines))
        axes = figure.add_subplot()
        axes.axvline(1, color=style.QUIET, linewidth=0.7)
        for at, line in enumerate(lines):
            colour = style.BEST if at == len(lines) - 1 else style.OURS
            if line["low"] is not None:
                axes.hlines(at, line["low"], line["high"], color=colour, linewidth=1.4)
            if line["ratio"] is not None:
                axes.plot(line["ratio"], at, "o", color=colour)
        names = [f"{line['network']}, n = {line['pairs']}" for line in lines]
        axes.set_yticks(range(len(lines)), names)
        axes.set_ylim(len(lines) - 0.5, -0.5)
        noun = METRICS[found["metric"]].title
        better = "more" if is_better_above_1(found["metric"]) else "less"
        axes.set_xlabel(f"{noun} of A over B with 95 % intervals; {better} is better")
        axes.set_title(f"A: {titles[0]}, B: {titles[1]}")
        style.write(figure, out)
