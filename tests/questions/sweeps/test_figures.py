"""Figures of sweeps: a point for every row, and the best."""

import pytest

from kneepoint.analysis.frames import records
from kneepoint.questions.sweeps.tables import published_points
from tests.analysis import synthetic
from tests.reports.panels import Tables, drawn, require_points, texts


@pytest.fixture(scope="module")
def tables() -> Tables:
    return synthetic.analysed(synthetic.results())


SWEEP = "fixed_window-window-contest"


def test_panels_have_every_point_of_their_rows(tables: Tables) -> None:
    plane, curve = (
        drawn(tables, f"{kind}-{SWEEP}") for kind in ("throughput-delay", "power-curve")
    )
    for rows in (tables["sweep_points"], published_points(tables)):
        require_points(plane, rows, [("signal_delay_p95_ms", "throughput_mbps")])
    require_points(curve, tables["sweep_points"], [("value", "power")])
    left, right = plane.axes[0].get_xlim()
    assert left > right  # better is up and right


def test_power_curve_marks_the_best_and_what_ties(tables: Tables) -> None:
    figure = drawn(tables, f"power-curve-{SWEEP}")
    (sweep,) = records(tables["sweeps"])
    assert f"16: {sweep['power']:.2f}" in texts(figure, axes=1)
    (band,) = figure.axes[1].patches
    ends = band.get_extents().transformed(figure.axes[1].transData.inverted()).intervaly
    assert list(ends) == pytest.approx([sweep["power"] * (1 - sweep["margin"]), sweep["power"]])
