"""How much of what is possible does each controller get on each network?"""

import textwrap

from matplotlib.figure import Figure

from kneepoint.analysis.frames import Record
from kneepoint.analysis.held_out import PUBLISHED, standings
from kneepoint.common.tables import Tables
from kneepoint.reports.figures import only, style


def draw(_: Record, tables: Tables) -> Figure:
    """Relative power in per cent: the training network, the held-out ones, and their mean."""
    networks, ranked = tables["held_out_networks"], standings(tables)
    wide = tables["held_out_power"].pivot(index="trial", columns="network", values="relative")
    values = 100 * wide.loc[ranked["trial"], networks["network"]]
    values.columns = [textwrap.fill(each, 38) for each in networks["title"]]  # two may be the same
    mean = 100 * ranked[["held_out"]].set_axis(["geometric mean"], axis="columns")
    parts = {"Training": values.iloc[:, :1], "Held out": values.iloc[:, 1:], "Mean": mean}
    below = max(len(line) for name in values.columns for line in name.splitlines())
    figure = style.page(0.3 + 0.045 * max(28, below) + 0.165 * len(values))
    panels = figure.subplots(1, 3, width_ratios=[part.shape[1] for part in parts.values()])
    for axes, (title, part) in zip(panels, parts.items(), strict=True):
        texts = part.map(lambda value: f"{value:.1f}" if value < 10 else f"{value:.0f}")
        names = ranked["label"] if axes is panels[0] else False
        look: Record = {"fontsize": 6.8, "yticklabels": names}
        style.heat_map(axes, part / part.max(), texts, (0, 1), **look)
        axes.set_title(title, loc="center", fontsize=8.5)
    for label, origin in zip(panels[0].get_yticklabels(), ranked["origin"], strict=True):
        label.set_color(style.QUIET if origin == PUBLISHED else style.INK)
    return figure


subjects = only("held_out_networks", "all")
