"""Mutated files: the right figure or an error of one line, but no wrong figure without a note.

The right figures are known, because the test makes the files. Changes that give another valid file
of the format (a rate and its bytes, both halved) are not included: no reader can notice them.
"""

import gzip
import json
import random
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kneepoint.analysis import link_log
from kneepoint.analysis.link_log import read_link_log
from kneepoint.common.errors import KneepointError
from kneepoint.networks.recordings import guess_unit, improbable, read_recording, summarise
from kneepoint.tools.import_files.read import read_measurements
from tests.tools.import_files.test_imported import (
    figures,
    flent_file,
    iperf3_object,
    link_log_of,
    quic,
    tunnel_log_of,
)
from tests.tools.import_files.test_imported_tools import DRAFTS

Mutants = dict[str, str | bytes]
LEAST = 40


def general(text: str, seed: int) -> Mutants:
    """Returns mutations that apply to any text."""
    drawn = random.Random(seed)
    cuts = {f"cut {k}": text[: drawn.randrange(1, len(text) - 1)] for k in range(12)}
    others: Mutants = {
        "twice": text + text,
        "twice, by lines": f"{text}\n{text}",
        "text after": f"{text}\nDone.\n",
        "text before": f"Connecting\n{text}",
        "cut, then whole": f"{text[: len(text) // 2]}\n{text}",
        "Windows": text.replace("\n", "\r\n"),
        "signature": text.encode("utf-8-sig"),
        "UTF-16": text.encode("utf-16"),
        "gzip twice": gzip.compress(gzip.compress(text.encode())),
        "gzip, cut": gzip.compress(text.encode())[:-20],
        "gzip, twice in one": gzip.compress(text.encode()) * 2,
    }
    return {**cuts, **others}


def walked(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """Yields each part of decoded JSON with its path."""
    yield path, value
    if isinstance(value, dict | list):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from walked(part, (*path, key))


Place = tuple[Any, ...]


def changed(content: Any, of: Callable[[Place], bool], change: Callable[[Any], Any]) -> str:
    """Returns the text of a copy with changed parts at some paths."""
    found = json.loads(json.dumps(content))
    for path, value in [*walked(content)]:
        if path and of(path):
            place = found
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = change(value)
    return json.dumps(found)


def doubled(text: str, key: str, other: object) -> Mutants:
    """Returns texts with a key twice in an object, with the other value before and after it."""
    found = re.search(rf'"{re.escape(key)}":', text)
    assert found, key
    start, end = found.start(), _end_of_value(text, found.end())
    pair = json.dumps({key: other})[1:-1]
    before, after = f"{text[:start]}{pair}, {text[start:]}", f"{text[:end]}, {pair}{text[end:]}"
    return {f"{key} twice, before": before, f"{key} twice, after": after}


def _end_of_value(text: str, start: int) -> int:
    start += len(text[start:]) - len(text[start:].lstrip())
    return json.JSONDecoder().raw_decode(text, start)[1]


def outcome(path: Path, content: str | bytes) -> tuple[float, float | None, bool] | str:
    """Returns throughput, mean RTT or 95th percentile of the delay, and whether they are
    doubted."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    try:
        run, *_ = read_measurements([path])
    except KneepointError as error:
        return str(error)
    flow = run.flows[0] if run.flows else run.metrics
    rtt_ms = flow.get("rtt_mean_ms", flow.get("delay_p95_ms", flow.get("signal_delay_p95_ms")))
    is_doubted = any("improbable" in note for note in run.notes)
    return run.metrics["throughput_mbps"], rtt_ms, is_doubted  # type: ignore[return-value]


def assert_none_is_wrong(
    folder: Path, mutants: Mutants, truth: tuple[float, float | None], min_read: int
) -> None:
    assert len(mutants) >= LEAST
    read = 0
    for name, content in mutants.items():
        found = outcome(folder / "mutant-1.file", content)
        if isinstance(found, str):
            assert "mutant-1.file" in found and "\n" not in found, name
            continue
        if found[2]:
            continue
        read += 1
        assert found[0] == pytest.approx(truth[0], rel=0.05), name
        assert found[1] is None or found[1] == pytest.approx(truth[1], rel=0.05), name
    assert read >= min_read  # some mutants must be read


def within(*names: str) -> Callable[[Place], bool]:
    """Returns a test for paths whose last key is the last name, and whose other keys have the
    others."""
    return lambda path: (
        path[-1] == names[-1] and all(any(n in str(key) for key in path[:-1]) for n in names[:-1])
    )


def to(value: object) -> Callable[[Any], Any]:
    return lambda _: value


def ends_in(*keys: Any) -> Callable[[tuple[Any, ...]], bool]:
    return lambda path: path[-len(keys) :] == keys


def times(factor: float) -> Callable[[Any], Any]:
    return lambda value: value * factor


def test_of_iperf3_none_is_wrong(tmp_path: Path) -> None:
    text = iperf3_object()
    content = json.loads(text)
    for stream in content["end"]["streams"]:
        stream["sender"]["mean_rtt"] = 2000
    text, mutants = json.dumps(content), general(json.dumps(content), 1)
    for factor in (1e-6, 1e-3, 0.125, 8, 1e3):
        for last in ("bits_per_second", "bytes"):
            for first in ("intervals", "end"):
                of = within(first, last)
                mutants[f"{first} {last} x {factor}"] = changed(content, of, times(factor))
    for factor in (1e-3, 1e3):
        mutants[f"seconds x {factor}"] = changed(content, ends_in("seconds"), times(factor))
        mutants[f"rtt x {factor}"] = changed(content, ends_in("rtt"), times(factor))
        mutants[f"mean_rtt x {factor}"] = changed(content, ends_in("mean_rtt"), times(factor))
    for key in ("end", "intervals", "sum_received", "sum_sent", "bits_per_second", "rtt", "start"):
        mutants |= doubled(text, key, 0 if key in ("bits_per_second", "rtt") else {})
    mutants["another version"] = text.replace("3.12", "3.99")
    mutants["backward"] = json.dumps(content | {"intervals": content["intervals"][::-1]})
    mutants["NaN"] = text.replace("8000000.0", "NaN")
    mutants["a stream"] = "\n".join(
        json.dumps({"event": event, "data": data})
        for event, data in (
            ("start", content["start"]),
            *(("interval", each) for each in content["intervals"]),
            ("end", content["end"]),
        )
    )
    assert_none_is_wrong(tmp_path, mutants, (8, 2), min_read=8)


def test_of_flent_none_is_wrong(tmp_path: Path) -> None:
    flent_file(tmp_path / "a.flent.gz", 1)
    text = gzip.decompress((tmp_path / "a.flent.gz").read_bytes()).decode()
    content, mutants = json.loads(text), general(text, 2)
    truth = outcome(tmp_path / "a.flent.gz", (tmp_path / "a.flent.gz").read_bytes())
    assert isinstance(truth, tuple)
    for unit in ("Kbits/s", "Gbits/s", "bits/s", "ms"):
        mutants[f"rates in {unit}"] = changed(content, within("upload", "UNITS"), to(unit))
    for unit in ("s", "us", "Mbits/s"):
        mutants[f"pings in {unit}"] = changed(content, within("Ping", "UNITS"), to(unit))
    for factor in (1e-3, 1e3):
        mutants[f"means x {factor}"] = changed(content, ends_in("MEAN_VALUE"), times(factor))
        for name in content["results"]:
            of = within("raw_values", name, "val")
            mutants[f"{name} x {factor}"] = changed(content, of, times(factor))
    for version in (1, 2, 3, 5):
        mutants[f"version {version}"] = json.dumps(content | {"version": version})
    for key in ("version", "raw_values", "x_values", "metadata", "UNITS", "MEAN_VALUE"):
        mutants |= doubled(text, key, 5)
    mutants["backward"] = json.dumps(content | {"x_values": content["x_values"][::-1]})
    assert_none_is_wrong(tmp_path, mutants, truth[:2], min_read=7)


def test_of_qlog_none_is_wrong(tmp_path: Path) -> None:
    events, expected = quic(3)
    rtts_ms = [each["data"]["latest_rtt"] for each in events if "latest_rtt" in each["data"]]
    truth = expected["throughput_mbps"], sum(rtts_ms) / len(rtts_ms)
    content = {"qlog_version": "0.3", "traces": [{"events": events}]}
    text = json.dumps(content)
    mutants = general(text, 3)
    cuts = (random.Random(4).randrange(400, len(DRAFTS["sequence"]) - 1) for _ in range(10))
    mutants |= {f"sequence cut at {cut}": DRAFTS["sequence"][:cut] for cut in cuts}
    mutants |= DRAFTS
    for factor in (1e-6, 1e-3, 1e3, 1e6):
        for key in ("time", "latest_rtt"):
            mutants[f"{key} x {factor}"] = changed(content, ends_in(key), times(factor))
    for key in ("traces", "events", "time", "name", "data", "raw", "length", "packet_number"):
        mutants |= doubled(text, key, 0)
    mutants["backward"] = json.dumps({"qlog_version": "0.3", "traces": [{"events": events[::-1]}]})
    mutants["in another unit"] = DRAFTS["draft-01"].replace('"us"', '"ns"')
    mutants["us called ms"] = DRAFTS["draft-00"].replace('"us"', '"ms"')
    assert_none_is_wrong(tmp_path, mutants, truth, min_read=20)


# Logs -----------------------------------------------------------------------------------------


def per_line(text: str, kind: str, change: Callable[[list[str]], list[str]]) -> str:
    """Returns a copy in which the words of events of a kind are changed."""
    lines = [
        " ".join(change(line.split())) if f" {kind} " in line else line for line in text.split("\n")
    ]
    return "\n".join(lines)


def scaled(place: int, factor: float, digits: int = 0) -> Callable[[list[str]], list[str]]:
    def change(words: list[str]) -> list[str]:
        value = f"{float(words[place]) * factor:.{digits}f}"
        return [*words[:place], value, *words[place + 1 :]]

    return change


def of_logs(text: str) -> Mutants:
    """Returns logs with lost or added words, words in another unit, and lost or exchanged lines."""
    lines = text.split("\n")
    drawn = random.Random(5)
    mutants: Mutants = {}
    for kind in "+-":
        for place, factor in ((0, 1000), (2, 1000), (3, 1000), (3, 0.001)):
            if place < 3 or kind == "-":
                name = f"word {place} of {kind} x {factor}"
                mutants[name] = per_line(text, kind, scaled(place, factor))
        mutants[f"{kind} in us"] = per_line(text, kind, scaled(0, 1000))
        mutants[f"{kind} in s"] = per_line(text, kind, scaled(0, 0.001, 3))
        mutants[f"{kind} in kB"] = per_line(text, kind, scaled(2, 0.001, 3))
        mutants[f"{kind} lacks a word"] = per_line(text, kind, lambda words: words[:-1])
        mutants[f"{kind} is called ?"] = text.replace(f" {kind} ", " ? ")
    for factor, digits in ((1000, 0), (1000, 3), (0.001, 6)):
        every = text
        for kind in "+-#d":
            every = per_line(every, kind, scaled(0, factor, digits))
        every = per_line(every, "-", scaled(3, factor, digits))
        mutants[f"all x {factor}, {digits} digits"] = every
    for k in range(8):
        place = drawn.randrange(20, len(lines) - 20)
        mutants[f"joined {k}"] = "\n".join(lines[:place]) + "".join(lines[place : place + 2]) + "\n"
        moved = [*lines[:place], *lines[place + 15 :], *lines[place : place + 15]]
        mutants[f"moved {k}"] = "\n".join(moved)
        mutants[f"torn {k}"] = "\n".join([*lines[:place], lines[place][:-2], *lines[place + 1 :]])
    return mutants


def test_of_link_logs_none_is_wrong(tmp_path: Path) -> None:
    text, path = link_log_of(1), tmp_path / "a.log"
    path.write_text(text)
    metrics = link_log.metrics(read_link_log(path))
    truth = metrics["throughput_mbps"], metrics["signal_delay_p95_ms"]
    mutants = {**general(text, 6), **of_logs(text)}
    mutants["packet numbers"] = re.sub(r"(?m)^(\d+ [-+d] .*)$", r"\1 17", text)
    mutants["labels"] = re.sub(r"(?m)^(\d+ - \d+) (\d+)$", r"\1 delay: \2 queue_size: 5", text)
    mutants["other events"] = text.replace("# 1504\n", "# 1504\n900 cwnd 12\n")
    mutants["a base later"] = text.replace("timestamp: 500", "timestamp: 900")
    mutants["a base earlier"] = text.replace("timestamp: 500", "timestamp: 400")
    assert_none_is_wrong(tmp_path, mutants, truth, min_read=9)


def test_of_tunnel_logs_none_is_wrong(tmp_path: Path) -> None:
    text, events = tunnel_log_of(1)
    words = figures([event for event in events if event[1] != "#"]).split()
    truth = float(words[0]), float(words[1])
    mutants = {**general(text, 7), **of_logs(text)}
    mutants["without a header"] = text.partition("\n")[2]
    assert_none_is_wrong(tmp_path, mutants, truth, min_read=8)


# Recordings -----------------------------------------------------------------------------------


def table(separator: str = ",", header: str = "t_s,kbps", point: str = ".") -> str:
    """Returns a minute at alternately 6 and 18 Mbit/s."""
    rows = [[f"{k / 2:.1f}", f"{(6 + 12 * (k % 2)) * 1000:.1f}"] for k in range(120)]
    names = [header.split(",")] if header else []
    return "".join(f"{separator.join(row)}\n" for row in [*names, *rows]).replace(".", point)


def converted(path: Path, time: str, unit: str | None, column: str) -> float | str:
    """Returns the mean rate of the trace (Mbit/s), or the error or note on it."""
    try:
        unit = unit or guess_unit(path, time, "rate", column)[0]
        found = summarise(read_recording(path, time, "rate", column, unit, None))
    except KneepointError as error:
        return str(error)
    return improbable(found) or found.mean_mbps


def test_of_recordings_none_is_wrong(tmp_path: Path) -> None:
    text, path = table(), tmp_path / "mutant-1.csv"
    mutants = {name: (content, "t_s", "kbps") for name, content in general(text, 8).items()}
    for separator in "\t; ":
        mutants[f"separated by {separator!r}"] = (table(separator), "t_s", "kbps")
        mutants[f"headless, {separator!r}"] = (table(separator, ""), "1", "2")
        mutants[f"commas, {separator!r}"] = (table(separator, point=","), "t_s", "kbps")
    mutants["decimal commas between commas"] = (table(point=","), "t_s", "kbps")
    for names, factor in (("t_ms,kbps", 1e3), ("t_us,kbps", 1e6), ("t,kbps", 1.0)):
        found = [line.split(",") for line in table(header="").splitlines()]
        rows = "".join(f"{float(t) * factor:.1f},{rate}\n" for t, rate in found)
        mutants[names] = (f"{names}\n{rows}", names.split(",")[0], "kbps")
    for name, factor in (
        ("Mbps", 1e-3),
        ("bps", 1e3),
        ("kB/s", 0.125),
        ("B/s", 125),
        ("MBps", 1.25e-4),
    ):
        found = [line.split(",") for line in table(header="").splitlines()]
        rows = "".join(f"{t},{float(rate) * factor!r}\n" for t, rate in found)
        mutants[name] = (f"t_s,{name}\n{rows}", "t_s", name)
    for names in ("t_s,kbps,kbps", "t_s,t_s,kbps", "kbps,t_s", "t_s,kbytes", "t_s,size"):
        mutants[f"called {names}"] = (table(header=names), "t_s", "kbps")
    mutants["JSON"] = (json.dumps([{"t_s": 0, "kbps": 6000}]), "t_s", "kbps")
    mutants["backward"] = ("t_s,kbps\n" + "\n".join(text.split("\n")[:0:-1]), "t_s", "kbps")
    mutants["times in us called s"] = (re.sub(r"(?m)^([\d.]+),", r"\g<1>e6,", text), "t_s", "kbps")
    mutants["times in ms called s"] = (re.sub(r"(?m)^([\d.]+),", r"\g<1>e3,", text), "t_s", "kbps")
    mutants["rates in bps called kbps"] = (text.replace("00.0\n", "00000.0\n"), "t_s", "kbps")
    assert len(mutants) >= LEAST
    read = 0
    for name, (content, time, column) in mutants.items():
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        found_mbps = converted(path, time, "s" if time == "1" else None, column)
        if name.startswith("headless") and isinstance(found_mbps, float):
            found_mbps /= 1000  # taken in Mbit/s, with a note
        if isinstance(found_mbps, str):
            assert "\n" not in found_mbps and (
                "mutant-1" in found_mbps or "improbable" in found_mbps
            )
            continue
        read += 1
        assert found_mbps == pytest.approx(12, rel=0.25), name
    assert read >= 15
