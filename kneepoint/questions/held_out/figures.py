"""Figures of settings in the throughput-delay plane, gains by tuning, and relative power."""

import textwrap

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kneepoint.analysis import labels
from kneepoint.analysis.frames import Record, extremes, records, select
from kneepoint.analysis.metrics import SIGNAL_DELAY, THROUGHPUT
from kneepoint.common.tables import Tables
from kneepoint.questions.held_out.tables import PUBLISHED, standings
from kneepoint.reports.figures import Drawn, each, only, style

_SCALE = 2.448
"""The number of standard deviations of an ellipse with 95 % of a bivariate normal distribution."""


_SIDES = [
    (across * out, up * out)
    for out in (6, 12, 20, 30, 42)
    for across, up in ((1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1), (0, 1), (0, -1))
]
"""Possible places of a name beside its point (points), the nearest first."""
_LEADER: Record = {"arrowstyle": "-", "linewidth": 0.4, "color": style.QUIET, "shrinkB": 3}


def _draw_plane(network: Record, tables: Tables) -> Figure:
    """Draws best published and tuned settings with ellipses of repeats, the front and the knee."""
    settings = tables["held_out_settings"][["trial", "controller", "origin"]]
    means = select(tables["held_out_power"], network=network["network"]).dropna(subset="on_front")
    settings = settings.merge(means, on="trial").astype({"on_front": bool})
    settings["name"] = settings["controller"].map(labels.sentence)
    looks = {labels.sentence(name): look for name, look in style.looks(tables["inventory"]).items()}
    place = SIGNAL_DELAY, THROUGHPUT
    figure, axes = style.panel(max(2.9, 0.2 * (settings["name"].nunique() + 2)))
    style.front(axes, settings)
    is_published = settings["origin"] == PUBLISHED
    for chosen, fill in ((is_published, "none"), (~is_published, "full")):
        style.points(axes, settings[chosen], *place, by="name", looks=looks, fillstyle=fill)
    for row in records(settings):
        _ellipse(axes, row, looks[row["name"]][1])
    style.plane(axes, settings[SIGNAL_DELAY], (network[SIGNAL_DELAY], network["capacity_mbps"]))
    axes.set_ylim(0.75 * settings[THROUGHPUT].min())
    succeeded = settings.assign(power=settings["succeeded_power"])
    style.add_tooltips(
        axes, succeeded, *place, "{name}, {origin}: " + style.PLANE_TOOLTIP + ", n = {succeeded}"
    )
    if own := axes.get_legend():
        own.remove()
    last = settings.sort_values("origin").drop_duplicates("controller", keep="last")
    look: Record = {"arrowprops": _LEADER, "fontsize": 7.5}
    for text in style.name_points(axes, last, [*place], _SIDES, among=settings, **look):
        text.set_color(looks[text.get_text()][1])
    star = (network[SIGNAL_DELAY], network["capacity_mbps"])
    style.label(axes, "omniscient", star, (-7, 0), fontsize=7.5)
    return figure


def _ellipse(axes: Axes, row: Record, colour: str) -> None:
    """Draws an ellipse of log delay and throughput with 95 % of normal runs; none for one run."""
    delay, throughput = row[SIGNAL_DELAY], row[THROUGHPUT]
    across, both = row["delay_variance"] / delay**2, row["covariance"] / delay
    covariance = [[across, both], [both, row["throughput_variance"]]]
    if not np.isfinite(covariance).all():
        return
    size, direction = np.linalg.eigh(covariance)
    angle = np.linspace(0, 2 * np.pi, 60)
    circle = np.vstack([np.cos(angle), np.sin(angle)])
    x, y = direction @ (_SCALE * np.sqrt(size.clip(0))[:, None] * circle)
    axes.fill(delay * np.exp(x), throughput + y, color=colour, alpha=0.25, linewidth=0, zorder=2)


def _plane_subjects(tables: Tables) -> dict[str, Record]:
    """Selects the training network, if a setting ran on it."""
    training = each("held_out_networks", "network", chosen=lambda rows: rows[rows["is_training"]])
    drawn = set(tables["held_out_power"].dropna(subset=["on_front"])["network"])
    return {name: row for name, row in training(tables).items() if name in drawn}


_WHERE = {"training": "On the training network", "held_out": "On held-out networks"}


def _draw_held_out_gain(_: Record, tables: Tables) -> Figure:
    """Draws the gains of tuned settings on the training network and on held-out networks."""
    settings = gained(tables)
    figure = style.page(0.7 + 0.145 * len(settings))
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (where, title) in zip(panels, _WHERE.items(), strict=True):
        _draw_gains(axes, settings, where, style.looks(tables["inventory"]))
        axes.set(title=title, xlabel="Power (% of the omniscient bound)")
    return figure


def gained(tables: Tables) -> pd.DataFrame:
    """Returns the power of each controller's published and tuned settings (%), the best first."""
    gains = tables["held_out_gains"]
    scores = 100 * tables["held_out_settings"].set_index("trial")[list(_WHERE)]
    found = pd.DataFrame({"controller": gains["controller"]})
    for where, score in scores.items():
        published, tuned = (gains[f"{each}_trial"].map(score) for each in ("published", "tuned"))
        tuned = tuned.fillna(
            published
        )  # a published setting that equals a tuned setting has one row
        published = published.where(published.notna() | gains["published_trial"].isna(), tuned)
        found[f"published_{where}"] = published.astype(float)
        found[f"tuned_{where}"] = tuned.astype(float)
    found["name"] = found["controller"].map(labels.sentence)
    found = found.sort_values("tuned_held_out", ascending=False, kind="stable", ignore_index=True)
    return found.assign(line=found.index)


def _draw_gains(axes: Axes, gains: pd.DataFrame, where: str, looks: style.Looks) -> None:
    """Draws a line for each controller, from the published (open) to the tuned setting."""
    ends = published, tuned = f"published_{where}", f"tuned_{where}"
    colours = [looks[controller][1] for controller in gains["controller"]]
    axes.hlines(gains["line"], gains[published], gains[tuned], color=colours, linewidth=1.2)
    for whose, face in zip(ends, ({"markerfacecolor": "white"}, {}), strict=True):
        look = {"fillstyle": "full", "legend": False, **face}
        style.points(axes, gains, whose, "line", "controller", looks, **look)
        text = f"{{name}}, {whose.partition('_')[0]}: {{{whose}:.1f}} %"
        style.add_tooltips(axes, gains, whose, "line", text)
    axes.set_yticks(gains["line"], gains["name"])
    axes.set(xlim=(0, 1.04 * extremes(gains[[*ends]])[1]), ylabel="")
    axes.set_ylim(len(gains) - 0.4, -0.6)


_held_out_gain_subjects = only(
    "held_out_gains", "all", lambda rows: rows.dropna(subset=["published_trial"])
)


def _draw_held_out_map(_: Record, tables: Tables) -> Figure:
    """Draws relative power (%) on the training and held-out networks, and the held-out score."""
    networks, ranked = tables["held_out_networks"], standings(tables)
    wide = tables["held_out_power"].pivot(index="trial", columns="network", values="relative")
    values = 100 * wide.loc[ranked["trial"], networks["network"]]
    values.columns = [textwrap.fill(each, 38) for each in networks["title"]]  # may be equal
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


_held_out_map_subjects = only("held_out_networks", "all")


FIGURES = {
    "plane": Drawn(
        "Where do controllers stand between throughput and delay, and who is on the front?",
        _plane_subjects,
        _draw_plane,
    ),
    "held-out-gain": Drawn(
        "Do the gains of tuning on the training network hold on other networks?",
        _held_out_gain_subjects,
        _draw_held_out_gain,
    ),
    "held-out-map": Drawn(
        "What share of the greatest possible power does each controller reach on each network?",
        _held_out_map_subjects,
        _draw_held_out_map,
    ),
}
