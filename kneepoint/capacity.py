"""Plots the capacity of traces over time."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from reports.figures import style


def draw(series: Mapping[str, Sequence[float]], bin_ms: int, out: Path) -> None:
    """Plots the capacity of traces over time, a panel each, as a PNG, SVG or PDF file.

    Args:
        series: by name, the rate (Mbit/s) in each bin.
        bin_ms: length of a bin (ms).
        out: the file.
    """
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
        style.lay_out(figure)
        style.write(figure, out)
