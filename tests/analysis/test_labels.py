"""Names, numbers and percentages as a report prints them."""

import math

import pytest

from kneepoint.analysis import labels
from kneepoint.analysis.frames import STEP
from kneepoint.analysis.metrics import THROUGHPUT, as_printed


def test_words_drop_units_and_keep_acronyms() -> None:
    assert labels.words("rtt_threshold_ms") == "RTT threshold"
    assert [labels.words("reno"), labels.words("cubic")] == ["Reno", "CUBIC"]
    assert labels.sentence("aimd_timeout") == "AIMD timeout"
    assert labels.sentence("fixed_window") == "Fixed window"
    assert labels.axis("host_latency_us") == "Host latency (µs)"
    assert labels.axis("window", "packets") == "Window (packets)"


@pytest.mark.parametrize(
    ("value", "text"),
    [(12.0, "12"), (0.123456, "0.1235"), (123456.0, "123456"), (math.nan, labels.DASH)],
)
def test_number(value: float, text: str) -> None:
    assert labels.number(value) == text


def test_percent_has_a_real_minus_and_no_negative_zero() -> None:
    assert labels.percent(-0.1234, signed=True) == "\N{MINUS SIGN}12.3\N{NO-BREAK SPACE}%"
    assert labels.percent(0.0001, signed=True) == "0.0\N{NO-BREAK SPACE}%"
    assert labels.percent(-0.0001) == "0.0\N{NO-BREAK SPACE}%"
    assert labels.percent(math.nan) == labels.DASH


@pytest.mark.parametrize(
    ("value", "step", "text"),
    [
        (3.47, 0.001, "3.470"),
        (2500.0, 100.0, "2500"),  # 2.5 s
        (0.00034, 1e-2 * 1e-3, "0.00034"),
        (3.47, math.nan, "3.47"),  # the metric's decimals
        (math.nan, math.nan, labels.DASH),
    ],
)
def test_published_numbers_have_the_digits_printed(value: float, step: float, text: str) -> None:
    row = {f"published_{THROUGHPUT}": value, STEP + THROUGHPUT: step}
    assert as_printed(row, THROUGHPUT) == text
