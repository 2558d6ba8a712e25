"""Who starves whom? How much does each controller get of a link that it shares?"""

import pandas as pd
from matplotlib.figure import Figure

from kneepoint.analysis.frames import Record, select
from kneepoint.common.tables import Tables
from kneepoint.reports.figures import each, style

_FEWEST = 3
"""Fewer settings need no map."""


def draw(subject: Record, tables: Tables) -> Figure:
    """A panel for each network: the share of the flow under study, by setting and traffic."""
    pairs = {name: subject[name] for name in ("comparison", "engine")}
    shares = select(tables["comparison_shares"], **pairs, under_study=True)
    shares = shares.drop_duplicates(["trial", "traffic", "network"])
    settings = shares.drop_duplicates("trial")
    networks = shares["network"].unique()
    figure = style.page(1.75 + 0.19 * len(settings))
    panels = figure.subplots(1, len(networks), squeeze=False)[0]
    for axes, network in zip(panels, networks, strict=True):
        part = select(shares, network=network)
        wide = part.pivot(index="trial", columns="traffic_title", values="mean")
        wide = 100 * wide.loc[settings["trial"], part["traffic_title"].unique()]
        texts = wide.map(lambda value: "" if value != value else f"{value:.0f}")
        names = settings["label"].map(style.capital) if axes is panels[0] else False
        style.heat_map(axes, wide, texts, (0, 100), style.DIVERGING, yticklabels=names)
        axes.set_title(part["network_title"].iloc[0].replace(", buffer", ",\nbuffer"), fontsize=7.5)
    return figure


def _maps(shares: pd.DataFrame) -> pd.DataFrame:
    """Of comparisons of several settings, each beside another flow."""
    pairs = shares[shares["flows"] == 2]
    return pairs[pairs.groupby("comparison")["trial"].transform("nunique") >= _FEWEST]


subjects = each("comparison_shares", "comparison", "engine", chosen=_maps)
