"""Where do controllers stand between throughput and delay, and who is on the front?"""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis import labels
from analysis.frames import Record, records, select
from analysis.held_out import PUBLISHED
from analysis.metrics import POWER, SIGNAL_DELAY, THROUGHPUT
from common.tables import Tables
from reports.figures import style

_SCALE = 2.448
"""An ellipse of this many standard deviations holds 95 % of a bivariate normal distribution."""


def draw(network: Record, tables: Tables) -> Figure:
    """Best published and tuned settings with their repeats' ellipses, the front and its knee."""
    settings = select(tables["planes"], network=network["network"])
    looks = style.looks(tables["inventory"])
    figure = style.page(2.9)
    axes = figure.add_subplot()
    best = network[SIGNAL_DELAY], network["capacity_mbps"]
    axes.plot(*best, "*", color=style.INK, markersize=9, label="omniscient", zorder=5)
    front = settings[settings["on_front"]].sort_values(SIGNAL_DELAY)
    axes.plot(
        front[SIGNAL_DELAY],
        front[THROUGHPUT],
        drawstyle="steps-post",
        color=style.QUIET,
        linewidth=0.8,
        label="Pareto front",
        zorder=1,
    )
    tuned = set(settings["controller"][settings["origin"] != PUBLISHED])
    for row in records(settings):
        marker, colour = looks[row["controller"]]
        published = row["origin"] == PUBLISHED
        name = labels.sentence(row["controller"])
        _ellipse(axes, row, colour)
        axes.plot(
            row[SIGNAL_DELAY],
            row[THROUGHPUT],
            marker,
            color=colour,
            markersize=4.6,
            markerfacecolor="none" if published else colour,
            markeredgewidth=0.9,
            label=None if published and row["controller"] in tuned else name,
            zorder=3,
        )
    for row in records(settings[settings["knee"]]):
        style.ring(axes, row[SIGNAL_DELAY], row[THROUGHPUT])
    style.delay_axis(axes, [best[0], *settings[SIGNAL_DELAY]])
    axes.set_ylim(0, 1.05 * network["capacity_mbps"])
    axes.set_ylabel("Throughput (Mbit/s)")
    style.tell(axes, settings[SIGNAL_DELAY], settings[THROUGHPUT], map(_value, records(settings)))
    figure.legend(loc="outside right center", fontsize=7.5)
    return figure


def _ellipse(axes: Axes, row: Record, colour: str) -> None:
    """An ellipse that would hold 95 % of single runs if these were normal; none for one run."""
    spread = np.array(
        [
            [row["delay_variance"], row["covariance"]],
            [row["covariance"], row["throughput_variance"]],
        ]
    )
    if not np.isfinite(spread).all():
        return
    size, direction = np.linalg.eigh(spread)
    angle = np.linspace(0, 2 * np.pi, 60)
    circle = np.vstack([np.cos(angle), np.sin(angle)])
    x, y = direction @ (_SCALE * np.sqrt(size.clip(0))[:, None] * circle)
    axes.fill(
        row[SIGNAL_DELAY] + x, row[THROUGHPUT] + y, color=colour, alpha=0.25, linewidth=0, zorder=2
    )


def _value(row: Record) -> str:
    return (
        f"{labels.sentence(row['controller'])}, {row['origin']}: {row[THROUGHPUT]:.2f} Mbit/s at "
        f"{row[SIGNAL_DELAY]:.0f} ms, power {row[POWER]:.2f}, n = {row['n']}"
    )


def subjects(tables: Tables) -> dict[str, Record]:
    """The training network."""
    networks = records(tables["held_out_networks"])
    drawn = set(tables["planes"]["network"]) if len(tables["planes"]) else set()
    return {
        row["network"]: row for row in networks if row["is_training"] and row["network"] in drawn
    }
