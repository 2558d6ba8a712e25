"""Each attack costs its own run and nothing else; its row says why."""

from pathlib import Path
from typing import Any

import pytest

from tests.controllers.emulator import Link
from tests.entries.building import address_of, require_lost, run_batch, scenario_of

pytestmark = pytest.mark.attacks

_LOST = {  # besides the attacks of test_isolation
    "fork_bomb": "system call clone",
    "threads": "starts threads, which virtual time lacks",
    "execve": "system call execve",
    "kill_all": "system call kill",
    "another_socket": "system call socket",
    "tcp_socket": "nothing to be seen",
    "disk": "more than 1 s of CPU time",
    "memory": "bad_alloc",
    "stack": "SIGSEGV",
    "endless_loop": "more than 1 s of CPU time",
    "endless_prints": "more than 1 s of CPU time",
    "endless_errors": "more than 1 s of CPU time",
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
    "scribbles_over_page": "ended by itself, with exit status 0",
    "blames_a_call": "system call kill",
    "unmaps_page": "SIGSEGV",
    "babbles": "a datagram of [0-9]+ bytes, where the kit's have 1472",
    "claims_more_than_it_says": "a datagram of 0 bytes, where the kit's have 1472",
    "forges_orders": "no datagram was delivered",
    "reports_without_hearing": "reports more than was requested",
    "hears_without_reporting": "sleeps outside poll",
    "closes_its_reports": "ended by itself, with exit status 1",
    "closes_its_orders": "ended by itself, with exit status 1",
    "closes_everything": "it goes on",
    "peeks_at_orders_by_their_size": "system call ioctl",
    "peeks_at_orders_without_waiting": "system call fcntl",
    "peeks_at_orders_by_a_copy": "system call tee",
    "peeks_at_orders_by_a_newer_read": "system call preadv2",
    "sees_a_reader_of_its_words": "nothing to be seen",
    "counts_how_often_it_is_interrupted": "nothing to be seen",
}


def _environment(attack: str, secret: Path) -> dict[str, str]:
    return {
        "ATTACK": attack,
        "SECRET": str(secret),
        "PAGE_OFFSET": hex(address_of("kneepoint::(anonymous namespace)::the_page")),
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


def test_forged_times_gain_nothing(
    objects: dict[str, Path], small_link: Link, tmp_path: Path
) -> None:
    honest = scenario_of(small_link, objects["kit_sender"], {"WINDOW": "20"})
    environment = _environment("speaks_itself", tmp_path / "none")
    forging = scenario_of(small_link, objects["attacks"], environment)
    fair, forged = run_batch([honest, forging])
    assert forged["status"] == "ok", forged
    assert forged["throughput_mbps"] == pytest.approx(fair["throughput_mbps"], rel=0.01)
    assert forged["signal_delay_p95_ms"] == pytest.approx(fair["signal_delay_p95_ms"], rel=0.02)


def test_who_reads_ahead_differs_from_its_repetition(
    objects: dict[str, Path], small_link: Link, tmp_path: Path
) -> None:
    """A repeated run without lookahead reveals entries that read ahead, and changes no honest
    run."""
    environment = _environment("speaks_itself", tmp_path / "none")
    host = {"host_model": "event-loop:delays_us=0+50+400+3000"}
    forging = scenario_of(small_link, objects["attacks"], environment, **host)
    ahead, in_time = run_batch([forging, {**forging, "entry_lookahead_us": 0}])
    assert ahead["status"] == in_time["status"] == "ok"
    assert ahead != in_time
