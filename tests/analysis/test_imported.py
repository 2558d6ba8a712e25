"""Files of other tools: what is read from them, and what is refused."""

import gzip
import json
import os
import random
import subprocess
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

import pytest

from analysis import link_log, over_time
from analysis.imported.measurement import Measurement
from analysis.imported.read import FORMATS, read_measurements
from analysis.link_log import read_link_log
from common.errors import KneepointError
from tests.analysis.test_logs import EVENTS, HEADER
from tests.conftest import ROOT

FILES = range(20)


def read(path: Path, content: str | bytes) -> Measurement:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    (found,) = read_measurements([path])
    return found


# mahimahi -------------------------------------------------------------------------------------


def link_log_of(seed: int, with_drops: bool = True) -> str:
    """A log of a first-in, first-out queue of at most 20 packets."""
    drawn = random.Random(seed)
    lines: list[str] = []
    queue: list[int] = []
    for now in range(1, 2001):
        for _ in range(drawn.choice((0, 0, 1, 2))):
            lines.append(f"{now + 500} + 1504")
            if len(queue) < 20:
                queue.append(now)
            elif with_drops:
                lines.append(f"{now + 500} d 1 1504")
        for _ in range(drawn.choice((0, 0, 1, 1))):
            lines.append(f"{now + 500} # 1504")
            if queue:
                lines.append(f"{now + 500} - 1504 {now - queue.pop(0)}")
    return "# queue: droptail\n# base timestamp: 500\n" + "\n".join(lines) + "\n"


@pytest.mark.parametrize("seed", FILES)
def test_a_link_log_has_the_figures_of_its_definition(tmp_path: Path, seed: int) -> None:
    # Those of mahimahi's scripts, digit for digit: tests/controllers/test_mahimahi_graphs.py.
    text, has_drops = link_log_of(seed, seed % 2 == 0), seed % 2 == 0
    found = read(tmp_path / "uplink.log", text)
    expected = asdict(link_log.metrics(read_link_log(tmp_path / "uplink.log")))
    for name, value in expected.items():
        assert found.metrics[name] == pytest.approx(value, rel=1e-12), name
    for name, kind in (("packets_sent", " + "), ("packets_delivered", " - ")):
        assert found.metrics[name] == text.count(kind)
    if has_drops:
        assert found.metrics["packets_dropped"] == text.count(" d ")
    assert ("packets_dropped" in found.metrics) == has_drops
    assert has_drops != any(each.startswith("drops") for each in found.absent)
    packed = read(tmp_path / "packed", gzip.compress(text.encode()))
    assert (packed.metrics, packed.format) == (found.metrics, found.format)
    waiting = found.series.loc[found.series["quantity"] == over_time.QUEUE, "value"]
    assert waiting.min() >= 0 and 15 <= waiting.max() <= 20  # also where drops are not logged
    assert {over_time.QUEUEING, *over_time.RATES} <= set(found.series["quantity"])


def test_a_link_that_wakes_late_drops_ahead_of_its_log(tmp_path: Path) -> None:
    late = HEADER + EVENTS.replace("110 d 2 3008\n", "109 + 1504\n112 d 1 1504\n110 # 1504\n")
    assert read(tmp_path / "log", late).metrics["packets_dropped"] == 1


def peak_kib(log: Path) -> int:
    """The memory that measuring a log takes at most."""
    with log.open("rb") as content:
        command = [str(ROOT / "build/measure"), "--over-time"]
        process = subprocess.Popen(command, stdin=content, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
    assert status == 0
    return usage.ru_maxrss


def test_a_long_log_takes_no_more_memory_than_a_short_one(tmp_path: Path) -> None:
    log, peaks = tmp_path / "uplink.log", []
    for milliseconds in (40_000, 800_000):
        with log.open("w") as text:
            text.write("# base timestamp: 0\n")
            for ms in range(milliseconds):
                text.write(f"{ms} + 1504\n{ms} # 1504\n{ms} - 1504 0\n")
        peaks.append(peak_kib(log))
    assert log.stat().st_size > 20 * 2**20 and peaks[1] < peaks[0] + 4096


# Pantheon -------------------------------------------------------------------------------------


def tunnel_log_of(seed: int) -> tuple[str, list[tuple[float, str, int, float, int]]]:
    """A tunnel log, with or without an emulated link and flows; and its events."""
    drawn = random.Random(seed)
    has_link, flows = seed % 2 == 0, seed % 3
    events: list[tuple[float, str, int, float, int]] = []
    for _ in range(500):
        at, bytes_ = round(drawn.uniform(0, 9000), 3), drawn.choice((80, 1400, 1500))
        delay, flow = round(drawn.uniform(20, 90), 3), drawn.randint(1, flows) if flows else 0
        events.append((at, "+", bytes_, 0, flow))
        if drawn.random() < 0.95:
            events.append((round(at + delay, 3), "-", bytes_, delay, flow))
        events += [(round(at + 1, 3), "#", 1504, 0, 0)] * has_link
    events.sort(key=lambda event: event[0])
    lines = ["# init timestamp: 1512345678901.234"]
    for at, kind, bytes_, delay, flow in events:
        words = [f"{at + 3.5:.3f}", kind, str(bytes_)]
        words += [f"{delay:.3f}"] * (kind == "-") + [str(flow)] * (flows > 0 and kind != "#")
        lines.append(" ".join(words))
    return "\n".join(lines) + "\n", events


def figures(events: Iterable[tuple[float, str, int, float, int]]) -> tuple[str, str, str]:
    """Throughput, delay and loss as tunnel_graph.py defines and prints them."""
    left = [event for event in events if event[1] == "-"]
    sent = sum(event[2] for event in events if event[1] == "+")
    bits = 8 * sum(event[2] for event in left)
    delays = sorted(event[3] for event in left)
    rank = 0.95 * (len(delays) - 1)
    nearest = delays[round(rank)]
    rate = bits / (1000 * (left[-1][0] - left[0][0]))
    return f"{rate:.2f}", f"{nearest:.3f}", f"{100 * (1 - bits / 8 / sent):.2f}"


@pytest.mark.parametrize("seed", FILES)
def test_a_tunnel_log_has_pantheons_figures_to_their_last_digit(tmp_path: Path, seed: int) -> None:
    text, events = tunnel_log_of(seed)
    found = read(tmp_path / "copa_datalink_run7.log", text)
    assert (found.controller, found.number) == ("copa", 7)
    names = [each["name"] for each in found.flows]
    assert names == ["all", *map(str, range(1, seed % 3 + 1))] if seed % 3 else ["all", "0"]
    for flow in found.flows:
        of = [e for e in events if flow["name"] in ("all", str(e[4])) and e[1] != "#"]
        rate, delay, loss = (flow[n] for n in ("throughput_mbps", "delay_p95_ms", "loss"))
        assert isinstance(rate, float) and isinstance(delay, float) and isinstance(loss, float)
        assert (f"{rate:.2f}", f"{delay:.3f}", f"{100 * loss:.2f}") == figures(of)
    assert ("capacity_mbps" in found.metrics) == (seed % 2 == 0)
    quantities = set(found.series["quantity"])
    assert (over_time.RATES[0] in quantities) == (seed % 2 == 0)
    assert over_time.DELAY in quantities and over_time.QUEUEING not in quantities


@pytest.mark.parametrize("as_list", [True, False])
def test_metadata_names_the_logs_of_all_schemes(tmp_path: Path, as_list: bool) -> None:
    schemes = ["copa", "bbr"]
    for seed, name in enumerate(
        ("copa_datalink_run1", "copa_datalink_run2", "bbr_mm_datalink_run1")
    ):
        (tmp_path / f"{name}.log").write_text(tunnel_log_of(seed)[0])
    content = {"cc_schemes": schemes if as_list else " ".join(schemes), "run_times": 2}
    path = tmp_path / "pantheon_metadata.json"
    path.write_text(json.dumps(content | {"uplink_trace": "traces/tram.up"}))
    found = read_measurements([path])
    assert [(each.controller, each.number) for each in found] == [
        ("copa", 1),
        ("copa", 2),
        ("bbr", 1),
    ]
    assert {each.network for each in found} == {"tram"}
    path.write_text(json.dumps(content | {"cc_schemes": ["vegas"]}))
    with pytest.raises(KneepointError, match="vegas"):
        read_measurements([path])


# What is refused ------------------------------------------------------------------------------


TUNNEL = tunnel_log_of(4)[0]
LINK = link_log_of(1)
BAD = {
    "link cut off": (LINK[:-4], "cut off"),
    "link of no packets": (HEADER + "100 # 1504\n200 # 1504\n", "no packet"),
    "link without events": (HEADER, "no event"),
    "link within a millisecond": (HEADER + "100 + 80\n100 # 1504\n100 - 80 0\n", "millisecond"),
    "two links": (LINK + LINK, "one link"),
    "two links, headless": (LINK + LINK[LINK.index("\n5") + 1 :], "earlier"),
    "tunnel cut off": (TUNNEL[:-3], "cut off"),
    "tunnel backward": (TUNNEL + TUNNEL[TUNNEL.index("\n") + 1 :], "earlier"),
    "two tunnels": (TUNNEL + TUNNEL, "no event"),
    "tunnel of no packets": ("# init timestamp: 1\n1.0 + 80\n2.0 + 80\n", "no packet"),
    "metadata cut off": ('{"cc_schemes": ["bbr"', "JSON"),
    "metadata of nothing": ('{"cc_schemes": 3}', "cc_schemes"),
    "another tool's": ("time,rate\n1,2\n", "known"),
    "empty": ("\n", "empty"),
    "packed, cut off": (gzip.compress(LINK.encode())[:-9], "unpacked"),
}


@pytest.mark.parametrize(("content", "named"), BAD.values(), ids=BAD)
def test_bad_files_are_one_line(tmp_path: Path, content: str | bytes, named: str) -> None:
    with pytest.raises(KneepointError) as raised:
        read(tmp_path / "bad.log", content)
    assert "bad.log" in str(raised.value) and named in str(raised.value)


def test_every_file_is_of_at_most_one_format() -> None:
    for text in (LINK, TUNNEL, '{"cc_schemes": []}'):
        assert sum(each.recognises(text.encode()) for each in FORMATS) == 1
