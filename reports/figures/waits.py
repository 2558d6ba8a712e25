"""How long are the scheduling delays of the real host?"""

from matplotlib.figure import Figure

from analysis.frames import Record
from common.tables import Tables
from reports.figures import only, style


def draw(_: Record, tables: Tables) -> Figure:
    """The share of datagrams with at least this scheduling delay, against the delay."""
    delays = tables["scheduling_delays"]
    ends = [f"{end}_ms" for end in ("least", "greatest")]
    delays = delays.assign(per_cent=100 / delays["one_in"], mean_ms=delays["delay_us"] / 1000)
    delays[ends] = delays[["least_us", "greatest_us"]] / 1000
    figure = style.page(2.6)
    axes = figure.subplots()
    least, greatest = (delays[end] for end in ends)
    axes.fill_betweenx(
        delays["per_cent"], least, greatest, color=style.FAINT, linewidth=0, zorder=0
    )
    style.curve(axes, delays, "mean_ms", "per_cent")
    limits = least[least > 0].min() / 1.3, 1.3 * greatest.max()
    axes.set(xscale="log", yscale="log", xlim=limits)
    axes.set(xlabel="Scheduling delay (ms)", ylabel="Datagrams with at least this delay (%)")
    style.log_ticks(axes, "x", style.decades(*limits, (1,)))
    style.log_ticks(axes, "y", style.decades(delays["per_cent"].min() / 2, 100, (1,)))
    axes.grid(visible=True)
    return figure


subjects = only("scheduling_delays", "host")
