"""How long are the scheduling delays of the real host?"""

from matplotlib.figure import Figure

from analysis.frames import Record
from common.tables import Tables
from reports.figures import only, style


def draw(_: Record, tables: Tables) -> Figure:
    """The share of datagrams with at least this scheduling delay, against the delay."""
    delays = tables["scheduling_delays"]
    delays = delays.assign(per_cent=100 / delays["one_in"], mean_ms=delays["delay_us"] / 1000)
    least, greatest = (delays[f"{end}_us"] / 1000 for end in ("least", "greatest"))
    figure, axes = style.panel(2.6)
    band: Record = {"color": style.FAINT, "linewidth": 0, "zorder": 0}
    axes.fill_betweenx(delays["per_cent"], least, greatest, **band)
    style.curve(axes, delays, "mean_ms", "per_cent")
    axes.set(xscale="log", yscale="log", xlim=(least[least > 0].min() / 1.3, 1.3 * greatest.max()))
    axes.set(xlabel="Scheduling delay (ms)", ylabel="Datagrams with at least this delay (%)")
    for which in "xy":
        style.log_ticks(axes, which, (1,))
    axes.grid(visible=True)
    return figure


subjects = only("scheduling_delays", "host")
