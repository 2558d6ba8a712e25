"""The checks of a printed table against itself."""

import math
from pathlib import Path

import numpy as np
import pytest

from analysis.forensics import Heading, contradictions, read_printed
from common.errors import KneepointError
from tests.benchmarks import forensics
from tests.conftest import ROOT
from tests.programs import run_kneepoint


def found(folder: Path, *lines: str, runs: int | None = None) -> list[tuple[int, str]]:
    path = folder / "table.csv"
    path.write_text("\n".join(lines) + "\n")
    return [(each.line, each.check) for each in contradictions(read_printed(path, runs).rows)]


@pytest.mark.parametrize(
    ("name", "quantity", "statistic", "factor"),
    [
        ("throughput_mbps", "throughput", "", 1),
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


def test_power_is_throughput_over_delay_rounded_or_truncated(tmp_path: Path) -> None:
    head = "throughput_mbps,signal_delay_p95_ms,power"
    true = 4.566 / 0.1539
    rounded, truncated = f"4.57,154,{true:.2f}", f"4.56,153,{math.floor(100 * true) / 100}"
    assert found(tmp_path, head, rounded, truncated) == []
    assert found(tmp_path, head, rounded, "4.57,154,28.67") == [(3, "product")]
    assert found(tmp_path, head, "4.57,,29.67", ",154,29.67") == []


def test_rates_and_delays_keep_their_bounds(tmp_path: Path) -> None:
    head = "goodput_mbps,capacity_mbps,delay_ms,propagation_ms"
    assert found(tmp_path, head, "5.0,5.0,20,20", "5.2,5.0,20,20", "5.0,5.0,18,20") == [
        (3, "order"),
        (4, "order"),
    ]
    head = "delay_p50_ms,delay_p95_ms,max_delay_ms,omniscient_throughput_mbps,throughput_mbps"
    assert found(tmp_path, head, "20,30,30,4.0,3", "33,30,40,4.0,3", "20,30,31,4.0,4.2") == [
        (3, "order"),
        (4, "order"),
    ]


def test_a_percentile_needs_samples_beyond_it(tmp_path: Path) -> None:
    head = "samples,delay_p95_ms,delay_p99_ms"
    assert found(tmp_path, head, "100,40,50", "20,40,", "99,40,50") == [(4, "samples")]


def test_one_link_has_one_capacity(tmp_path: Path) -> None:
    head = "trace,throughput_mbps,utilization"
    lines = ("a,4.00,0.800", "a,3.00,0.600", "a,2.00,0.500", "b,2.00,0.500")
    assert found(tmp_path, head, *lines) == [(4, "capacity")]
    assert found(tmp_path, "capacity_mbps,power", "5,1", "6,1") == []  # of which links?


@pytest.mark.parametrize("n", [3, 8, 20])
def test_n_whole_numbers_have_their_mean_and_deviation(tmp_path: Path, n: int) -> None:
    head = "signal_delay_p95_ms,signal_delay_p95_sd_ms"
    random = np.random.default_rng(n)
    true = []
    for _ in range(200):
        of = random.integers(80, 140, size=n)
        sd = of.std(ddof=int(random.integers(2)))
        mean = of.mean()
        cut = math.floor(100 * sd) / 100
        true.append(f"{mean:.2f},{sd:.2f}" if random.random() < 0.5 else f"{mean:.2f},{cut:.2f}")
    assert found(tmp_path, head, *true, runs=n) == []


def test_impossible_means_and_deviations_are_found(tmp_path: Path) -> None:
    head = "signal_delay_p95_ms,signal_delay_p95_sd_ms,runs"
    assert found(tmp_path, head, "98.50,0.71,2", "98.30,0.71,2", "98.50,0.90,2", "98,1.5,1") == [
        (3, "mean"),
        (4, "deviation"),
        (5, "deviation"),
    ]
    # Of fractions nothing is known.
    assert found(tmp_path, "delay_p95_ms,runs", "98.30,2") == []


def test_few_true_tables_are_accused_and_most_digits_found() -> None:
    runs = forensics.runs_of(forensics.SETTINGS[:5], links=2, seeds=6, seconds=10)
    measured = forensics.measured(runs, 60, seed=3)
    assert measured["accused"].sum() <= 1  # of 1,000 tables none
    assert measured["found"].mean() >= 0.5  # of 1,000 tables 66 %


def test_the_tables_of_this_repository_are_consistent_but_for_one_row() -> None:
    wrong: dict[str, list[int]] = {}
    for path in sorted((ROOT / "config/published").glob("*.csv")):
        if path.with_suffix(".yaml").is_file():
            found = contradictions(read_printed(path).rows)
            wrong |= {path.stem: [each.line for each in found]} if found else {}
    assert wrong == {"001-delay-threshold": [4]}  # which the audit contradicts, too


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


def test_the_command_names_the_line_and_exits_with_1(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(
        "scheme,throughput_mbps,signal_delay_p95_ms,power\na,4.00,100,40.0\nb,4.00,100,41.0\n"
    )
    done = run_kneepoint("check-table", path, cwd=tmp_path)
    assert done.returncode == 1 and "line 3" in done.stdout and "line 2" not in done.stdout
    assert "scheme" in done.stdout
    path.write_text("losses,runs\n2.5,2\n")
    assert run_kneepoint("check-table", path, cwd=tmp_path).returncode == 2
    path.write_text("power,runs\n2.3,2\n")
    assert run_kneepoint("check-table", path, cwd=tmp_path).returncode == 0
    done = run_kneepoint("check-table", path, "--whole", "power", cwd=tmp_path)
    assert done.returncode == 1 and "mean" in done.stdout
    done = run_kneepoint("check-table", path, "--whole", "pwr", cwd=tmp_path)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1 and "power" in done.stderr
