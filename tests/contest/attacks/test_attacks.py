"""Each attack costs its own run and nothing else; its row says why."""

from pathlib import Path
from typing import Any

import pytest

from tests.controllers.emulator import Link
from tests.entries.building import address_of, require_lost, run_batch, scenario_of

pytestmark = pytest.mark.attacks

_REPORT_OFFSET = 32 + 6 * 8 + 2 * 4 + 29 * 64
"""Where an entry's own words begin on the page: after the turn and the emulator's words."""

_LOST = {  # besides those of test_isolation
    "fork_bomb": "system call clone",
    "threads": "starts threads, which virtual time lacks",
    "execve": "system call execve",
    "kill_all": "system call kill",
    "another_socket": "system call socket",
    "tcp_socket": "nothing to be seen",
    "disk": "more than 2 s of CPU time",
    "memory": "bad_alloc",
    "stack": "SIGSEGV",
    "endless_loop": "more than 2 s of CPU time",
    "endless_prints": "more than 2 s of CPU time",
    "endless_errors": "more than 2 s of CPU time",
    "busy_wait": "no datagram was delivered",
    "never_returns": "sleeps outside poll",
    "naps": "sleeps outside poll",
    "exits_at_once": "ended by itself, with exit status 0",
    "exits_as_if_faulty": "ended by itself, with exit status 125",
    "sends_nothing": "no datagram was delivered",
    "sends_without_end": "sends without end: more than 1048576 datagrams in flight",
    "small_datagrams": "a datagram of 48 bytes, where the kit's have 1472",
    "large_datagrams": "a datagram of 9000 bytes, where the kit's have 1472",
    "crashes_on_acknowledgment": "SIGSEGV",
    "scribbles_over_page": "a datagram of 18446744073709551615 bytes",
    "unmaps_page": "SIGSEGV",
    "races_for_page": ".",
}


def _environment(attack: str, secret: Path) -> dict[str, str]:
    return {
        "ATTACK": attack,
        "SECRET": str(secret),
        "HOST_OFFSET": hex(address_of("kneepoint::(anonymous namespace)::the_host")),
        "REPORT_OFFSET": str(_REPORT_OFFSET),
    }


@pytest.mark.parametrize("attack", sorted(_LOST))
def test_attack_loses_its_own_run_only(
    attack: str, objects: dict[str, Path], small_link: Link, tmp_path: Path
) -> None:
    def hostile(attack: str, secret: Path) -> dict[str, Any]:
        longer = {"duration_s": 8} if attack == "sends_without_end" else {}
        return scenario_of(small_link, objects["attacks"], _environment(attack, secret), **longer)

    honest = scenario_of(small_link, objects["kit_sender"])
    require_lost({attack: _LOST[attack]}, hostile, honest, tmp_path)


def test_forged_acknowledgments_fool_the_forger_alone(
    objects: dict[str, Path], small_link: Link, tmp_path: Path
) -> None:
    honest = scenario_of(small_link, objects["kit_sender"])
    environment = _environment("forges_acknowledgments", tmp_path / "none")
    forging = scenario_of(small_link, objects["attacks"], environment)
    before, forged, after = run_batch([honest, forging, honest])
    assert after == before
    assert forged["packets_delivered"] <= forged["packets_sent"]
    assert forged["utilization"] <= 1


def test_forged_times_gain_nothing(
    objects: dict[str, Path], small_link: Link, tmp_path: Path
) -> None:
    honest = scenario_of(small_link, objects["kit_sender"], {"WINDOW": "20"})
    forging = scenario_of(
        small_link, objects["attacks"], _environment("forges_times", tmp_path / "none")
    )
    fair, forged = run_batch([honest, forging])
    assert forged["status"] == "ok", forged
    assert forged["throughput_mbps"] == pytest.approx(fair["throughput_mbps"], rel=0.01)
    assert forged["signal_delay_p95_ms"] == pytest.approx(fair["signal_delay_p95_ms"], rel=0.02)
