"""Recordings as traces: the arithmetic, against what can be counted by hand."""

from fractions import Fraction
from pathlib import Path

import pytest

from common.errors import KneepointError
from networks import recordings
from networks.recordings import (
    Outage,
    capacity_over_time,
    guess_unit,
    read_recording,
    summarise,
)
from networks.traces import constant_rate_trace, trace_of_rates


def test_summary_counts_a_late_first_opportunity_as_an_outage() -> None:
    found = summarise([1500, 1600, 4000], outage_s=1.5)
    assert found.outages == (Outage(0, 1.5), Outage(1.6, 2.4))
    assert (found.opportunities, found.duration_s, found.first_ms) == (3, 4, 1500)
    assert found.mean_mbps == pytest.approx(3 * 1504 * 8 / 4 / 1e6)


def test_capacity_takes_whole_bins_and_their_ends() -> None:
    one_mbps = 1504 * 8 / 1e6
    assert capacity_over_time([0, 1, 1000, 1001, 2000, 2500], 1000) == pytest.approx(
        [3 * one_mbps, 2 * one_mbps]
    )
    assert capacity_over_time([1, 500], 1000) == pytest.approx([4 * one_mbps])


@pytest.mark.parametrize("rate", ["12.032", "0.9", "7.5"])
def test_a_constant_rate_gives_the_trace_of_that_rate(rate: str) -> None:
    period = constant_rate_trace(float(rate))
    steps = [(Fraction(period[-1], 4), Fraction(rate))] * 4  # the seams leave nothing behind
    assert trace_of_rates(steps) == period


CSV = "t,size,n,mbps\n10,1504,1,12.032\n10.002,1504,2,0\n10.004,752,0,12.032\n"


@pytest.mark.parametrize(
    ("amount", "column", "times_ms"),
    [
        ("bytes", "size", [0, 2]),
        ("packets", "n", [0, 2, 2]),
        ("rate", "mbps", [1, 2, 5, 6]),
    ],
)
def test_a_recording_is_read(
    tmp_path: Path, amount: recordings.Amount, column: str, times_ms: list[int]
) -> None:
    (tmp_path / "log.csv").write_text(CSV)
    assert read_recording(tmp_path / "log.csv", "t", amount, column, "s", None) == times_ms


def test_rates_need_no_times(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("mbps\n12.032\n0\n12.032\n")
    found = read_recording(tmp_path / "log.csv", None, "rate", "mbps", "s", 0.002)
    assert found == [1, 2, 5, 6]


@pytest.mark.parametrize(
    ("text", "amount", "column", "message"),
    [
        (CSV, "bytes", "bits", "has no column 'bits'; its columns: t, size, n, mbps"),
        ("t,size\n1,x\n", "bytes", "size", "line 2, column size: 'x' is not a number; correct it"),
        ("t,size\n1,nan\n", "bytes", "size", "'nan' is not a number"),
        ("t,size\n1,1/3\n", "bytes", "size", "'1/3' is not a number"),
        ("t,size\n1,-4\n", "bytes", "size", "line 2, column size: -4 is below 0; correct it"),
        ("t,size\n1\n", "bytes", "size", "line 2: has 1 cells, but line 1 has 2"),
        ("t,size\n2,1504\n1,1504\n", "bytes", "size", "row 2: its time is before that of the row"),
        ("t,size\n1,1503\n2,0\n", "bytes", "size", "has less than a packet of 1504 bytes after"),
        ("t,size\n", "bytes", "size", "has less than a packet of 1504 bytes after"),
        ("t,mbps\n1,5\n", "rate", "mbps", "a single rate has no end; add a row, or give --every-s"),
        ("t,n\n1,0\n2,1e7\n", "packets", "n", "has more than 1000000 packets; cut it, or check"),
        ("t,mbps\n1,5e9\n9,0\n", "rate", "mbps", "5e+09 Mbit/s until 8 s need a trace of more"),
    ],
)
def test_a_recording_is_refused(
    tmp_path: Path, text: str, amount: recordings.Amount, column: str, message: str
) -> None:
    (tmp_path / "log.csv").write_text(text)
    with pytest.raises(KneepointError) as error:
        read_recording(tmp_path / "log.csv", "t", amount, column, "s", None)
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("time", "step", "rows", "unit"),
    [
        ("t_ms", 0.0001, 100, "ms"),  # the name says it, whatever the values
        ("Time (s)", 1, 100, "s"),
        ("time/µs", 1, 100, "us"),
        ("time", 0.001, 20_000, "s"),
        ("time", 1, 20_000, "ms"),  # as seconds, 5.6 hours at 12 kbit/s
        ("stamp", 1000, 20_000, "us"),
    ],
)
def test_unit_of_times_is_told_by_name_or_by_what_can_be(
    tmp_path: Path, time: str, step: float, rows: int, unit: str
) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f"{time},n\n" + "".join(f"{i * step:.6f},1\n" for i in range(rows)))
    assert guess_unit(path, time, "packets", "n")[0] == unit


@pytest.mark.parametrize(
    ("amount", "lasts", "choices"),
    [
        ("rate", 10_000, ("s: 10000 s", "ms: 10 s")),  # both are recordings
        ("packets", 1e-3, ("s: 0.001 s", "us: 1e-09 s")),  # none is
    ],
)
def test_unit_that_nothing_tells_is_asked_for(
    tmp_path: Path, amount: recordings.Amount, lasts: float, choices: tuple[str, ...]
) -> None:
    path = tmp_path / "log.csv"
    path.write_text(f"time,n\n0,9\n{lasts},9\n")
    with pytest.raises(KneepointError) as caught:
        guess_unit(path, "time", amount, "n")
    assert all(each in str(caught.value) for each in (str(path), "'time'", "--unit", *choices))
