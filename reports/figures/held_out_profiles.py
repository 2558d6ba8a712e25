"""On what share of the held-out networks is a setting nearly the best?"""

import seaborn as sns
from matplotlib.figure import Figure

from analysis import labels
from analysis.frames import Record, select
from analysis.held_out import PUBLISHED
from common.tables import Tables
from reports.figures import only, style


def draw(_: Record, tables: Tables) -> Figure:
    """Performance profiles with their intervals: published settings left, tuned ones right."""
    settings = tables["held_out_settings"][["trial", "controller", "origin", "label"]]
    profiles = tables["held_out_profiles"].merge(settings, on="trial")
    profiles["name"] = profiles["controller"].map(labels.sentence)
    profiles["whose"] = (profiles["origin"] == PUBLISHED).map({True: "Published", False: "Tuned"})
    profiles["per_cent"] = 100 * profiles["share"]
    looks = style.looks(tables["inventory"])
    names = {labels.sentence(controller): look for controller, look in looks.items()}
    look: Record = {"hue": "name", "style": "name", **style.mapped(names), "markersize": 4.6}
    look |= {"markeredgewidth": 0, "err_kws": {"alpha": 0.12, "linewidth": 0}}
    facets: Record = {"col": "whose", "col_order": sorted(profiles["whose"].unique())}
    facets["facet_kws"] = {"legend_out": False}
    ends = style.with_ends(profiles, "share", "low", "high")
    grid = sns.relplot(ends, kind="line", x="factor", y="share", **facets, **look, **style.ENDS)
    for whose, axes in grid.axes_dict.items():
        text = "{label}: {per_cent:.0f} % within {factor}"
        style.tell(axes, select(profiles, whose=whose), "factor", "share", text)
    grid.set_titles("{col_name}").set(ylim=(0, 1))
    grid.set_axis_labels("Factor from the best power", "Share of held-out networks")
    sns.move_legend(grid, "outside lower center", ncols=5, title=None, fontsize=7)
    return style.fit(grid, 3.1)


subjects = only("held_out_profiles", "all")
