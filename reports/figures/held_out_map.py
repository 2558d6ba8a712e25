"""How much of what is possible does each controller get on each network?"""

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis.frames import Record
from analysis.held_out import PUBLISHED
from common.tables import Tables
from reports.figures import only, style


def draw(_: Record, tables: Tables) -> Figure:
    """Relative power in per cent: the training network, the held-out ones, and their mean."""
    networks, standings = tables["held_out_networks"], tables["held_out_standings"]
    titles = dict(zip(networks["network"], networks["title"], strict=True))
    wide = tables["held_out_power"].pivot(index="trial", columns="network", values="relative")
    values = 100 * wide.loc[standings["trial"], networks["network"]]
    training = values.columns[:1]
    mean = 100 * standings[["held_out"]].set_axis(["geometric mean"], axis=1)
    parts = [values[training], values.drop(columns=training), mean.set_axis(values.index)]
    parts = [part.rename(columns=titles) for part in parts]  # two networks may share a title
    figure = style.page(1.55 + 0.165 * len(values))
    panels = figure.subplots(1, 3, width_ratios=[part.shape[1] for part in parts])
    for axes, part, head in zip(panels, parts, ("Training", "Held out", "Mean"), strict=True):
        _panel(axes, part)
        axes.set_title(head, loc="center", fontsize=8.5)
    panels[0].set_yticks(0.5 + np.arange(len(values)), standings["label"], fontsize=7.5)
    for label, origin in zip(panels[0].get_yticklabels(), standings["origin"], strict=True):
        label.set_color(style.QUIET if origin == PUBLISHED else style.INK)
    return figure


def _panel(axes: Axes, part: pd.DataFrame) -> None:
    shares = part / part.max()
    style.heat_map(axes, shares, part.map(_cell), (0, 1), fontsize=6.8, yticklabels=False)
    axes.set_xticks(0.5 + np.arange(part.shape[1]), part.columns, rotation=90, fontsize=7.5)


def _cell(value: float) -> str:
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"


subjects = only("held_out", "all")
