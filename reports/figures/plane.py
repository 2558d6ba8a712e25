"""Where do controllers stand between throughput and delay, and who is on the front?"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kneepoint.analysis import labels
from kneepoint.analysis.frames import (
    Record,
    records,
    select,
)
from kneepoint.analysis.held_out import PUBLISHED
from kneepoint.analysis.metrics import SIGNAL_DELAY, THROUGHPUT
from kneepoint.common.tables import Tables
from kneepoint.reports.figures import each, style

_SCALE = 2.448
"""An ellipse of this many standard deviations holds 95 % of a bivariate normal distribution."""


_SIDES = [
    (across * out, up * out)
    for out in (6, 12, 20, 30, 42)
    for across, up in ((1, 0), (-1, 0), (1, 1), (-1, 1), (1, -1), (-1, -1), (0, 1), (0, -1))
]
"""Where a name may stand beside its point (points), the nearest first."""
_LEADER: Record = {"arrowstyle": "-", "linewidth": 0.4, "color": style.QUIET, "shrinkB": 3}


def draw(network: Record, tables: Tables) -> Figure:
    """Best published and tuned settings with their repeats' ellipses, the front and its knee."""
    settings = tables["held_out_settings"][["trial", "controller", "origin"]]
    there = select(tables["held_out_power"], network=network["network"]).dropna(subset="on_front")
    settings = settings.merge(there, on="trial").astype({"on_front": bool})
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
    style.tell(axes, succeeded, *place, "{name}, {origin}: " + style.IN_PLANE + ", n = {succeeded}")
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
    """Of log delay and throughput: would hold 95 % of normal single runs; none for one run."""
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


def subjects(tables: Tables) -> dict[str, Record]:
    """The training network, if a setting ran there."""
    training = each("held_out_networks", "network", chosen=lambda rows: rows[rows["is_training"]])
    drawn = set(tables["held_out_power"].dropna(subset=["on_front"])["network"])
    return {name: row for name, row in training(tables).items() if name in drawn}
