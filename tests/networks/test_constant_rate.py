from fractions import Fraction

import pytest

from common.errors import KneepointError
from networks.constant_rate import OPPORTUNITY_BYTES, constant_rate_trace


@pytest.mark.parametrize("rate_mbps", [0.1, 1.0, 1.504, 5.04, 12.0, 12.032, 100.0, 943.7])
def test_constant_rate_is_exact_over_a_period(rate_mbps: float) -> None:
    times_ms = constant_rate_trace(rate_mbps)
    bits = len(times_ms) * OPPORTUNITY_BYTES * 8
    assert Fraction(bits, times_ms[-1] * 1000) == Fraction(str(rate_mbps))


@pytest.mark.parametrize("rate_mbps", [0.1, 5.04, 12.0, 943.7])
def test_constant_rate_gives_no_opportunity_early_and_none_late(rate_mbps: float) -> None:
    spacing_ms = Fraction(OPPORTUNITY_BYTES * 8, 1000) / Fraction(str(rate_mbps))
    spacing, one_ms = spacing_ms.as_integer_ratio()  # whole numbers are many times faster
    for number, time_ms in enumerate(constant_rate_trace(rate_mbps), start=1):
        assert 0 <= time_ms * one_ms - number * spacing < one_ms


def test_constant_rate_of_one_packet_a_millisecond_is_one_line() -> None:
    assert constant_rate_trace(12.032) == [1]
    assert constant_rate_trace(1.504) == [8]


def test_constant_rate_refuses_a_period_too_long_to_write() -> None:
    with pytest.raises(
        KneepointError, match=r"constant_mbps: 3\.14159265358979 needs a trace of .* lines"
    ):
        constant_rate_trace(3.14159265358979)
