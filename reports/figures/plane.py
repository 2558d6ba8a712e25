"""Where do controllers stand between throughput and delay, and who is on the front?"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis import labels
from analysis.frames import Record, records, select
from analysis.held_out import PUBLISHED
from analysis.metrics import SIGNAL_DELAY, THROUGHPUT
from common.tables import Tables
from reports.figures import style

_SCALE = 2.448
"""An ellipse of this many standard deviations holds 95 % of a bivariate normal distribution."""


def draw(network: Record, tables: Tables) -> Figure:
    """Best published and tuned settings with their repeats' ellipses, the front and its knee."""
    settings = tables["held_out_settings"][["trial", "controller", "origin"]]
    there = select(tables["held_out_power"], network=network["network"])
    settings = settings.merge(there.dropna(subset=["on_front"]), on="trial")
    settings["on_front"] = settings["on_front"].astype(bool)
    settings["name"] = settings["controller"].map(labels.sentence)
    looks = {labels.sentence(name): look for name, look in style.looks(tables["inventory"]).items()}
    place = {"x": SIGNAL_DELAY, "y": THROUGHPUT}
    figure = style.page(2.9)
    axes = figure.add_subplot()
    bound = network[SIGNAL_DELAY], network["capacity_mbps"]
    axes.plot(*bound, "*", color=style.INK, markersize=9, label="omniscient", zorder=5)
    front = settings[settings["on_front"]].sort_values(SIGNAL_DELAY)
    line: Record = {"marker": "", "drawstyle": "steps-post", "color": style.QUIET, "linewidth": 0.8}
    style.curve(axes, front, **place, label="Pareto front", **line)
    is_published = settings["origin"] == PUBLISHED
    for chosen, fill in ((is_published, "none"), (~is_published, "full")):
        style.points(axes, settings[chosen], **place, by="name", looks=looks, fillstyle=fill)
    for row in records(settings):
        _ellipse(axes, row, looks[row["name"]][1])
        if row["knee"]:
            style.ring(axes, row[SIGNAL_DELAY], row[THROUGHPUT])
    style.delay_axis(axes, [bound[0], *settings[SIGNAL_DELAY]])
    axes.set(ylim=(0, 1.05 * network["capacity_mbps"]), ylabel="Throughput (Mbit/s)")
    texts = [
        f"{row['name']}, {row['origin']}: {row[THROUGHPUT]:.2f} Mbit/s at "
        f"{row[SIGNAL_DELAY]:.0f} ms, power {row['succeeded_power']:.2f}, n = {row['succeeded']}"
        for row in records(settings)
    ]
    style.tell(axes, settings[SIGNAL_DELAY], settings[THROUGHPUT], texts)
    style.legend_once(figure, [axes], loc="outside right center", ncols=1, fontsize=7.5)
    return figure


def _ellipse(axes: Axes, row: Record, colour: str) -> None:
    """An ellipse that would hold 95 % of single runs if these were normal; none for one run."""
    across, both, up = row["delay_variance"], row["covariance"], row["throughput_variance"]
    if not np.isfinite([across, both, up]).all():
        return
    size, direction = np.linalg.eigh([[across, both], [both, up]])
    angle = np.linspace(0, 2 * np.pi, 60)
    circle = np.vstack([np.cos(angle), np.sin(angle)])
    x, y = direction @ (_SCALE * np.sqrt(size.clip(0))[:, None] * circle)
    place = row[SIGNAL_DELAY] + x, row[THROUGHPUT] + y
    axes.fill(*place, color=colour, alpha=0.25, linewidth=0, zorder=2)


def subjects(tables: Tables) -> dict[str, Record]:
    """The training network."""
    networks = records(tables["held_out_networks"])
    drawn = set(tables["held_out_power"].dropna(subset=["on_front"])["network"])
    return {
        row["network"]: row for row in networks if row["is_training"] and row["network"] in drawn
    }
