"""On what share of the held-out networks is a setting nearly the best?"""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from analysis import labels
from analysis.frames import Record, records, select
from analysis.held_out import PUBLISHED
from common.tables import Tables
from reports.figures import style


def draw(_: Record, tables: Tables) -> Figure:
    """Performance profiles with their intervals: published settings left, tuned ones right."""
    standings = tables["held_out_standings"]
    published = standings["origin"] == PUBLISHED
    panels = {"Published": standings[published], "Tuned": standings[~published]}
    shown = {title: chosen for title, chosen in panels.items() if len(chosen)}
    figure = style.page(3.1)
    for axes, (title, chosen) in zip(
        figure.subplots(1, len(shown), sharey=True, squeeze=False)[0], shown.items(), strict=True
    ):
        for row in records(chosen):
            _draw_profile(axes, row, tables)
        axes.set_title(title)
        axes.set_xlabel("Factor from the best power")
    figure.axes[0].set_ylabel("Share of held-out networks")
    figure.axes[0].set_ylim(0, 1)
    lines = {line.get_label(): line for axes in figure.axes for line in axes.get_lines()}
    figure.legend(handles=lines.values(), loc="outside lower center", ncols=5, fontsize=7)
    return figure


def _draw_profile(axes: Axes, row: Record, tables: Tables) -> None:
    marker, colour = style.looks(tables["inventory"])[row["controller"]]
    profile = select(tables["held_out_profiles"], trial=row["trial"]).sort_values("factor")
    axes.fill_between(
        profile["factor"], profile["low"], profile["high"], color=colour, alpha=0.12, linewidth=0
    )
    axes.plot(
        profile["factor"],
        profile["share"],
        marker=marker,
        color=colour,
        markersize=4,
        linewidth=1.0,
        label=labels.sentence(row["controller"]),
    )
    texts = [
        f"{row['label']}: {100 * each['share']:.0f} % within {each['factor']:g}"
        for each in records(profile)
    ]
    style.tell(axes, profile["factor"], profile["share"], texts)


def subjects(tables: Tables) -> dict[str, Record]:
    """One, where settings ran on held-out networks."""
    return {"all": {}} if len(tables["held_out_profiles"]) else {}
