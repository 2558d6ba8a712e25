import copy
import json
from pathlib import Path
from typing import Any

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.engines.kernel.scenario import read_scenario, scenario_of
from kneepoint.networks.traffic import LINUX
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
    assert (scenario.uplink.packets, scenario.uplink.classes) == (100, 1)
    assert scenario.downlink.packets == 1_000_000
    assert [flow.bytes for flow in scenario.flows] == [None, 177_669]
    assert scenario.probes[0].bytes == 88


TWO_CLASSES = "drr:packets=9,classes=2,per_class=1"


@pytest.mark.parametrize(
    ("changes", "parts"),
    [
        ({"uplink__trace": "a.trace"}, ["uplink.trace: kernel", "rate_mbps"]),
        ({"uplink__queue": "droptail:bytes=9"}, ["uplink.queue", "use droptail:packets=N"]),
        ({"uplink__queue": "drr:packets=9,classes=2"}, ["use drr:packets=N,classes=C,per_class=1"]),
        ({"uplink__queue": "drr:packets=9,classes=17,per_class=1"}, ["classes=17", "at most 16"]),
        ({"uplink__rate_mbps": 0}, ["uplink.rate_mbps: 0"]),
        ({"uplink": {"queue": "infinite"}}, ["uplink.rate_mbps", "add it"]),
        ({"downlink__queue": TWO_CLASSES}, ["downlink.queue", "remove them"]),
        (
            {"uplink__queue": TWO_CLASSES, "flows__0__class": 2},
            ["uplink.queue: 2 classes", "0, 2;", "use each class"],
        ),
        (
            {"uplink__queue": TWO_CLASSES, "probes": [{}, {"class": 1}]},
            ["probes: in several classes", "put all"],
        ),
        ({"flows": []}, ["flows: []"]),
        ({"flows__0__transport": "datagrams"}, ["flows.0.transport: 'datagrams'", "tcp"]),
        ({"flows__0__parameters": {"beta": 0.9}}, ["flows.0: beta: 0.9", "has 0.5; remove it"]),
        ({"flows__0__parameters": {"gamma": 1}}, ["gamma: 1", "cannot set it"]),
        ({"flows__0__tcp": {"min_rto_ms": 1000}}, ["min_rto_ms: 1000", "has 200"]),
        ({"flows__0__tcp": {"min_rto_margin_ms": 1}}, ["min_rto_margin_ms: 1", "has 200"]),
        ({"flows__0__tcp": {"send_buffer_bytes": 1 << 20}}, ["0: tcp", "receive_buffer_bytes"]),
        ({"flows__1__tcp": {"receive_buffer_bytes": 1 << 20}}, ["flows.1: tcp", "endless"]),
        ({"flows__0__start_s": 15}, ["flows.0.start_s", "end of the run"]),
        ({"flows__0__start_s": "1"}, ["flows.0.start_s: '1'"]),
        ({"flows__1__start_s": 9, "flows__1__stop_s": 9}, ["flows.1: stop_s 9 must be after"]),
        ({"flows__1__stop_s": 9}, ["flows.1: stop_s", "remove stop_s"]),
        ({"flows__0__request_bytes": 66}, ["flows.0: has request_bytes", "add them"]),
        ({"flows__1__request_bytes": 9}, ["flows.1.request_bytes: 9", "66"]),
        ({"flows__0__from": "far"}, ["flows.0.from: 'far'", "near"]),
        ({"flows__0__start_spread_s": 1}, ["flows.0.start_spread_s: 1", "equal to 0"]),
        ({"flows__1__request_bytes": 66, "flows__1__requests": 2}, ["flows.1.requests: 2"]),
        ({"probes__0__start_s": 15}, ["probes.0.start_s", "end of the run"]),
        ({"probes__0__bytes": 2000}, ["probes.0.bytes: 2000"]),
        ({"interval_s": 0.01}, ["interval_s", "use at least"]),
        ({"speed": 1}, ["speed: 1", "see build/emulate"]),
    ],
)
def test_scenario_beyond_the_kernel_is_refused(changes: dict[str, Any], parts: list[str]) -> None:
    with pytest.raises(KneepointError, match=r"^s: ") as raised:
        scenario_of(changed(**changes), "s")
    assert all(part in str(raised.value) for part in parts), raised.value


def test_parameters_of_the_kernels_own_are_no_matter() -> None:
    linux = LINUX.model_dump(exclude_none=True)
    scenario_of(changed(flows__0__parameters={"beta": 0.5}, flows__0__tcp=linux), "s")
    cubic = {"flows__0__controller": "cubic", "flows__0__parameters": {"hystart": 1, "c": 0.4}}
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
    assert read_scenario(file) == BUFFERBLOAT
