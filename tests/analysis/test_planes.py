"""The throughput-delay plane: fronts by hand, covariances and knees of made-up runs."""

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
    points = {7: [(2.0, 100.0), (3.0, 120.0)], 8: [(1.0, 20.0)], 9: [(1.0, 30.0)]}
    runs = [
        synthetic.run_row("c", {}, *point, trial=trial)
        for trial, every in points.items()
        for point in every
    ]
    failed = {**synthetic.failed_row("c", {}, "no"), "trial": 7}
    found = compute(pd.DataFrame([*runs, failed]), [7, 8, 9]).set_index("trial")
    assert found["succeeded"].tolist() == [2, 1, 1]
    first = found.to_dict("index")[7]
    assert (first["throughput_mbps"], first["signal_delay_p95_ms"]) == (2.5, 110)
    variances = ["throughput_variance", "covariance", "delay_variance"]
    assert [first[name] for name in variances] == [0.5, 10, 200]
    assert found[variances].isna().all(axis=1).tolist() == [False, True, True]
    assert found["on_front"].tolist() == [True, True, False]
    assert found["knee"].tolist() == [False, True, False]
