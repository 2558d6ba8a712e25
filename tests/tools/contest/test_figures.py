"""A leaderboard's figures."""

from kneepoint.reports.figures import style
from kneepoint.tools.contest.figures import plane


def test_names_stay_within_the_axes() -> None:
    # On the left, neighbours leave room for a name only outside; on the right, its length does.
    points = {
        "a-very-long-name-on-the-left": (3000.0, 5.0),
        "its-neighbour": (2900.0, 5.0),
        "another-one-close-to-it": (2800.0, 5.1),
        "a-very-long-name-on-the-right": (110.0, 4.0),
        "right-again": (112.0, 4.1),
    }
    ranking = [
        {
            "name": name,
            "rank": 1,
            "networks": {
                "link": {
                    "signal_delay_p95_ms": delay_ms,
                    "throughput_mbps": rate_mbps,
                    "power": 1000 * rate_mbps / delay_ms,
                }
            },
        }
        for name, (delay_ms, rate_mbps) in points.items()
    ]
    found = {"ranking": ranking, "baselines": []}
    bound = {"signal_delay_p95_ms": 100.0, "capacity_mbps": 6.0}
    with style.house():
        figure = plane(found, {"name": "link", "omniscient": bound})
        (axes,) = figure.axes
        frame = axes.get_window_extent()
        names = {text.get_text(): text.get_window_extent() for text in axes.texts}
    assert set(names) == set(points) - {"a-very-long-name-on-the-left"}, "it has no room"
    for name, box in names.items():
        assert frame.x0 - 1 <= box.x0 and box.x1 <= frame.x1 + 1, name
