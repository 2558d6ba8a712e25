"""The figure of single runs around their means."""

import seaborn as sns
from matplotlib.figure import Figure

from kneepoint.analysis.frames import Record, records, select
from kneepoint.analysis.metrics import POWER, printed
from kneepoint.common.tables import Tables
from kneepoint.config.study import EMULATOR, MAHIMAHI
from kneepoint.questions.repeatability.tables import beside_published, spreads
from kneepoint.reports.figures import Drawn, style


def _draw(subject: Record, tables: Tables) -> Figure:
    """Draws runs, the interval of their mean and published means, with a line for each setting."""
    whose = subject["whose"]
    settings = select(spreads(tables), whose=whose, metric=POWER).assign(middle=0.0)
    for end in ("low", "high"):
        settings[end] = 100 * (settings[end] / settings["mean"] - 1)
    runs = select(tables["repeatability_runs"], whose=whose)
    runs = runs.merge(settings.reset_index(names="line")[["setting", "mean", "line"]], on="setting")
    runs["off"] = 100 * (runs[POWER] / runs["mean"] - 1)
    published = select(beside_published(tables), whose=whose, metric=POWER)
    published["off"] = 100 * (published["published_mean"] / published["mean"] - 1)
    figure, axes = style.panel(0.7 + 0.6 * len(settings))
    axes.axvline(0, color=style.FAINT, linewidth=0.8, zorder=0)
    place = {"y": "setting", "order": settings["setting"], "color": style.OURS, "ax": axes}
    sns.swarmplot(runs, x="off", size=2.6, alpha=0.45, **place)
    style.add_tooltips(axes, runs, "off", "line", "power {power:.3f}")
    means = style.with_ends(settings, "middle", "low", "high")
    tick = {"marker": "|", "markersize": 11, "markeredgewidth": 1.4, "linestyle": "none"}
    sns.pointplot(means, x="middle", err_kws={"linewidth": 3}, **tick, **place, **style.ENDS)
    diamond = {"color": style.BEST, "markerfacecolor": "white", "markersize": 4.6, "zorder": 4}
    style.plot(axes, published, "off", "setting", "D", markeredgewidth=0.9, **diamond)
    for row in records(published):
        text = printed(row["published_mean"], row["published_step"], POWER)
        line = settings.index[settings["setting"] == row["setting"]][0]
        style.label(
            axes, f"published {text}", (row["off"], line - 0.3), (0, 0.01), color=style.BEST
        )
    names = settings["label"].map(style.capital) + "\nmean " + settings["mean"].map("{:.2f}".format)
    names += ", n = " + settings["n"].map("{:.0f}".format)
    axes.set_yticks(range(len(settings)), names)
    axes.set(ylim=(len(settings) - 0.4, -0.6), ylabel="")
    axes.set_xlabel("Power, relative to the mean of our runs (%)")
    axes.margins(x=0.08)
    sns.despine(ax=axes, left=True)
    axes.tick_params("y", length=0)
    return figure


def _subjects(tables: Tables) -> dict[str, Record]:
    """Selects the engines that repeated settings."""
    engines = set(tables["repeatability_runs"]["whose"])
    names = {"all": EMULATOR, "real": MAHIMAHI}
    return {key: {"whose": whose} for key, whose in names.items() if whose in engines}


FIGURES = {
    "repeatability": Drawn(
        "How repeatable is a run, and does a published mean agree with our runs?", _subjects, _draw
    ),
}
