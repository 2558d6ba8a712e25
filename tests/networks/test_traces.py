from fractions import Fraction
from pathlib import Path

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.networks import traces
from kneepoint.networks.traces import (
    OPPORTUNITY_BYTES,
    changing_rate_trace,
    constant_rate_trace,
    parse_trace,
    read_trace,
)
from tests.conftest import ROOT

CHECK_TRACE = ROOT / "build" / "check_trace"


@pytest.fixture(scope="module", autouse=True)
def _check_trace_is_built() -> None:
    assert CHECK_TRACE.exists(), f"{CHECK_TRACE} is missing: run `make build`"


@pytest.mark.parametrize(
    ("content", "times_ms"),
    [
        (b"8\n", [8]),
        (b"8", [8]),  # the last line may lack its end
        (b"0\n0\n5\n5\n7\n", [0, 0, 5, 5, 7]),
    ],
)
def test_parse_trace_returns_times(content: bytes, times_ms: list[int]) -> None:
    assert parse_trace(content, "good") == times_ms


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"1\n\xff\n", r"trace bad, line 2: '\\xff' is not a whole number"),
        (b"5\n4\n", "trace bad, line 2: 4 ms follows 5 ms"),
    ],
)
def test_parse_trace_passes_on_what_the_program_refuses(content: bytes, message: str) -> None:
    with pytest.raises(KneepointError, match=message):
        parse_trace(content, "bad")


def test_program_that_is_not_built_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traces, "_CHECK_TRACE", tmp_path / "check_trace")
    with pytest.raises(KneepointError, match=r"check_trace: No such file.*; build it first: make"):
        parse_trace(b"1\n", "good")


def test_read_trace_names_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(KneepointError, match=r"absent\.up: No such file"):
        read_trace(tmp_path / "absent.up")


@pytest.mark.parametrize("rate_mbps", [0.1, 1.0, 1.504, 5.04, 12.0, 12.032, 100.0, 943.7])
def test_constant_rate_is_exact_over_a_period(rate_mbps: float) -> None:
    times_ms = constant_rate_trace(rate_mbps)
    bits = len(times_ms) * OPPORTUNITY_BYTES * 8
    assert Fraction(bits, times_ms[-1] * 1000) == Fraction(str(rate_mbps))


def test_constant_rate_refuses_a_period_too_long_to_write() -> None:
    with pytest.raises(
        KneepointError, match=r"constant_mbps: 3\.14159265358979 needs a trace of .* lines"
    ):
        constant_rate_trace(3.14159265358979)


def test_changing_rate_trace_keeps_what_was_possible_before_a_change() -> None:
    # 1504 bytes per ms, then per 4 ms, then none, then per ms. When the link stops, 7/8 of a packet
    # have been carried; the last eighth follows 1/8 ms after it resumes.
    rates = {0.0: 12.032, 0.004: 12.032 / 4, 0.0155: 0.0, 0.1: 12.032}
    steps = [1, 2, 3, 4, 8, 12, 101, 102, 103]
    assert changing_rate_trace(rates, 0.103) == [*steps, 104]
    assert changing_rate_trace({0.0: 12.032}, 0.003) == [1, 2, 3, 4]
    with pytest.raises(KneepointError, match=r"1e\+06 Mbit/s until 60 s need a trace of"):
        changing_rate_trace({0.0: 1e6}, 60)
