"""Published numbers are shown as they were printed."""

import math

import pytest

from analysis.frames import STEP
from analysis.labels import DASH
from analysis.metrics import THROUGHPUT, as_printed


@pytest.mark.parametrize(
    ("value", "step", "text"),
    [
        (3.47, 0.001, "3.470"),
        (12.0, 1.0, "12"),
        (2500.0, 100.0, "2500"),  # 2.5 s
        (0.00034, 1e-2 * 1e-3, "0.00034"),
        (3.47, math.nan, "3.47"),  # the metric's decimals
        (math.nan, math.nan, DASH),
    ],
)
def test_digits_are_those_printed(value: float, step: float, text: str) -> None:
    row = {f"published_{THROUGHPUT}": value, STEP + THROUGHPUT: step}
    assert as_printed(row, THROUGHPUT) == text
