"""The example test cases of BBR's draft, end to end in the emulator.

    python -m tests.benchmarks.bbr_cases [CASE...]

Source: draft-ietf-ccwg-bbr, appendix "BBR Example Test Cases", and extremes of rate, RTT and path
from issue trackers of other implementations. Each case is one or several scenarios of seconds, and
prints the measured values and whether they meet the draft's requirement. docs/bbr-cases.md has the
printed table, and names the cases that the emulator cannot express. Needs build/emulate. Exit
status 1: a case fails.
"""

import argparse
import bisect
import itertools
import json
import math
import statistics
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

EMULATE = Path("build/emulate").absolute()
DATAGRAM_BITS = 1504 * 8
GAINS = (0.5, 0.9, 1, 1.25, 2.77)
"""Pacing gains by state: Drain, DOWN, CRUISE and REFILL, UP, Startup."""


@dataclass(frozen=True)
class Run:
    """The result of a scenario of one flow."""

    flow: dict[str, Any]
    uplink: dict[str, Any]
    sent_s: list[float]
    acks: list[tuple[float, int, float]]
    """Time, sequence number, and window after the acknowledgment."""

    def rate(self, begin_s: float, end_s: float) -> float:
        """Returns packets sent per second."""
        first, last = (bisect.bisect_left(self.sent_s, each) for each in (begin_s, end_s))
        return (last - first) / (end_s - begin_s)

    def in_flight(self, time_s: float) -> int:
        """Returns the packets in flight, if no packet is lost."""
        index = bisect.bisect_right(self.ack_times, time_s) - 1
        acknowledged = self.acks[index][1] + 1 if index >= 0 else 0
        return bisect.bisect_right(self.sent_s, time_s) - acknowledged

    def windows(self, begin_s: float, end_s: float) -> list[float]:
        """Returns the windows in a period."""
        first, last = (bisect.bisect_left(self.ack_times, each) for each in (begin_s, end_s))
        return [window for _, _, window in self.acks[first:last]]

    @cached_property
    def ack_times(self) -> list[float]:
        return [time for time, _, _ in self.acks]

    def delivered(self, begin_s: float, end_s: float) -> float:
        """Returns acknowledged packets per second."""
        first, last = (bisect.bisect_left(self.ack_times, each) for each in (begin_s, end_s))
        newest = [self.acks[each - 1][1] if each > 0 else 0 for each in (first, last)]
        return (newest[1] - newest[0]) / (end_s - begin_s)

    def phases(self, packets_per_s: float, begin_s: float = 0) -> list[tuple[float, float, float]]:
        """Returns the start, gain and duration of each phase of the pacing gain.

        A packet's gain is computed from the seventeen packets around it; phases below 12 ms are
        dropped.
        """
        times = [each for each in self.sent_s if each >= begin_s]
        gains: list[tuple[float, float]] = []
        for i in range(8, len(times) - 8):
            gap_s = (times[i + 8] - times[i - 8]) / 16
            paced = 1 / (max(gap_s, 1e-6) * packets_per_s * 0.99)
            gains.append((times[i], min(GAINS, key=lambda each: abs(math.log(each / paced)))))
        found: list[tuple[float, float, float]] = []
        for gain, group in itertools.groupby(gains, key=lambda each: each[1]):
            span = [time for time, _ in group]
            if span[-1] - span[0] < 0.012:
                continue
            if found and found[-1][1] == gain:
                span[0] = found.pop()[0]
            found.append((span[0], gain, span[-1] - span[0]))
        return found

    def is_full_s(self, packets_per_s: float, begin_s: float = 0, span_s: float = 0.1) -> float:
        """Returns the first time at which the link's rate is delivered."""
        return next(
            end
            for end in (begin_s + span_s + i / 100 for i in range(10_000))
            if self.delivered(end - span_s, end) >= 0.95 * packets_per_s
        )


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case."""

    measured: str
    is_met: bool


def scenario_of(
    *,
    rate_mbps: float = 10,
    rtt_ms: float = 40,
    duration_s: float = 10,
    controller: str = "bbr3",
    transport: str = "tcp",
    uplink: dict[str, Any] | None = None,
    downlink: dict[str, Any] | None = None,
    flow: dict[str, Any] | None = None,
    measure_from_s: float = 0,
) -> dict[str, Any]:
    """Returns a scenario with one flow on the ideal host."""
    links = [{"rate_mbps": each, "delay_ms": rtt_ms / 2} for each in (rate_mbps, 1000)]
    for link, given in zip(links, (uplink, downlink), strict=True):
        link.update(given or {})
        if "trace" in link:
            del link["rate_mbps"]
    return {
        "uplink": links[0],
        "downlink": links[1],
        "flows": [{"controller": controller, "transport": transport, **(flow or {})}],
        "host_model": "ideal",
        "duration_s": duration_s,
        "measure_from_s": measure_from_s,
    }


def run(scenario: dict[str, Any]) -> Run:
    """Runs a scenario."""
    with tempfile.TemporaryDirectory() as name:
        file, log = Path(name, "scenario.json"), Path(name, "flow.log")
        file.write_text(json.dumps(scenario))
        command = [str(each) for each in (EMULATE, "--scenario", file, "--flow-log", log)]
        result = subprocess.run(command, check=True, capture_output=True, text=True)
        sent, acks = [], []
        for line in log.read_text().splitlines()[1:]:
            time_us, _, what, *rest = line.split()
            if what == "sent":
                sent.append(int(time_us) / 1e6)
            elif what == "ack":
                acks.append((int(time_us) / 1e6, int(rest[0]), float(rest[2])))
    figures = json.loads(result.stdout)
    return Run(figures["flows"][0], figures["uplink"], sent, acks)


def trace_of(folder: Path, *parts: tuple[float, float]) -> dict[str, Any]:
    """Returns the trace of a link with each rate (Mbit/s) for a duration (s)."""
    lines: list[str] = []
    owed, now_ms = 0.0, 0
    for rate_mbps, length_s in parts:
        for _ in range(round(length_s * 1000)):
            now_ms += 1
            owed += rate_mbps * 1e3 / DATAGRAM_BITS
            lines += [f"{now_ms}\n"] * int(owed)
            owed -= int(owed)
    if not lines[-1].startswith(f"{now_ms}\n"):
        lines.append(f"{now_ms}\n")
    file = folder / f"{len(list(folder.iterdir()))}.trace"
    file.write_text("".join(lines))
    return {"trace": str(file)}


def packets_per_s(rate_mbps: float) -> float:
    """Returns a rate in datagrams per second."""
    return rate_mbps * 1e6 / DATAGRAM_BITS


def first_phase(
    phases: list[tuple[float, float, float]], gain: float, after_s: float = 0
) -> tuple[float, float]:
    """Returns the start and the duration of the first phase with a gain."""
    return next((begin, long) for begin, each, long in phases if each == gain and begin >= after_s)


Measure = Callable[[Path], Outcome]
CASES: dict[str, tuple[str, Measure]] = {}
"""The title and the function of each case; the function may write files into a folder."""


def case(name: str, title: str) -> Callable[[Measure], Measure]:
    """Registers a case."""

    def register(measure: Measure) -> Measure:
        CASES[name] = (title, measure)
        return measure

    return register


@case("1", "Exiting STARTUP on bandwidth plateau")
def _startup_on_plateau(_folder: Path) -> Outcome:
    link = packets_per_s(10)
    result = run(scenario_of())
    full_s = result.is_full_s(link, span_s=0.04) - 0.04
    drain_s, _ = first_phase(result.phases(link), 0.5, full_s)
    rounds = sum(1 for _ in rounds_between(result, full_s, drain_s))
    gap = statistics.median(
        later - earlier for earlier, later in itertools.pairwise(result.sent_s) if 1 < earlier < 2
    )
    max_bw = 1 / gap / 0.99
    return Outcome(
        f"max_bw {max_bw / link:.3f} of the link's rate; Drain {rounds} rounds after it",
        abs(max_bw / link - 1) < 0.02 and 3 <= rounds <= 4,
    )


@case("3", "Exiting DRAIN based on inflight")
def _drain_on_inflight(_folder: Path) -> Outcome:
    link = packets_per_s(10)
    result = run(scenario_of(rtt_ms=100))
    drain_s, length_s = first_phase(result.phases(link), 0.5, result.is_full_s(link))
    product = link * 0.1 + 1
    before, after = result.in_flight(drain_s), result.in_flight(drain_s + length_s)
    return Outcome(
        f"from {before} packets in flight to {after} of {product:.0f} in {length_s * 1e3:.0f} ms",
        before > 1.6 * product and 0.9 * product < after < 1.1 * product and length_s < 0.3,
    )


@case("4", "Exiting DRAIN based on time")
def _drain_on_time(folder: Path) -> Outcome:
    link = packets_per_s(10)
    plain = run(scenario_of(rtt_ms=100, uplink=trace_of(folder, (10, 5)), duration_s=5))
    drain_s, _ = first_phase(plain.phases(link), 0.5, plain.is_full_s(link))
    # From then on the link is hardly faster than the pacing rate of Drain, so that the packets in
    # flight fall slowly.
    falls = trace_of(folder, (10, drain_s), (5.3, 10))
    result = run(scenario_of(rtt_ms=100, uplink=falls))
    drain_s, length_s = first_phase(result.phases(link), 0.5, drain_s - 0.05)
    left = result.in_flight(drain_s + length_s)
    rounds = sum(1 for _ in rounds_between(result, drain_s, drain_s + length_s))
    return Outcome(
        f"after {rounds} rounds, with {left} packets in flight; the path holds "
        f"{link * 0.1 + 1:.0f}",
        3 <= rounds <= 5 and left > 1.1 * (link * 0.1 + 1),
    )


def rounds_between(result: Run, begin_s: float, end_s: float) -> Iterator[float]:
    """Yields the end of each packet-timed round trip."""
    at_s = begin_s
    while True:
        number = bisect.bisect_left(result.sent_s, at_s)
        at_s = next((time for time, newest, _ in result.acks if newest >= number), math.inf)
        if at_s > end_s + 0.01:
            return
        yield at_s


@case("5", "Exiting PROBE_UP on bandwidth plateau")
def _up_on_plateau(_folder: Path) -> Outcome:
    link = packets_per_s(10)
    result = run(scenario_of())
    phases = result.phases(link, 1)
    up_s, length_s = first_phase(phases, 1.25)
    rounds = sum(1 for _ in rounds_between(result, up_s, up_s + length_s))
    down_s, _ = first_phase(phases, 0.9, up_s)
    return Outcome(
        f"DOWN after {rounds} rounds ({length_s * 1e3:.0f} ms)",
        3 <= rounds <= 4 and abs(down_s - up_s - length_s) < 0.02,
    )


@case("7", "Never exiting STARTUP when application-limited without loss")
def _startup_of_answers(_folder: Path) -> Outcome:
    # A hundred times ten packets and a pause. After Startup they would be paced at the rate of the
    # application.
    answers = {"bytes": 14480, "requests": 100, "request_bytes": 100, "think_s": 0.05}
    result = run(scenario_of(flow=answers, duration_s=30))
    first, last = result.flow["answers_s"][1], result.flow["answers_s"][-1]
    return Outcome(
        f"the hundredth answer takes {last * 1e3:.1f} ms, the second {first * 1e3:.1f}",
        last < 1.05 * first,
    )


@case("8", "Exiting PROBE_DOWN on inflight")
def _down_on_inflight(_folder: Path) -> Outcome:
    link = packets_per_s(10)
    result = run(scenario_of())
    phases = result.phases(link, 1)
    down_s, length_s = first_phase(phases, 0.9)
    left = result.in_flight(down_s + length_s)
    before = result.in_flight(down_s)
    product = link * 0.04 + 1
    return Outcome(
        f"from {before} packets in flight to {left}; the path holds {product:.0f}",
        before > 1.2 * product and 0.85 * product < left < 1.1 * product,
    )


@case("9", "Exiting PROBE_DOWN after max time")
def _down_on_time(folder: Path) -> Outcome:
    link = packets_per_s(10)
    soon = {"parameters": {"probe_wait_s": 1}}  # before the next ProbeRTT
    plain = run(scenario_of(rtt_ms=100, uplink=trace_of(folder, (10, 5)), duration_s=5, flow=soon))
    down_s, _ = first_phase(plain.phases(link, 1.5), 0.9)
    # From then on the link is slightly slower than the pacing rate of DOWN, so that the packets in
    # flight hardly change.
    falls = trace_of(folder, (10, down_s), (8.5, 5))
    result = run(scenario_of(rtt_ms=100, uplink=falls, duration_s=5, flow=soon))
    phases = result.phases(link, 1.5)
    down_s, _ = first_phase(phases, 0.9)
    up_s, _ = first_phase(phases, 1.25, down_s)
    between = {gain for begin, gain, _ in phases if down_s < begin < up_s}
    left = min(result.in_flight(down_s + i / 100) for i in range(int(100 * (up_s - down_s))))
    return Outcome(
        f"UP after {up_s - down_s:.2f} s (bw_probe_wait 1, and REFILL), with at least {left} "
        f"packets in flight; the path holds {link * 0.1 + 1:.0f}",
        1 < up_s - down_s < 1.35 and not between and left > 1.1 * link * 0.1,
    )


def searches(result: Run, most: float, begin_s: float) -> list[tuple[float, float]]:
    """Returns the start and the duration of each period with a window of at most `most`."""
    found: list[tuple[float, float]] = []
    low_since: float | None = None
    for time, _, window in result.acks:
        if time < begin_s:
            continue
        if window <= most and low_since is None:
            low_since = time
        if window > most and low_since is not None:
            found.append((low_since, time - low_since))
            low_since = None
    return found


@case("10", "Entering and exiting PROBE_RTT")
def _probe_rtt(_folder: Path) -> Outcome:
    link = packets_per_s(10)
    half = (link * 0.04 + 1) / 2
    result = run(scenario_of(duration_s=30))
    found = searches(result, half + 1, 2)
    gaps = [later[0] - sum(earlier) for earlier, later in itertools.pairwise(found)]
    lengths = [length for _, length in found]
    return Outcome(
        f"{min(gaps):.2f} to {max(gaps):.2f} s after the previous one, for"
        f" {min(lengths) * 1e3:.0f} to {max(lengths) * 1e3:.0f} ms; then"
        f" {result.rate(27, 30) / link:.3f} of the link's rate",
        len(found) >= 4 and min(gaps) >= 5 and max(gaps) < 5.6 and min(lengths) > 0.2,
    )


@case("11", "Skipping PROBE_RTT due to application-limited sending")
def _skips_probe_rtt(_folder: Path) -> Outcome:
    # A second of data, and a pause longer than the interval of ProbeRTT.
    answers = {"bytes": 1_000_000, "requests": 6, "request_bytes": 100, "think_s": 6}
    result = run(scenario_of(flow=answers, duration_s=60))
    low = min(window for _, _, window in result.acks[2000:])
    half = (packets_per_s(10) * 0.04 + 1) / 2
    return Outcome(
        f"the minimum window is {low:.0f} packets; half of the product is {half:.0f}",
        low > 1.5 * half and len(result.flow["answers_s"]) == 6,
    )


def aggregated(folder: Path, every_ms: int, duration_s: float) -> dict[str, Any]:
    """Returns a link that delivers a hundred acknowledgments at once, at intervals of
    `every_ms`."""
    file = folder / "aggregated.trace"
    times = range(every_ms, round(duration_s * 1000) + 1, every_ms)
    file.write_text("".join(f"{time}\n" * 6 for time in times))
    return {"trace": str(file)}


@case("12", "Achieving expected STARTUP bandwidth on a link with aggregation")
def _startup_with_aggregation(folder: Path) -> Outcome:
    link = packets_per_s(10)
    result = run(scenario_of(downlink=aggregated(folder, 20, 5), duration_s=5))
    full_s = result.is_full_s(link)
    widest = max(result.windows(0, 2))
    return Outcome(
        f"the link's rate after {full_s:.2f} s; a window of"
        f" {widest / (link * 0.04):.1f} bandwidth-delay products",
        full_s < 0.5 and widest > 2 * link * 0.04,
    )


@case("13", "Achieving expected cruise bandwidth on a link with aggregation")
def _cruise_with_aggregation(folder: Path) -> Outcome:
    link = packets_per_s(10)
    result = run(scenario_of(downlink=aggregated(folder, 20, 10), duration_s=10))
    share = result.delivered(2, 5) / link
    window = statistics.median(result.windows(2, 5))
    return Outcome(
        f"{share:.3f} of the link's rate; a window of {window / (link * 0.04):.1f} products",
        share > 0.97 and window > 2 * link * 0.04 + 5,
    )


def at_64_kbit(rtt_ms: float) -> Outcome:
    """Returns the outcome of both versions, on both transports."""
    texts = []
    is_met = True
    for controller in ("bbr", "bbr3"):
        shares = []
        for transport in ("tcp", "datagrams"):
            result = run(
                scenario_of(
                    rate_mbps=0.064,
                    rtt_ms=rtt_ms,
                    duration_s=300,
                    controller=controller,
                    transport=transport,
                    measure_from_s=100,
                )
            )
            shares.append(result.uplink["utilization"])
            is_met &= min(result.windows(100, 300)) >= 4
        texts.append(f"{controller} {shares[0]:.3f} over TCP, {shares[1]:.3f} over datagrams")
        is_met &= min(shares) > (0.99 if rtt_ms < 10 else 0.85)
    return Outcome("; ".join(texts) + " of the link's rate", is_met)


@case("14", "Correctly managing sub-packet BDPs: 64 kbit/s, 1 ms")
def _sub_packet(_folder: Path) -> Outcome:
    return at_64_kbit(1)


@case("64k-1s", "64 kbit/s, 1 s")
def _slow_and_long(_folder: Path) -> Outcome:
    return at_64_kbit(1000)


def rising(folder: Path, controller: str) -> tuple[float, int, float]:
    """Returns the time of a flow from a tenth to 95 % of a rate, in s and rounds, and log2 of the
    bandwidth-delay product in packets."""
    rises = trace_of(folder, (2, 10), (20, 20))
    result = run(scenario_of(uplink=rises, duration_s=30, controller=controller))
    link = packets_per_s(20)
    full_s = result.is_full_s(link, 10)
    probe_s, _ = first_phase(result.phases(packets_per_s(2), 10), 1.25)
    rounds = sum(1 for _ in rounds_between(result, probe_s, full_s))
    return full_s - 10, rounds, math.log2(link * 0.04)


@case("15", "Increasing bandwidth 10x and ensuring full bandwidth is reached")
def _rising(folder: Path) -> Outcome:
    texts, is_met = [], True
    for controller in ("bbr", "bbr3"):
        wait_s, rounds, log_bdp = rising(folder, controller)
        texts.append(f"{controller} {rounds} rounds after its first probe ({wait_s:.1f} s)")
        is_met &= rounds <= (14 if controller == "bbr3" else 90) * log_bdp
    return Outcome("; ".join(texts) + f"; log2(BDP) is {log_bdp:.1f}", is_met)


@case("16", "Decreasing bandwidth 10x and ensuring max bandwidth adapts down")
def _falling(folder: Path) -> Outcome:
    falls = trace_of(folder, (20, 10), (2, 30))
    texts, is_met = [], True
    for controller in ("bbr", "bbr3"):
        link = {**falls, "queue": "droptail:packets=67"}
        result = run(scenario_of(uplink=link, duration_s=40, controller=controller))
        rate = packets_per_s(2)
        down_s = next(
            begin / 10 - 10
            for begin in range(100, 380)
            if result.rate(begin / 10, begin / 10 + 1) < 1.3 * rate
        )
        late = result.rate(25, 40) / rate
        texts.append(f"{controller} within 30 % after {down_s:.1f} s, later {late:.2f}")
        is_met &= down_s < 8 and 0.85 < late < 1.1
    return Outcome("; ".join(texts) + " of the new rate", is_met)


@case("17", "Handling token bucket policers")
def _policer(_folder: Path) -> Outcome:
    texts, is_met = [], True
    for controller in ("bbr", "bbr3"):
        result = run(
            scenario_of(
                rate_mbps=50,
                uplink={"queue": "policer:rate_mbps=10,burst=75200"},
                duration_s=60,
                controller=controller,
                measure_from_s=30,
            )
        )
        goodput = result.flow["goodput_mbps"] / (10 * 1448 / 1504)
        sent = result.flow["packets_sent"]
        lost = 1 - result.flow["packets_received"] / sent
        texts.append(f"{controller} {goodput:.2f} of the tokens, {lost * 100:.1f} % lost")
        if controller == "bbr3":
            is_met = goodput > 0.6 and lost < 0.05
    return Outcome("; ".join(texts), is_met)


def with_and_without(
    controller: str, change: dict[str, Any], duration_s: float
) -> tuple[float, float, int]:
    """Returns goodput with a change of the uplink as a share of the goodput without it, with and
    without undo, and the number of recoveries with undo."""
    goodput = {}
    for name, uplink, undo in (("plain", {}, 1), ("undone", change, 1), ("kept", change, 0)):
        result = run(
            scenario_of(
                uplink=uplink,
                controller=controller,
                duration_s=duration_s,
                flow={"tcp": {"undo": bool(undo)}},
            )
        )
        goodput[name] = result.flow["goodput_mbps"]
        if name == "undone":
            events = len(result.flow["loss_events_s"])
    return goodput["undone"] / goodput["plain"], goodput["kept"] / goodput["plain"], events


@case("18", "Handling spurious fast recovery")
def _spurious_fast_recovery(_folder: Path) -> Outcome:
    texts, is_met = [], True
    reorders = {"impairments": ["reordering:share=0.998,delay=8"]}
    for controller in ("bbr", "bbr3"):
        undone, kept, events = with_and_without(controller, reorders, 20)
        texts.append(
            f"{controller} {undone:.3f} of its goodput without reordering in {events} recoveries"
            f" ({kept:.3f} if none is undone)"
        )
        is_met &= undone > 0.95 and events > 3
    return Outcome("; ".join(texts), is_met)


@case("19", "Handling spurious RTO recovery")
def _spurious_rto(folder: Path) -> Outcome:
    texts, is_met = [], True
    file = folder / "delays"
    lines = ["0 20"]
    for second in range(3, 19, 4):
        lines += [f"{second * 1000} 1500", f"{second * 1000 + 100} 20"]
    file.write_text("".join(f"{line}\n" for line in lines))
    late = {"delay_trace": str(file)}
    for controller in ("bbr", "bbr3"):
        undone, kept, events = with_and_without(controller, late, 20)
        rest = 1 - 4 * 1.48 / 20  # the share of time in which packets arrive
        texts.append(
            f"{controller} {undone / rest:.3f} of its goodput without delays, outside them, in"
            f" {events} timeouts ({kept / rest:.3f} if none is undone)"
        )
        is_met &= undone > 0.95 * rest and events >= 3
    return Outcome("; ".join(texts), is_met)


@case("20", "Entering and exiting PROBE_RTT during STARTUP")
def _probe_rtt_in_startup(_folder: Path) -> Outcome:
    link = packets_per_s(20)
    result = run(scenario_of(rate_mbps=20, rtt_ms=1000, duration_s=25))
    times = [time for time, _, _ in result.acks]
    windows = [window for _, _, window in result.acks]
    before = max(result.windows(0, 7))
    narrowest_s = min(
        (window, time) for time, window in zip(times, windows, strict=True) if time > 6
    )[1]
    share = max(result.delivered(end, end + 1) for end in range(12, 24)) / link
    return Outcome(
        f"after {narrowest_s:.1f} s from {before:.0f} to"
        f" {min(result.windows(6, 9)):.0f} packets; then {share:.2f} of the link's rate",
        share > 0.95 and min(result.windows(6, 9)) < 0.6 * before,
    )


@case("21", "Handling loss during PROBE_UP after inflight_longterm is set")
def _loss_in_up(_folder: Path) -> Outcome:
    link = packets_per_s(10)
    result = run(scenario_of(uplink={"queue": "droptail:packets=8"}, duration_s=30))
    phases = result.phases(link, 5)
    lengths = [length for _, gain, length in phases if gain == 1.25 and length > 0.01]
    share = result.flow["goodput_mbps"] / (10 * 1448 / 1504)
    lost = 1 - result.flow["packets_received"] / result.flow["packets_sent"]
    return Outcome(
        f"UP lasts {statistics.median(lengths) * 1e3:.0f} ms (case 5 three rounds and more);"
        f" {share:.3f} of the link's rate, {lost * 100:.2f} % lost",
        statistics.median(lengths) < 0.12 and share > 0.85 and lost < 0.02,
    )


@case("22", "Handling application-limited sending during PROBE_REFILL")
def _limited_refill(_folder: Path) -> Outcome:
    # Answers of 0.4 s and pauses of 0.3 s, some of which coincide with REFILL.
    answers = {"bytes": 480_000, "requests": 60, "request_bytes": 100, "think_s": 0.3}
    result = run(scenario_of(flow=answers, duration_s=60))
    times = result.flow["answers_s"][3:]
    return Outcome(
        f"{len(times)} answers of {min(times):.2f} to {max(times):.2f} s,"
        f" median {statistics.median(times):.2f}",
        len(times) > 50 and max(times) < 1.35 * min(times),
    )


@case("acks", "An ACK path of 100 kbit/s beside 10 Mbit/s, datagrams")
def _narrow_acks(_folder: Path) -> Outcome:
    texts, is_met = [], True
    arithmetic = 100e3 / (80 * 8) * DATAGRAM_BITS / 1e6
    for controller in ("bbr", "bbr3"):
        result = run(
            scenario_of(
                downlink={"rate_mbps": 0.1},
                transport="datagrams",
                controller=controller,
                duration_s=60,
                measure_from_s=20,
            )
        )
        rate = result.flow["throughput_mbps"] / 1424 * 1504
        pause_s = max(later - earlier for earlier, later in itertools.pairwise(result.sent_s))
        texts.append(f"{controller} {rate:.2f} Mbit/s, longest pause {pause_s:.2f} s")
        is_met &= rate > 0.9 * arithmetic and pause_s < 1
    return Outcome("; ".join(texts) + f"; by arithmetic {arithmetic:.2f}", is_met)


@case("datacentre", "0.1 ms at 1 Gbit/s")
def _datacentre(_folder: Path) -> Outcome:
    texts, is_met = [], True
    for controller in ("bbr", "bbr3"):
        result = run(
            scenario_of(
                rate_mbps=1000,
                rtt_ms=0.1,
                downlink={"rate_mbps": 10000},
                controller=controller,
                duration_s=2,
                measure_from_s=0.5,
            )
        )
        texts.append(f"{controller} {result.uplink['utilization']:.3f}")
        is_met &= result.uplink["utilization"] > 0.9
    return Outcome("; ".join(texts) + " of the link's rate", is_met)


@case("cubic-idle", "CUBIC after an idle time of 30 s")
def _cubic_idle(_folder: Path) -> Outcome:
    answers = {"bytes": 6_000_000, "requests": 2, "request_bytes": 100, "think_s": 30}
    link = {"queue": "droptail:packets=40"}
    result = run(scenario_of(controller="cubic", uplink=link, flow=answers, duration_s=60))
    pause = max(range(1, len(result.acks)), key=lambda i: result.acks[i][0] - result.acks[i - 1][0])
    before = result.acks[pause - 1][2]
    begin_s = result.acks[pause][0]
    after = max(result.windows(begin_s, begin_s + 0.3))
    return Outcome(
        f"{after / before:.2f} of the window in the first 0.3 s after it", after < 1.5 * before
    )


def outcome_of(name: str) -> Outcome:
    """Returns the outcome of a case."""
    with tempfile.TemporaryDirectory() as folder:
        return CASES[name][1](Path(folder))


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "cases", nargs="*", choices=[*CASES, []], metavar="CASE", help=", ".join(CASES)
    )
    fails = False
    for name in parser.parse_args().cases or CASES:
        outcome = outcome_of(name)
        fails = fails or not outcome.is_met
        note = "" if outcome.is_met else " NOT MET"
        print(f"| {name} | {CASES[name][0]} | {outcome.measured}{note} |", flush=True)
    raise SystemExit(1 if fails else 0)


if __name__ == "__main__":
    main()
