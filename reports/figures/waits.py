"""How long are the scheduling delays of the real host?"""

from matplotlib.figure import Figure

from analysis.frames import Record, extremes
from common.tables import Tables
from reports.figures import only, style


def draw(_: Record, tables: Tables) -> Figure:
    """The share of datagrams with at least this scheduling delay, against the delay."""
    figure = style.page(2.6)
    axes = figure.subplots()
    delays = tables["scheduling_delays"]
    share = 1 / delays["one_in"]
    least, mean, greatest = (
        delays[name] / 1000 for name in ("least_us", "delay_us", "greatest_us")
    )
    axes.fill_betweenx(share, least, greatest, color=style.FAINT, linewidth=0, zorder=0)
    axes.plot(mean, share, "o-", color=style.OURS, zorder=2)
    axes.set(xscale="log", yscale="log", xlabel="Scheduling delay (ms)")
    axes.set_ylabel("Datagrams with at least this delay (%)")
    low, high = extremes(delays.loc[delays["least_us"] > 0, "least_us"] / 1000)
    axes.set_xlim(low / 1.3, max(high, float(greatest.max())) * 1.3)
    axes.minorticks_off()
    style.log_ticks(axes, "x", style.decades(*axes.get_xlim(), (1,)))
    ticks = style.decades(float(share.min()) / 2, 1, (1,))
    axes.set_yticks(ticks, [f"{100 * tick:g}" for tick in ticks])
    axes.grid(visible=True)
    return figure


subjects = only("scheduling_delays", "host")
