"""Our controllers beside the controllers of QUIC stacks: throughput and delay on the same links.

    make judge build
    python -m tests.judge.compare [THEIRS]

Throughput counts payload that arrived, and delay is the mean RTT; both are means over SEEDS runs.
The last column states the reason of a difference of more than 2 % in throughput or 5 % in delay:
docs/field.md.
"""

import json
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kneepoint.common.errors import KneepointError, run_command_line
from tests.judge.build import BUILT

SEEDS = range(1, 9)
SECONDS = 60
EMULATE = Path("build/emulate")

TCP = {"transport": "tcp"}
PAGES = {**TCP, "bytes": 100_000, "request_bytes": 100, "requests": 1000, "think_s": 0.3}


@dataclass(frozen=True)
class Case:
    """Changes from the usual scenario: 12 Mbit/s, an RTT of 40 ms, a queue of 40 packets."""

    uplink: Mapping[str, Any] = field(default_factory=dict)
    flow: Mapping[str, Any] = field(default_factory=dict)

    def scenario(
        self, controller: str, parameters: Mapping[str, float], seed: int
    ) -> dict[str, Any]:
        """Returns the run with a seed."""
        usual = {"rate_mbps": 12, "delay_ms": 20, "queue": "droptail:packets=40"}
        flow = {"controller": controller, "parameters": dict(parameters), **self.flow}
        return {
            "uplink": usual | dict(self.uplink),
            "downlink": {"rate_mbps": 100, "delay_ms": 20},
            "flows": [flow],
            "host_model": "ideal",
            "duration_s": SECONDS,
            "seed": seed,
        }


CASES: Mapping[str, Case] = {
    "1.2 Mbit/s": Case({"rate_mbps": 1.2, "queue": "droptail:packets=20"}),
    "12 Mbit/s": Case(),
    "96 Mbit/s": Case({"rate_mbps": 96, "queue": "droptail:packets=320"}),
    "10 packets": Case({"queue": "droptail:packets=10"}),
    "160 packets": Case({"queue": "droptail:packets=160"}),
    "0.1 % lost": Case({"loss_probability": 0.001}),
    "1 % lost": Case({"loss_probability": 0.01}),
    "outages of 0.1 s": Case({"impairments": ["on_off:on=4.9,off=0.1"]}),
    "outages of 1 s": Case({"impairments": ["on_off:on=9,off=1"]}),
    "outages of 3 s": Case({"impairments": ["on_off:on=17,off=3"]}),
    "an RTT step": Case({"delay_step_ms": 40, "delay_period_s": 20}),
    "TCP": Case(flow=TCP),
    "TCP, 0.1 % lost": Case({"loss_probability": 0.001}, TCP),
    "TCP, pages": Case(flow=PAGES),
}


Range = tuple[float, float]
EQUAL_THROUGHPUT: Range = (0.98, 1.02)
EQUAL_DELAY: Range = (0.95, 1.05)


@dataclass(frozen=True)
class Difference:
    """The reason why two controllers differ in some cases, and the ranges of the ratios
    ours/theirs."""

    why: str
    cases: Sequence[str]
    throughput: Range = EQUAL_THROUGHPUT
    delay: Range = EQUAL_DELAY


@dataclass(frozen=True)
class Pair:
    """A controller of ours, with parameters, and a controller of a stack."""

    ours: str
    theirs: str
    differences: Sequence[Difference]
    parameters: Mapping[str, float] = field(default_factory=dict)

    def difference(self, case: str) -> Difference:
        """Returns the difference that applies to a case."""
        found = (each for each in self.differences if case in each.cases)
        return next(found, Difference("", [case]))


LOSSY = ["0.1 % lost", "1 % lost", "TCP, 0.1 % lost"]
BBR_ELSE = ("1.2 Mbit/s", "an RTT step", "10 packets", "TCP, pages", "outages of 0.1 s")
TIMEOUT = "a silence is a timeout: RFC 5681, 3.1; theirs: RFC 9002, 7.6"
FRIENDLY = "Reno's estimate: RFC 9438, 4.3; theirs: RFC 8312, 4.2"
PAIRS = (
    Pair(
        "reno",
        "quinn_new_reno",
        [
            Difference(
                "half of what is in flight: RFC 5681, 3.1; theirs: half of the window, RFC 9002,"
                " 7.3.2, and a count of bytes that outlives losses, RFC 3465, 2.1",
                ["1 % lost"],
                throughput=(0.94, 0.98),
            ),
            Difference(TIMEOUT, ["outages of 0.1 s"], throughput=(0.95, 0.98)),
        ],
    ),
    Pair(
        "cubic",
        "quinn_cubic",
        [
            Difference(FRIENDLY, LOSSY, throughput=(1.04, 1.11), delay=(0.98, 1.13)),
            Difference(TIMEOUT, ["outages of 0.1 s"], throughput=(0.95, 0.98)),
        ],
    ),
    Pair(
        "cubic",
        "s2n_cubic",
        [
            Difference(FRIENDLY, LOSSY, throughput=(1.06, 1.18), delay=(0.97, 1.09)),
            Difference(TIMEOUT, ["outages of 0.1 s"], throughput=(0.95, 0.98)),
            Difference(
                "after a timeout ssthresh: RFC 9438, 4.8; theirs: none after persistent"
                " congestion, RFC 9002, 7.6.2",
                ["outages of 3 s", "TCP"],
                throughput=(1.0, 1.06),
                delay=(1.02, 1.08),
            ),
            Difference(
                "a window that was not full holds: RFC 9438, 5.8; theirs: if four packets short",
                ["TCP, pages"],
                throughput=(1.02, 1.07),
            ),
        ],
        {"hystart": 1},
    ),
    Pair(
        "bbr",
        "quinn_bbr",
        [
            Difference(
                "its min RTT never rises: draft -00, 4.1.2",
                ["an RTT step"],
                throughput=(1.03, 1.13),
                delay=(1.0, 1.25),
            ),
            Difference(
                "three send quanta in flight: draft -00, 4.2.3.2; theirs: none",
                ["1.2 Mbit/s"],
                delay=(1.5, 2.1),
            ),
            Difference(
                "three send quanta in flight: draft -00, 4.2.3.2; theirs: none; phases of cycles",
                ["outages of 0.1 s"],
                throughput=(0.98, 1.03),
                delay=(1.05, 1.2),
            ),
            Difference(
                "three send quanta in flight: draft -00, 4.2.3.2; theirs: none",
                [case for case in CASES if case not in BBR_ELSE],
                delay=(1.05, 1.2),
            ),
            Difference(
                "an app-limited rate counts if it is greater: draft -00, 4.1.1.4; theirs: never",
                ["TCP, pages"],
                throughput=(2.5, 4.5),
                delay=(0.7, 1.2),
            ),
        ],
    ),
    Pair(
        "bbr3",
        "s2n_bbr2",
        [
            Difference(
                "ProbeRTT where the RTT is no lower: draft, 5.3.4.3; theirs: not where it is equal",
                ["96 Mbit/s", "10 packets"],
                throughput=(0.96, 0.99),
            ),
            Difference(
                "losses lower the short-term bounds: draft, 5.5.10; theirs are hidden by its rate",
                ["1 % lost"],
                throughput=(0.8, 0.95),
            ),
            Difference(
                "a rate sample begins with each ACK: draft, 4.1.2; theirs has a packet too many",
                [case for case in CASES if case not in ("96 Mbit/s", "10 packets", "1 % lost")],
                throughput=(0.9, 1.05),
                delay=(0.64, 0.95),
            ),
        ],
    ),
)


@dataclass(frozen=True)
class Figures:
    """Means over the seeds."""

    throughput_mbps: float
    rtt_ms: float


def figures(controller: str, parameters: Mapping[str, float], case: Case) -> Figures:
    """Runs a controller, by name or path, in a case; raises KneepointError if it fails."""
    asked = "".join(
        json.dumps({"scenario": case.scenario(controller, parameters, seed), "flows": True}) + "\n"
        for seed in SEEDS
    )
    command = [str(EMULATE), "--batch"]
    done = subprocess.run(command, input=asked, capture_output=True, check=True, text=True)
    flows = []
    for answer in map(json.loads, done.stdout.splitlines()):
        if answer["status"] != "ok":
            raise KneepointError(f"{controller}: {answer['reason']}")
        flows.append(answer["flows"][0])
    return Figures(
        statistics.fmean(each["goodput_mbps"] for each in flows),
        statistics.fmean(each["rtt_mean_ms"] for each in flows),
    )


@dataclass(frozen=True)
class Row:
    """A pair in a case."""

    pair: Pair
    case: str
    ours: Figures
    theirs: Figures

    @property
    def throughput(self) -> float:
        """Our value as a multiple of theirs."""
        return self.ours.throughput_mbps / self.theirs.throughput_mbps

    @property
    def delay(self) -> float:
        """Our value as a multiple of theirs."""
        return self.ours.rtt_ms / self.theirs.rtt_ms

    @property
    def is_expected(self) -> bool:
        """Whether both ratios are in their ranges."""
        difference = self.pair.difference(self.case)
        (least, most), (shortest, longest) = difference.throughput, difference.delay
        return least <= self.throughput <= most and shortest <= self.delay <= longest

    def __str__(self) -> str:
        """A row of the table."""
        ours, theirs = self.ours, self.theirs
        why = self.pair.difference(self.case).why if self.is_expected else "not explained"
        return (
            f"| {self.pair.ours} | {self.pair.theirs} | {self.case} |"
            f" {ours.throughput_mbps:.2f}, {ours.rtt_ms:.1f} |"
            f" {theirs.throughput_mbps:.2f}, {theirs.rtt_ms:.1f} |"
            f" {self.throughput:.3f} | {self.delay:.3f} | {why} |"
        )


def rows(pair: Pair) -> Iterator[Row]:
    """Yields a pair's rows."""
    for name, case in CASES.items():
        ours = figures(pair.ours, pair.parameters, case)
        yield Row(pair, name, ours, figures(str(BUILT / f"{pair.theirs}.so"), {}, case))


def main() -> None:
    """Prints the rows of all pairs, or of the pairs with one of THEIRS."""
    known = [pair.theirs for pair in PAIRS]
    wanted = sys.argv[1:] or known
    if unknown := [name for name in wanted if name not in known]:
        raise KneepointError(f"{unknown[0]} is none of {', '.join(known)}")
    if not EMULATE.exists():
        raise KneepointError(f"{EMULATE} is missing; run `make build judge`")
    print("| ours | theirs | link | ours: Mbit/s, ms | theirs | throughput | delay | decided by |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for pair in PAIRS:
        if pair.theirs in wanted:
            for row in rows(pair):
                print(row, flush=True)


if __name__ == "__main__":
    run_command_line(main)
