"""The throughput-delay plane: fronts by hand, covariances and knees of made-up runs."""

import math

import numpy as np
import pandas as pd
import pytest

from analysis.planes import compute, on_front
from tests.analysis import synthetic


@pytest.mark.parametrize(
    ("points", "expected"),
    [
        ([(1, 10), (2, 20), (3, 30)], [True, True, True]),
        ([(2, 10), (2, 20), (1, 10)], [True, False, False]),  # no worse in one, better in the other
        ([(2, 10), (2, 10)], [True, True]),  # equals do not beat each other
        ([(1, 30), (3, 10), (2, 20)], [False, True, False]),
    ],
)
def test_front_is_what_nothing_dominates(
    points: list[tuple[float, float]], expected: list[bool]
) -> None:
    throughput, delay = (pd.Series(values, dtype=float) for values in zip(*points, strict=True))
    assert on_front(throughput, delay).tolist() == expected


def test_planes_have_means_covariances_and_a_knee() -> None:
    results = synthetic.results()
    held = results.hold_out
    assert held is not None
    best = held.settings.loc[held.settings["best"], "trial"].tolist()
    planes = compute(held.runs, best)
    assert set(planes["network"]) == set(held.networks["network"])
    for row in planes.to_dict("records"):
        runs = held.runs[
            (held.runs["trial"] == row["trial"]) & (held.runs["network"] == row["network"])
        ]
        assert row["succeeded"] == len(runs)
        assert row["throughput_mbps"] == pytest.approx(runs["throughput_mbps"].mean())
        if len(runs) > 1:
            expected = np.cov(runs["throughput_mbps"], runs["signal_delay_p95_ms"])
            assert row["covariance"] == pytest.approx(expected[0, 1])
            assert row["delay_variance"] == pytest.approx(expected[1, 1])
        else:
            assert math.isnan(row["covariance"])
    for _, plane in planes.groupby("network"):
        front = plane[plane["on_front"]]
        assert plane["knee"].any()
        assert (plane.loc[plane["knee"], "succeeded_power"] == front["succeeded_power"].max()).all()
