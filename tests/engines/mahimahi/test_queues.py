"""Queues of mm-link under the names that networks give them."""

import pytest

from common.errors import KneepointError
from engines.mahimahi.queues import queue_of


@pytest.mark.parametrize(
    ("described", "kind", "arguments"),
    [
        ("infinite", "infinite", ""),
        ("droptail:packets=100", "droptail", "packets=100"),
        (
            "codel-mahimahi:packets=9,target=5,interval=100",
            "codel",
            "packets=9,target=5,interval=100",
        ),
        (
            "pie-mahimahi:bytes=9000,qdelay_ref=20,max_burst=50",
            "pie",
            "bytes=9000,qdelay_ref=20,max_burst=50",
        ),
    ],
)
def test_mahimahis_own_queues_run(described: str, kind: str, arguments: str) -> None:
    assert queue_of(described, "here") == (kind, arguments)


@pytest.mark.parametrize(
    ("described", "reason"),
    [
        ("codel:target=5,interval=100", "is not RFC 8289's; use codel-mahimahi, or the emulator"),
        ("pie:qdelay_ref=20,max_burst=50", "is not RFC 8033's; use pie-mahimahi, or the emulator"),
        ("red:min=5,max=15", "mahimahi has none; it has infinite, droptail, drophead"),
        ("fq_codel:target=5,interval=100", "mahimahi has none"),
    ],
)
def test_a_queue_that_mahimahi_lacks_is_refused_with_the_reason(
    described: str, reason: str
) -> None:
    with pytest.raises(
        KneepointError, match=r"here: queue .* cannot run on engine mahimahi"
    ) as error:
        queue_of(described, "here")
    assert described in str(error.value) and reason in str(error.value)
