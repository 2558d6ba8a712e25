"""The checks of a printed table against itself."""

import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.tools.check_table.forensics import Heading, check, read_printed
from tests.conftest import ROOT
from tests.programs import run_kneepoint
from tests.tools.check_table import benchmark


def found(folder: Path, *lines: str, runs: int | None = None) -> list[tuple[int, str]]:
    path = folder / "table.csv"
    path.write_text("\n".join(lines) + "\n")
    return [(each.line, each.check) for each in check(read_printed(path, runs)[0]).contradictions]


@pytest.mark.parametrize(
    ("name", "quantity", "statistic", "factor"),
    [
        ("Throughput (kbit/s)", "throughput", "", 1e-3),
        ("mean_signal_delay_p95_ms", "signal delay p95", "mean", 1),
        ("signal_delay_p95_sd_ms", "signal delay p95", "sd", 1),
        ("95th percentile delay (s)", "delay p95", "", 1e3),
        ("utilisation %", "utilization", "", 0.01),
        ("max RTT us", "rtt p100", "", 1e-3),
        ("n", "runs", "", 1),
    ],
)
def test_a_heading_is_read_by_its_words(
    name: str, quantity: str, statistic: str, factor: float
) -> None:
    assert Heading.named(name) == Heading(name, quantity, statistic, factor)


POWER = "throughput_mbps,signal_delay_p95_ms,power"
SHARE = "throughput_mbps,utilization"
SPREAD = "signal_delay_p95_ms,signal_delay_p95_sd_ms,runs"
TRUE = 4.566 / 0.1539
SINGLE = "4.013,98,40.95;3.870,91,42.53;2.754,84,32.79;4.402,121,36.38;1.966,80,24.58"
ROUNDED, TRUNCATED = f"4.57,154,{TRUE:.2f}", f"4.56,153,{math.floor(100 * TRUE) / 100}"


@pytest.mark.parametrize(
    ("lines", "contradicted"),
    [
        (f"{POWER};{ROUNDED};{TRUNCATED}", []),
        (f"{POWER};{ROUNDED};4.57,154,28.67", [(3, "product")]),
        (f"{POWER};4.57,,29.67;,154,29.67", []),
        ("goodput_mbps,capacity_mbps;5.0,5.0;5.2,5.0", [(3, "order")]),
        ("delay_ms,propagation_ms;20,20;18,20", [(3, "order")]),
        ("omniscient_throughput_mbps,throughput_mbps;4.0,3;4.0,4.2", [(3, "order")]),
        ("delay_p50_ms,delay_p95_ms,max_delay_ms;20,30,30;33,30,40;20,30,31", [(3, "order")]),
        ("samples,delay_p95_ms,delay_p99_ms;100,40,50;20,40,;99,40,50", [(4, "samples")]),
        (f"trace,{SHARE};a,4.00,0.800;a,3.00,0.600;a,2.00,0.500;b,2.00,0.500", [(4, "capacity")]),
        ("capacity_mbps,power;5,1;6,1", []),  # no column names the links
        # The delay of a single run is whole: swapped cells, and a wrong digit.
        (f"{POWER};{SINGLE}", []),
        (f"{POWER},runs;2.50,304,8.256,1;2.51,298,8.389,1", [(2, "swap"), (3, "product")]),
        (f"{POWER};4.010,112,35.71;{SINGLE}", [(2, "product")]),
        (f"{POWER};2.50,304,8.256;2.51,298,8.389;4.01,112,35.71", []),  # unknown number of runs
        (f"{POWER},runs;4.01,112,35.80,1;4.01,112,35.71,1", [(3, "product")]),
        (f"{POWER},runs;4.01,112,35.71,5", []),  # a mean of five may be 112.3
        ("throughput_mbps,delay_ms,power;10.01700,100.0000,100.0000", []),  # a mean may be so
        ("throughput_mbps,delay_ms,power,n;10.01700,100.0000,100.0000,1", [(2, "product")]),
        ("throughput_mbps,signal_delay_p95_s,power,n;4.01,0.112,35.71,1", [(2, "product")]),
        # Throughput is at most the capacity, in one run and in a mean.
        ("throughput_mbps,capacity_mbps;5.04,5.04;5.05,5.04;5.07,5.04", [(4, "order")]),
        ("mean_throughput_mbps,mean_capacity_mbps,runs;5.044,5.041,9", [(2, "order")]),
        # A shorter run, where no column names the link.
        (
            "throughput_mbps,capacity_mbps;2,5.04;3,5.04;4,5.04;4.2,5.04;4.5,5.04;4.4,4.97",
            [(7, "capacity")],
        ),
        ("throughput_mbps,capacity_mbps;2,5.04;3,5.04;4,5.04;4.2,5.05", []),  # the last digit
        ("throughput_mbps,capacity_mbps;2,5.04;3,5.04;4,5.04;4.2,9.80", []),  # another link
        ("throughput_mbps,capacity_mbps;2,5.04;3,5.04;4,4.97;4.2,4.97", []),  # two links
        ("signal_delay_p95_ms,runs;98.50,2;98.30,2", [(3, "mean")]),
        ("delay_p95_ms,runs;98.30,2", []),  # fractions cannot be checked
        ("mean_queueing_delay_ms,runs;48.47,1", []),  # nor means over packets
        ("signal_delay_p95_ms,runs;35.5,1.5", []),  # runs are a whole number
        (f"{SPREAD};98.50,0.71,2;98.50,0.90,2;98,1.5,1", [(3, "deviation"), (4, "deviation")]),
    ],
)
def test_what_no_measurement_can_give_is_found_and_nothing_else(
    tmp_path: Path, lines: str, contradicted: list[tuple[int, str]]
) -> None:
    assert found(tmp_path, *lines.split(";")) == contradicted


def test_means_that_are_printed_as_whole_milliseconds_are_not_taken_for_single_runs(
    tmp_path: Path,
) -> None:
    random = np.random.default_rng(1)
    delays, rates = random.uniform(60, 120, 40), random.uniform(3, 5, 40)
    rows = zip(rates, delays, strict=True)
    lines = [f"{rate:.3f},{delay:.0f},{1000 * rate / delay:.2f}" for rate, delay in rows]
    assert found(tmp_path, POWER, *lines) == []
    assert found(tmp_path, POWER, *lines, runs=1) == []  # most rows are not single runs


@pytest.mark.parametrize("as_power", [float, math.log1p])  # Mbit/s per ms, or a logarithm
def test_columns_of_another_unit_or_definition_accuse_no_row(
    tmp_path: Path, as_power: Callable[[float], float]
) -> None:
    rows = [(2 + k / 3, 40 + 7 * k) for k in range(9)]
    lines = [f"{rate:.2f},{delay},{as_power(rate / delay):.4f}" for rate, delay in rows]
    assert found(tmp_path, POWER, *lines) == []
    (said,) = check(read_printed(tmp_path / "table.csv")[0]).doubts
    assert "9 of 9" in said and "power" in said


@pytest.mark.parametrize("variation", [0.05, 0.1, 0.4])
@pytest.mark.parametrize("share", [0.2, 0.5, 1.0])
def test_means_of_runs_that_vary_accuse_no_row(
    tmp_path: Path, variation: float, share: float
) -> None:
    """A misprint among them is found only if its first digits distinguish it from the variation."""
    random = np.random.default_rng(7)
    said = 0
    for n in range(3, 15):
        rows = []
        for _ in range(12):
            spread = random.uniform(0, variation) if random.random() < share else 0.01
            rates = random.uniform(2, 40) * random.lognormal(0, spread / 2, n)
            delays = (random.uniform(30, 300) * random.lognormal(0, spread, n)).round()
            rows.append((rates.mean(), delays.mean(), (1000 * rates / delays).mean()))
        header, end = (f"{POWER},runs", f",{n}") if n % 2 else (POWER, "")
        lines = [f"{rate:.2f},{delay:.0f},{power:.1f}{end}" for rate, delay, power in rows]
        assert found(tmp_path, header, *lines) == []
        rate, delay, power = rows[0]
        found(tmp_path, header, f"{rate:.2f},{delay:.0f},{power * 1.5:.1f}{end}", *lines[1:])
        doubts = check(read_printed(tmp_path / "table.csv")[0]).doubts
        said += any("line 2:" in each or "rows fail" in each for each in doubts)
    assert said == 12


@pytest.mark.parametrize("n", [3, 8, 20])
def test_n_whole_numbers_have_their_mean_and_deviation(tmp_path: Path, n: int) -> None:
    random = np.random.default_rng(n)
    true = []
    for _ in range(200):
        of = random.integers(80, 140, size=n)
        sd = of.std(ddof=int(random.integers(2)))
        shown = sd if random.random() < 0.5 else math.floor(100 * sd) / 100
        true.append(f"{of.mean():.2f},{shown:.2f}")
    assert found(tmp_path, "signal_delay_p95_ms,signal_delay_p95_sd_ms", *true, runs=n) == []


def test_few_true_tables_are_accused_and_most_digits_found() -> None:
    runs = benchmark.runs_of(benchmark.SETTINGS[:5], links=2, seeds=6, seconds=10)
    measured = benchmark.measured(runs, 60, seed=3)
    assert measured["accused"].sum() <= 1  # none of 1,000 tables
    assert measured["found"].mean() >= 0.5  # 72 % of 1,000 tables


def test_the_tables_of_this_repository_are_consistent_but_for_one_row() -> None:
    paths = [path.with_suffix(".csv") for path in (ROOT / "config/published").glob("*.yaml")]
    found = {path.stem: check(read_printed(path)[0]).contradictions for path in paths}
    wrong = {name: [each.line for each in every] for name, every in found.items() if every}
    assert wrong == {"001-delay-threshold": [4]}  # the audit contradicts this row, too


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", "no rows"),
        ("throughput_mbps\n", "no rows"),
        ("window,score\n1,2\n", "'window'"),
        ("delay_ms,delay (s)\n1,2\n", "'delay (s)'"),
        ("delay_ms,power\n1\n", "line 2"),
    ],
)
def test_a_file_that_cannot_be_checked_is_one_line(tmp_path: Path, text: str, named: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(KneepointError, match=r"table\.csv") as raised:
        read_printed(path)
    assert named in str(raised.value)


@pytest.mark.parametrize(
    ("text", "words", "status", "named"),
    [
        (f"scheme,{POWER}\n\na,4.00,100,40.0\n\nb,4.00,100,41.0\n", (), 1, "line 5"),
        ("losses,runs\n2.5,2\n", (), 2, "'losses'"),
        (f"{POWER}\n4.01,112,35.71\n", (), 0, "--runs 1"),
        (f"{POWER}\n4.01,112,35.71\n", ("--runs", "1"), 1, "line 2"),
        ("power,runs\n2.3,2\n", (), 0, ""),
        ("power,runs\n2.3,2\n", ("--whole", "power"), 1, "mean"),
        ("power,runs\n2.3,2\n", ("--whole", "pwr"), 2, "power"),
    ],
)
def test_the_command_names_what_it_finds_and_its_status_says_so(
    tmp_path: Path, text: str, words: tuple[str, ...], status: int, named: str
) -> None:
    (tmp_path / "table.csv").write_text(text)
    done = run_kneepoint("check-table", "table.csv", *words, cwd=tmp_path)
    assert done.returncode == status
    assert named in (done.stderr if status == 2 else done.stdout)
    assert "line 2" not in done.stdout or words or "--runs 1" in done.stdout
    assert len(done.stderr.splitlines()) == (status == 2)


def test_a_product_that_fails_says_what_each_number_should_be(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("throughput_kbps,delay_ms,power\n2100,84,52.0\n2100,84,25.0\n2100,84,25.0\n")
    (found,) = check(read_printed(path)[0]).contradictions
    said = "power should be about 25, or delay_ms should be about 40.4, or throughput_kbps"
    assert found.line == 2 and said in found.says
