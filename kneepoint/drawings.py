"""What commands draw of their own: the capacity of traces, and the ratios of a comparison."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from kneepoint.comparison import Comparison
from reports.figures import style


def draw_capacity(series: Mapping[str, Sequence[float]], bin_ms: int, out: Path) -> None:
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
        style.write(figure, out)


def draw_ratios(comparison: Comparison, out: Path) -> None:
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
        noun = comparison.noun
        better = "more" if comparison.greater_is_better else "less"
        axes.set_xlabel(f"{noun.capitalize()} of A over B with 95 % intervals; {better} is better")
        names = [Path(spec.controller).stem for spec in comparison.specs]
        axes.set_title(f"A: {names[0]}, B: {names[1]}")
        style.write(figure, out)
