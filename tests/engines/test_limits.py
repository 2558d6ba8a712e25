"""Links that an engine lacks are refused with the key, its value, the reason and a remedy."""

from typing import Any

import pytest

from kneepoint.common.errors import KneepointError
from kneepoint.engines.limits import KERNEL, LIMITS, MAHIMAHI, Limits


@pytest.mark.parametrize(
    ("queue", "engines"),
    [
        ("infinite", {"emulator", "mahimahi", "kernel"}),
        ("droptail:packets=100", {"emulator", "mahimahi", "kernel"}),
        ("codel-mahimahi:packets=9,target=5,interval=100", {"emulator", "mahimahi"}),
        ("pie-mahimahi:bytes=9000,qdelay_ref=20,max_burst=50", {"emulator", "mahimahi"}),
        ("drr:classes=2,packets=20,per_class=1", {"emulator", "kernel"}),
        ("red:min=5,max=15", {"emulator"}),
        ("fq_codel:target=5,interval=100", {"emulator"}),
    ],
)
def test_engines_run_their_queues(queue: str, engines: set[str]) -> None:
    accepting = set()
    for name, limits in LIMITS.items():
        try:
            limits.require({"queue": queue}, "here")
            accepting.add(name)
        except KneepointError as error:
            assert str(error).startswith(f"here.queue: {name} cannot run {queue!r}: ")
    assert accepting == engines


@pytest.mark.parametrize(
    ("limits", "link", "message"),
    [
        (MAHIMAHI, {"queue": "codel:target=5,interval=100"}, "use codel-mahimahi"),
        (MAHIMAHI, {"queue": "pie:qdelay_ref=20,max_burst=50"}, "use pie-mahimahi"),
        (MAHIMAHI, {"queue": "red:min=5,max=15"}, "it has infinite, droptail, drophead"),
        (KERNEL, {"queue": "sfq"}, "here.queue: 'sfq' is not among the queues"),
        (KERNEL, {"constant_mbps": 9}, "here.constant_mbps: kernel .* rate_mbps"),
    ],
)
def test_what_an_engine_lacks_is_refused(
    limits: Limits, link: dict[str, Any], message: str
) -> None:
    with pytest.raises(KneepointError, match=message):
        limits.require({"queue": "infinite", **link}, "here")


@pytest.mark.parametrize("limits", [MAHIMAHI, KERNEL])
def test_every_key_that_an_engine_lacks_is_refused_by_name_and_with_a_remedy(
    limits: Limits,
) -> None:
    for key in limits.lacks:
        with pytest.raises(KneepointError, match=rf"^here\.{key}: {limits.engine} .*(use|give)"):
            limits.require({"queue": "infinite", key: 9}, "here")
