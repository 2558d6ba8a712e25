"""Whole senders in virtual time: their environment, and repeatable runs."""

import os
import re
from pathlib import Path
from typing import Any

import pytest

from tests.controllers.emulator import Link
from tests.entries.building import (
    SOURCES,
    build_entry,
    require_same_bytes,
    require_twins,
    run_batch,
    scenario_of,
)

_CHECKS = sorted(
    re.findall(r'^    {"(\w+)",$', (SOURCES / "shim_probe.cc").read_text(), re.MULTILINE)
)


_WAITING_HOST = "event-loop:delays_us=0+50+400+3000"


def _probe(link: Link, entry: Path, check: str, **settings: Any) -> dict[str, Any]:
    scenario = scenario_of(link, entry, {"ALPHA": "0.5"}, **settings)
    scenario["flows"][0]["entry"]["arguments"] = [check]
    return run_batch([scenario])[0]


def test_probes_are_there() -> None:
    assert len(_CHECKS) >= 15


@pytest.mark.parametrize("check", _CHECKS)
def test_host_gives(check: str, objects: dict[str, Path], small_link: Link) -> None:
    answer = _probe(small_link, objects["shim_probe"], check)
    reason, _, words = answer["reason"].partition("; its last words: ")
    assert reason.endswith("s the sender ended by itself, with exit status 0")
    assert words == ("said" if check == "output_is_no_terminal" else "")


def test_randomness_is_the_seeds(objects: dict[str, Path], small_link: Link) -> None:
    probe = objects["shim_probe"]
    output = [_probe(small_link, probe, "randomness", seed=seed)["reason"] for seed in (1, 1, 2)]
    assert output[0] == output[1]
    ours, others = (words.split("words: ")[1].split() for words in output[1:])
    assert all(one != other for one, other in zip(ours, others, strict=True))


@pytest.mark.parametrize("rule", ["fixed_window", "delay_threshold", "aimd_timeout"])
@pytest.mark.parametrize("host_model", ["event-loop", "ideal", _WAITING_HOST])
def test_batches_change_no_byte(
    rule: str, host_model: str, objects: dict[str, Path], small_link: Link, tmp_path: Path
) -> None:
    environment = {"RULE": rule, "KEEPALIVE_MS": "80", "BETA": "1.5"}
    scenario = scenario_of(
        small_link,
        objects["kit_sender"],
        environment,
        seed=3,
        host_model=host_model,
        interval_s=0.1,
    )
    require_same_bytes(scenario, tmp_path, flows=True)


def test_seeds_differ_and_runs_repeat(objects: dict[str, Path], small_link: Link) -> None:
    one, again, other = run_batch(
        [
            scenario_of(small_link, objects["kit_sender"], seed=seed, host_model=_WAITING_HOST)
            for seed in (1, 1, 2)
        ]
    )
    assert one == again
    assert one != other


def test_flow_of_an_entry_has_its_figures(objects: dict[str, Path], small_link: Link) -> None:
    scenario = scenario_of(small_link, objects["kit_sender"], {"WINDOW": "7"}, interval_s=0.5)
    scenario["flows"].append({"controller": "fixed_window", "parameters": {"window": 7}})
    entry, twin = run_batch([scenario], flows=True)[0]["flows"]
    assert entry["entry"] == str(objects["kit_sender"])
    assert entry["throughput_mbps"] == pytest.approx(twin["throughput_mbps"], rel=0.05)
    assert entry["rtt_mean_ms"] == pytest.approx(twin["rtt_mean_ms"], rel=0.05)
    assert 5 < entry["mean_window_packets"] <= 7
    assert len(entry["rtt_by_interval_ms"]) == len(entry["throughput_by_interval_mbps"]) == 6


def test_first_hop_is_finite(objects: dict[str, Path], small_link: Link) -> None:
    answer = run_batch([scenario_of(small_link, objects["kit_sender"], {"WINDOW": "6666"})])[0]
    assert answer["packets_dropped"] > 2500


@pytest.mark.parametrize(
    ("flow", "message"),
    [
        ({}, "needs either controller or entry"),
        ({"controller": "timely", "entry": {"object": "x"}}, "needs either controller or entry"),
        ({"entry": {}}, "lacks object"),
        ({"entry": {"object": "/none.so"}}, "/none.so"),
        ({"entry": {"object": "x", "dialect": "martian"}}, "no dialect is named 'martian'"),
        ({"entry": {"object": "x", "clock_epoch_ms": 2 * 10**12}}, "clock_epoch_ms"),
        ({"entry": {"object": "x"}, "transport": "tcp"}, "transport is datagrams for an entry"),
        ({"entry": {"object": "x"}, "bytes": 5}, "bytes is for controllers"),
        ({"entry": {"object": "x"}, "parameters": {"a": 1}}, "parameters are a controller's"),
        ({"entry": {"object": "x", "environment": {"A=B": "1"}}}, "which no variable can have"),
        ({"entry": {"object": "x", "arguments": [1]}}, "has an element that is not a text"),
    ],
)
def test_bad_entry_is_refused(flow: dict[str, Any], message: str, small_link: Link) -> None:
    scenario = {**scenario_of(small_link, Path("x")), "flows": [flow]}
    answer = run_batch([scenario])[0]
    assert answer["status"] == "error"
    assert message in answer["reason"]


def test_rebuilt_entry_is_refused(objects: dict[str, Path], small_link: Link) -> None:
    scenario = scenario_of(small_link, objects["kit_sender"])
    scenario["flows"][0]["entry"]["sha256"] = "0" * 64
    answer = run_batch([scenario])[0]
    assert answer["status"] == "error"
    assert "it was built again" in answer["reason"]


_TWINS: dict[str, tuple[dict[str, str], dict[str, float]]] = {
    "fixed_window": ({"WINDOW": "15"}, {"window": 15, "keepalive_ms": 1000}),
    "delay_threshold": ({"ALPHA": "1", "BETA": "10"}, {"alpha": 1, "beta": 10}),
    "aimd_timeout": (
        {"ALPHA": "0.1", "BETA": "1.5", "KEEPALIVE_MS": "80"},
        {"alpha": 0.1, "beta": 1.5, "keepalive_ms": 80},
    ),
}


@pytest.mark.parametrize("rule", sorted(_TWINS))
def test_twins_are_the_same(rule: str, objects: dict[str, Path], contest: Link) -> None:
    environment, parameters = _TWINS[rule]
    scenario = scenario_of(contest, objects["kit_sender"], {"RULE": rule, **environment})
    require_twins(contest, scenario, rule, parameters)


@pytest.mark.parametrize("direction", ["uplink", "downlink"])
def test_twins_are_the_same_where_packets_overtake_each_other(
    direction: str, objects: dict[str, Path], contest: Link
) -> None:
    environment, parameters = _TWINS["delay_threshold"]
    rule = {"RULE": "delay_threshold", **environment}
    entry = scenario_of(contest, objects["kit_sender"], rule, duration_s=20)
    entry[direction]["impairments"] = ["jitter-normal:mean=20,deviation=5", "on_off:on=2,off=1"]
    ours = {**entry, "flows": [{"controller": "delay_threshold", "parameters": parameters}]}
    first, second = run_batch([entry, ours])
    assert first == second
    assert first["status"] == "ok"


_NO_LANDLOCK = """
#include <cerrno>
#include <cstdarg>
#include <sys/syscall.h>
extern "C" long syscall(long number, ...) noexcept {
  if (number == SYS_landlock_create_ruleset) { errno = ENOSYS; return -1; }
  va_list list;
  va_start(list, number);
  long a[6];
  for (long& each : a) each = va_arg(list, long);
  va_end(list);
  long result;
  register long r10 asm("r10") = a[3];
  register long r8 asm("r8") = a[4];
  register long r9 asm("r9") = a[5];
  asm volatile("syscall" : "=a"(result) : "a"(number), "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10),
               "r"(r8), "r"(r9) : "rcx", "r11", "memory");
  if (result < 0) { errno = static_cast<int>(-result); return -1; }
  return result;
}
"""


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="makes system calls of x86-64")
def test_host_without_landlock_is_refused(
    objects: dict[str, Path], small_link: Link, tmp_path: Path
) -> None:
    source = tmp_path / "no_landlock.cc"
    source.write_text(_NO_LANDLOCK)
    lacking = {"LD_PRELOAD": str(build_entry(source, tmp_path))}
    scenario = scenario_of(small_link, objects["kit_sender"])
    refused, trusted = run_batch([scenario, {**scenario, "trust": True}], environment=lacking)
    assert refused["status"] == "error"
    assert "this kernel has no Landlock" in refused["reason"]
    assert "--trust-entries" in refused["reason"]
    assert trusted["status"] == "ok"
