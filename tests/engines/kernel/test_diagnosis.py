from dataclasses import replace
from typing import Any

import pytest

from common.errors import KneepointError
from engines.kernel.diagnosis import Facts, diagnose, missing_packages

HEALTHY = Facts(missing=(), namespaces_denied="", tun=True, tun_usable=True)


def test_healthy_host() -> None:
    diagnose(HEALTHY)


@pytest.mark.parametrize(
    ("lack", "message"),
    [
        (
            {"missing": ("iperf3", "ethtool")},
            "iperf3 is not installed, which the kernel's rig needs; run `sudo make kernel-rig` "
            "(it installs iperf3)",
        ),
        (
            {"namespaces_denied": "unshare: unshare failed: Operation not permitted"},
            "this process may not make namespaces (unshare: unshare failed: Operation not "
            "permitted); allow user namespaces",
        ),
        ({"tun": False}, "/dev/net/tun is missing, which the kernel's rig needs for its delay"),
        ({"tun_usable": False}, "/dev/net/tun cannot be opened"),
    ],
)
def test_lack_is_named(lack: dict[str, Any], message: str) -> None:
    with pytest.raises(KneepointError) as raised:
        diagnose(replace(HEALTHY, **lack))
    assert str(raised.value).startswith(message)


def test_packages_are_named_once() -> None:
    facts = replace(HEALTHY, missing=("ip", "tc", "ping"))
    assert missing_packages(facts) == ["iproute2", "iputils-ping"]
