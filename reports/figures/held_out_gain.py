"""Does what tuning gains on the training network hold on others?"""

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from kneepoint.analysis import labels
from kneepoint.analysis.frames import Record, extremes
from kneepoint.common.tables import Tables
from kneepoint.reports.figures import only, style

_WHERE = {"training": "On the training network", "held_out": "On held-out networks"}


def draw(_: Record, tables: Tables) -> Figure:
    """The best published setting of each controller, and its tuned ones: here and elsewhere."""
    settings = gained(tables)
    figure = style.page(0.7 + 0.145 * len(settings))
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (where, title) in zip(panels, _WHERE.items(), strict=True):
        _draw_gains(axes, settings, where, style.looks(tables["inventory"]))
        axes.set(title=title, xlabel="Power (% of the omniscient bound)")
    return figure


def gained(tables: Tables) -> pd.DataFrame:
    """Power of each controller's settings (%), as published_ and tuned_, the best first."""
    gains = tables["held_out_gains"]
    scores = 100 * tables["held_out_settings"].set_index("trial")[list(_WHERE)]
    found = pd.DataFrame({"controller": gains["controller"]})
    for where, score in scores.items():
        published, tuned = (gains[f"{each}_trial"].map(score) for each in ("published", "tuned"))
        tuned = tuned.fillna(published)  # a setting that is both has one row
        published = published.where(published.notna() | gains["published_trial"].isna(), tuned)
        found[f"published_{where}"] = published.astype(float)
        found[f"tuned_{where}"] = tuned.astype(float)
    found["name"] = found["controller"].map(labels.sentence)
    found = found.sort_values("tuned_held_out", ascending=False, kind="stable", ignore_index=True)
    return found.assign(line=found.index)


def _draw_gains(axes: Axes, gains: pd.DataFrame, where: str, looks: style.Looks) -> None:
    """A line a controller, from the published setting, open, to the tuned one."""
    ends = published, tuned = f"published_{where}", f"tuned_{where}"
    colours = [looks[controller][1] for controller in gains["controller"]]
    axes.hlines(gains["line"], gains[published], gains[tuned], color=colours, linewidth=1.2)
    for whose, face in zip(ends, ({"markerfacecolor": "white"}, {}), strict=True):
        look = {"fillstyle": "full", "legend": False, **face}
        style.points(axes, gains, whose, "line", "controller", looks, **look)
        text = f"{{name}}, {whose.partition('_')[0]}: {{{whose}:.1f}} %"
        style.tell(axes, gains, whose, "line", text)
    axes.set_yticks(gains["line"], gains["name"])
    axes.set(xlim=(0, 1.04 * extremes(gains[[*ends]])[1]), ylabel="")
    axes.set_ylim(len(gains) - 0.4, -0.6)


subjects = only("held_out_gains", "all", lambda rows: rows.dropna(subset=["published_trial"]))
