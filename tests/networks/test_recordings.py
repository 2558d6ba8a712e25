"""Recordings as traces: the arithmetic, against counts by hand."""

from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.networks import recordings
from kneepoint.networks.recordings import (
    Outage,
    capacity_over_time,
    guess_unit,
    read_recording,
    summarise,
)
from kneepoint.networks.traces import constant_rate_trace, trace_of_rates


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
    steps = [(Fraction(period[-1], 4), Fraction(rate))] * 4  # the seams add no rounding errors
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
        ("t,size\n2,1504\n1,1504\n", "bytes", "size", "line 3: its time is earlier"),
        ("t,size\n1,1503\n2,0\n", "bytes", "size", "has less than a packet of 1504 bytes after"),
        ("t,size\n", "bytes", "size", "has no rows"),
        ("", "bytes", "size", "is empty"),
        ("t,mbps\n1,5\n", "rate", "mbps", "a single rate has no end; add a row, or give --every-s"),
        (
            "t,n\n1,0\n2,2e7\n",
            "packets",
            "n",
            "more than 10000000 packets; convert its first 1 rows",
        ),
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
        ("t_ms", 0.0001, 100, "ms"),  # the name determines the unit
        ("Time (s)", 1, 100, "s"),
        ("time/µs", 1, 100, "us"),
        ("time_ns", 1e9, 100, "ns"),
        ("elapsed (minutes)", 1, 100, "min"),
        ("t_usec", 1, 100, "us"),
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
        ("rate", 10_000, ("s: 10000 s", "ms: 10 s")),  # both are plausible
        ("packets", 1e-3, ("s: 0.001 s", "us: 1e-09 s")),  # neither is plausible
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


# Formats of recordings ---------------------------------------------------------------

# The format of Norway's HSDPA logs: seconds, ms since the start, latitude, longitude, bytes, ms.
NORWAY = "".join(
    f"{1289406399 + k} {549 + 1000 * k} 59.85 10.77 {125_000 * (1 + k % 2)} 1000\n"
    for k in range(60)
)
# Pensieve's format: seconds and Mbit/s.
PENSIEVE = "".join(f"{k / 2}\t{1 + k % 2}\n" for k in range(60))
RATES = [(k / 2, 1 + k % 2) for k in range(60)]
TRUE_MS = trace_of_rates((Fraction(500), Fraction(rate)) for _, rate in RATES)
DATED = [(f"2026-01-02T03:04:{int(t):02}.{round(t % 1 * 10)}", rate) for t, rate in RATES]
IN_BYTES = [(t, rate * 125_000) for t, rate in RATES]
IN_KIBIT = [(t, rate * 10**6 / 1024) for t, rate in RATES]
IN_NS = [(17 * 10**17 + int(t * 10**9), rate) for t, rate in RATES]


def rows(template: str, rates: Iterable[tuple[object, float]] = RATES) -> str:
    return "".join(template.format(t, rate) for t, rate in rates)


FORMS = {
    "tabs": ("t\tmbps\n" + rows("{}\t{}\n"), "t", "mbps", "s", None),
    "semicolons": ("t;mbps\n" + rows("{};{}\n").replace(".", ","), "t", "mbps", "s", None),
    "no header": (PENSIEVE, "1", "2", "s", None),
    "spaces": (rows("{} {}\n"), "1", "2", "s", None),
    "dates": (rows("{},{}\n", DATED), "1", "2", None, None),
    "zones": ("at,mbps\n" + rows("{}+01:00,{}\n", DATED), "at", "mbps", "ms", None),
    "kbps": ("t,dl_kbps\n" + rows("{},{}000\n"), "t", "dl_kbps", "s", None),
    "throughput_kbps": ("t,x (Kbit/s)\n" + rows("{},{}000\n"), "t", "x (Kbit/s)", "s", None),
    "bps": ("t,bits_per_second\n" + rows("{},{}e6\n"), "t", "bits_per_second", "s", None),
    "camel case": ("t,downMbps\n" + rows("{},{}\n"), "t", "downMbps", "s", None),
    "binary": ("t,Kibit/s\n" + rows("{},{}\n", IN_KIBIT), "t", "Kibit/s", "s", None),
    "word": ("t,megabits_per_second\n" + rows("{},{}\n"), "t", "megabits_per_second", "s", None),
    "epoch": ("t_ns,mbps\n" + rows("{},{}\n", IN_NS), "t_ns", "mbps", "ns", None),
    "bytes": ("t,rate [B/s]\n" + rows("{},{}\n", IN_BYTES), "t", "rate [B/s]", "s", None),
    "rate unit": ("t,dl\n" + rows("{},{}000\n"), "t", "dl", "s", "kbit/s"),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_recording_of_any_form_is_the_same_trace(tmp_path: Path, form: str) -> None:
    text, time, column, unit, rate_unit = FORMS[form]
    for mark, end in (("", "\n"), ("\ufeff", "\r\n")):
        (tmp_path / "log").write_text(mark + text.replace("\n", end), newline="")
        found = read_recording(tmp_path / "log", time, "rate", column, unit, None, rate_unit)
        assert found == TRUE_MS


def test_norways_logs_have_their_bytes(tmp_path: Path) -> None:
    (tmp_path / "bus.log").write_text(NORWAY)
    found = read_recording(tmp_path / "bus.log", "2", "bytes", "5", "ms", None)
    assert len(found) == sum(125_000 * (1 + k % 2) for k in range(60)) // 1504
    assert found[-1] == 59_000 and found[0] == 0


@pytest.mark.parametrize(
    ("column", "bytes_"),
    [
        *(("size", 1), ("bytes_in", 1), ("rx_kB", 1000), ("rx (MB)", 10**6), ("bits", 0.125)),
        *(("rx_KiB", 1024), ("MiB", 1024**2), ("rx_kilobytes", 1000), ("megabits", 125_000)),
    ],
)
def test_a_unit_in_the_name_of_amounts_is_read(tmp_path: Path, column: str, bytes_: float) -> None:
    path = tmp_path / "log"
    path.write_text(f"t,{column}\n" + "".join(f"{k},{1504 / bytes_!r}\n" for k in range(1, 9)))
    assert read_recording(path, "t", "bytes", column, "ms", None) == list(range(8))


@pytest.mark.parametrize(
    ("amount", "column", "message"),
    [
        ("bytes", "rx_kbps", "--rate"),
        ("packets", "rx_kbps", "--rate"),
        ("packets", "bytes", "--bytes"),
        ("rate", "rx_bytes", "--bytes"),
        ("rate", "DL_MBPS", "bits or bytes"),
        ("bytes", "size_kb", "bits or bytes"),
    ],
)
def test_a_name_that_says_something_else_is_refused(
    tmp_path: Path, amount: recordings.Amount, column: str, message: str
) -> None:
    (tmp_path / "log").write_text(f"t,{column}\n0,1504\n1,1504\n")
    with pytest.raises(KneepointError, match=message):
        read_recording(tmp_path / "log", "t", amount, column, "s", None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("t;size\n0,5;1,504\n1,5;1,504.0\n", "thousands or decimals"),
        ("t;size\n0;1,504\n1;3,008\n", "thousands or decimals"),
        ("t;size\n0;1,504,000\n1;3,008\n", "thousands or decimals"),
        ("t,size\n0,5,1,5\n", "4 cells"),
        ("t,size,size\n0,1504,3\n", "'size' appears twice"),
        ('[{"t": 0, "size": 1504}]', "JSON"),
        ("t,size\n2026-01-02T03:04:05,1504\n1,1504\n", "is not a date"),
        ("t,size\n2026-01-02T03:04:05,1504\n2026-01-02T03:04:04,1504\n", "earlier"),
    ],
)
def test_a_table_that_can_be_read_in_two_ways_is_refused(
    tmp_path: Path, text: str, message: str
) -> None:
    (tmp_path / "log").write_text(text)
    with pytest.raises(KneepointError, match=message):
        read_recording(tmp_path / "log", "t", "bytes", "size", None, None)


def test_dates_have_no_other_unit(tmp_path: Path) -> None:
    path = tmp_path / "log"
    path.write_text("t,mbps\n2026-01-02 03:04:05,5\n2026-01-02 03:04:06,5\n")
    assert guess_unit(path, "t", "rate", "mbps")[0] == "ms"
    with pytest.raises(KneepointError, match="leave --unit out"):
        read_recording(path, "t", "rate", "mbps", "s", None)


def test_a_minute_of_5g_is_a_trace(tmp_path: Path) -> None:
    (tmp_path / "5g.csv").write_text("mbps\n" + "760\n" * 60)
    found = read_recording(tmp_path / "5g.csv", None, "rate", "mbps", None, 1)
    assert len(found) == int(760e6 * 60 / (1504 * 8)) == 3_789_893
    spacing = Fraction(1504 * 8, 760_000)
    assert all(found[k - 1] == -(-k * spacing // 1) for k in (1, 2, 3_000_000, 3_789_893))


@pytest.mark.parametrize(
    ("times_ms", "is_improbable"),
    [
        (range(1, 20_000), False),
        (range(1000, 20_000_000, 1000), True),  # the same in microseconds
        (range(1, 500), True),
        ([1000, 60_000], True),
    ],
)
def test_a_trace_that_no_link_has_is_said(times_ms: Iterable[int], is_improbable: bool) -> None:
    assert (recordings.improbable(summarise([*times_ms])) is not None) == is_improbable
