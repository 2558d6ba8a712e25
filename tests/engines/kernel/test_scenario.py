import copy
import json
from pathlib import Path
from typing import Any

import pytest

from common.errors import KneepointError
from engines.kernel.scenario import Queue, read_scenario, scenario_of
from networks.traffic import LINUX
from tests.engines.kernel.bufferbloat import BUFFERBLOAT


def changed(**changes: Any) -> dict[str, Any]:
    """The scenario with other values; uplink__queue is the key `queue` of `uplink`."""
    content: dict[str, Any] = copy.deepcopy(BUFFERBLOAT)
    for path, value in changes.items():
        place: Any = content
        *outer, key = path.split("__")
        for name in outer:
            place = place[int(name) if name.isdecimal() else name]
        place[key] = value
    return content


def test_scenario_of_the_emulator_is_taken_as_it_is() -> None:
    scenario = scenario_of(changed(host_model="ideal", host_latency_us=0), "s")
    assert scenario.uplink.buffer == Queue(packets=100)
    assert scenario.downlink.buffer.packets == 1_000_000
    assert [flow.bytes for flow in scenario.flows] == [None, 177_669]
    assert scenario.probes[0].bytes == 88


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"uplink__trace": "a.trace"},
            "uplink.trace: kernel cannot run it: a trace",
        ),
        ({"uplink__queue": "droptail:bytes=9"}, "use droptail:packets=N"),
        ({"uplink__rate_mbps": 0}, "uplink.rate_mbps: 0 is invalid: it must be"),
        ({"uplink": {"queue": "infinite"}}, "uplink.rate_mbps: is missing; add it"),
        (
            {"downlink__queue": "drr:packets=9,classes=2,per_class=1"},
            "downlink.queue: only the uplink has classes",
        ),
        ({"uplink__queue": "drr:packets=9,classes=2"}, "drr:packets=N,classes=C,per_class=1"),
        ({"uplink__queue": "drr:packets=9,classes=17,per_class=1"}, "there are at most 16"),
        (
            {"uplink__queue": "drr:packets=9,classes=2,per_class=1", "flows__0__class": 2},
            "2 classes, but flows and probes are in 0, 2; use each class, and no other",
        ),
        (
            {"uplink__queue": "drr:packets=9,classes=2,per_class=1", "probes": [{}, {"class": 1}]},
            "probes: in several classes",
        ),
        ({"flows": []}, "flows: [] is invalid: Tuple should have at least 1"),
        (
            {"flows__0__transport": "datagrams"},
            "flows.0.transport: 'datagrams' is invalid: it must be 'tcp'",
        ),
        (
            {"flows__0__constants": {"beta": 0.9}},
            "flows.0: beta: 0.9, but the kernel has 0.5; remove it or use the emulator",
        ),
        (
            {"flows__0__constants": {"gamma": 1}},
            "gamma: 1, but the kernel cannot set it",
        ),
        (
            {"flows__0__tcp": {"least_rto_ms": 1000}},
            "least_rto_ms: 1000, but the kernel has 200",
        ),
        (
            {"flows__0__tcp": {"least_rto_margin_ms": 1}},
            "least_rto_margin_ms: 1, but the kernel has 200",
        ),
        ({"flows__0__start_s": 15}, "flows.0.start_s: not before the end of the run"),
        ({"flows__0__start_s": -1}, "flows.0.start_s: -1 is invalid: it must be greater"),
        ({"flows__1__start_s": 9, "flows__1__stop_s": 9}, "flows.1: stop_s 9 must be after"),
        ({"flows__1__stop_s": 9}, "flows.1: stop_s: a download ends with its bytes"),
        ({"flows__0__request_bytes": 66}, "flows.0: has request_bytes, which needs"),
        (
            {"flows__1__request_bytes": 9},
            "flows.1.request_bytes: 9 is invalid: it must be greater than or equal to 66",
        ),
        ({"flows__0__from": "far"}, "flows.0.from: 'far' is invalid: it must be 'near'"),
        (
            {"flows__0__start_spread_s": 1},
            "flows.0.start_spread_s: 1 is invalid: it must be less than or equal to 0",
        ),
        ({"flows__0__start_s": "1"}, "flows.0.start_s: '1' is invalid"),
        (
            {"flows__1__request_bytes": 66, "flows__1__requests": 2},
            "flows.1.requests: 2 is invalid: it must be 1",
        ),
        ({"probes__0__start_s": 15}, "probes.0.start_s: not before the end of the run"),
        ({"probes__0__bytes": 2000}, "probes.0.bytes: 2000 is invalid: it must be less than"),
        ({"interval_s": 0.01}, "interval_s: the kernel is sampled every 0.05 s"),
        ({"speed": 1}, "speed: 1 is invalid: Extra inputs are not permitted; see build/emulate"),
    ],
)
def test_scenario_beyond_the_kernel_is_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(KneepointError, match=r"^s: ") as raised:
        scenario_of(changed(**changes), "s")
    assert message in str(raised.value)


def test_constants_of_the_kernels_own_are_no_matter() -> None:
    linux = LINUX.model_dump(exclude_none=True)
    scenario_of(changed(flows__0__constants={"beta": 0.5}, flows__0__tcp=linux), "s")
    cubic = {"flows__0__controller": "cubic", "flows__0__constants": {"hystart": 1, "c": 0.4}}
    scenario_of(changed(**cubic), "s")


def test_read_scenario_names_the_file(tmp_path: Path) -> None:
    file = tmp_path / "s.json"
    with pytest.raises(KneepointError, match=r"s\.json: No such file or directory; check the path"):
        read_scenario(file)
    file.write_text("{")
    with pytest.raises(KneepointError, match=r"s\.json: not JSON"):
        read_scenario(file)
    file.write_text("[]")
    with pytest.raises(KneepointError, match=r"s\.json: not an object"):
        read_scenario(file)
    file.write_text(json.dumps(BUFFERBLOAT))
    assert read_scenario(file).duration_s == BUFFERBLOAT["duration_s"]
