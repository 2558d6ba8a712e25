"""How long do processes of the real host wait for the processor?"""

from matplotlib.figure import Figure

from reports import labels
from reports.figures import FigureKind, style
from reports.frames import extremes
from reports.subjects import Waiting


def draw(waiting: Waiting) -> Figure:
    """The share of datagrams that waited so long or longer, against the delay."""
    figure = style.page(2.6)
    axes = figure.subplots()
    share = 1 / waiting.delays["one_in"]
    least, mean, greatest = (
        waiting.delays[name] / 1000 for name in ("least_us", "delay_us", "greatest_us")
    )
    axes.fill_betweenx(share, least, greatest, color=style.FAINT, linewidth=0, zorder=0)
    axes.plot(mean, share, "o-", color=style.OURS, zorder=2)
    axes.set(xscale="log", yscale="log", xlabel="Wait for the processor (ms)")
    axes.set_ylabel("Datagrams that waited so long (%)")
    low, high = extremes(waiting.delays.loc[waiting.delays["least_us"] > 0, "least_us"] / 1000)
    axes.set_xlim(low / 1.3, max(high, float(greatest.max())) * 1.3)
    axes.minorticks_off()
    style.log_ticks(axes, "x", style.decades(*axes.get_xlim(), (1,)))
    ticks = style.decades(float(share.min()) / 2, 1, (1,))
    axes.set_yticks(ticks, [f"{100 * tick:g}" for tick in ticks])
    axes.grid(visible=True)
    return figure


def _caption(waiting: Waiting) -> str:
    return (
        "From the kernel's receipt of a datagram to the receiver's reading it, in "
        f"{labels.count(waiting.runs, 'real run')} of {labels.words(waiting.controller)}: the mean "
        "over the runs, and their range."
    )


FIGURE = FigureKind(
    name="waits",
    subject=Waiting,
    order=10,
    title=lambda _: "How long real processes waited for the processor",
    caption=_caption,
    draw=draw,
)
