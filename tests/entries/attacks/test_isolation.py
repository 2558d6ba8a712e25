"""The isolation of entries, also in static constructors, with and without namespaces."""

import json
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.controllers.emulator import EMULATE, Link
from tests.engines.live_run import wait_until
from tests.entries.building import (
    NO_NAMESPACES,
    are_running,
    can_refuse_namespaces,
    require_lost,
    run_batch,
    scenario_of,
)

pytestmark = pytest.mark.attacks

_UNSEEN = "nothing to be seen"
_LOST = {
    "fork_by_system_call": "system call clone",
    "kill_parent": "system call kill",
    "signal_parent": "system call tgkill",
    "ptrace": "system call ptrace",
    "write_parents_memory": "system call process_vm_writev",
    "raw_socket": "system call socket",
    "open_file": _UNSEEN,
    "open_stream": _UNSEEN,
    "read_memory": _UNSEEN,
    "dlopen": _UNSEEN,
    "unlink": "system call unlinkat",
    "write_file": _UNSEEN,
    "runs_its_own_code": "system call mmap",
    "lifts_its_limits": "system call prlimit64",
    "reads_the_real_clock": "system call clock_gettime",
    "asks_the_c_library_for_the_clock": "SIGSEGV",
    "makes_the_kernels_code_run": "system call mprotect",
    "counts_cycles": "cycle counter",
    "counts_cycles_in_order": "cycle counter",
    "asks_at_the_old_address": "system call gettimeofday|SIGSEGV",
    "enables_cycle_counter": "system call prctl",
    "own_filter": "system call seccomp",
    "own_filter_by_prctl": "system call prctl",
    "turns_data_into_code": "system call mprotect",
    "changes_its_code": "system call mprotect",
    "maps_its_object_to_change_and_run": "system call mmap",
    "maps_its_output_to_run": "system call mmap",
    "looks_up": _UNSEEN,
    "looks_up_with_an_empty_path": _UNSEEN,
    "looks_up_by_name": _UNSEEN,
    "looks_up_by_statx": _UNSEEN,
    "looks_up_by_place": _UNSEEN,
    "opens_by_a_newer_call": _UNSEEN,
    "asks_for_access": _UNSEEN,
    "follows_links": _UNSEEN,
    "which_processors": _UNSEEN,
    "asks_for_its_folder": _UNSEEN,
    "opens_the_root": _UNSEEN,
    "times_of_its_output": _UNSEEN,
    "times_of_its_object": _UNSEEN,
    "which_process": "numbers 1 1 0 1 1 0$",
    "throws": "SIGABRT.*the student's own words",
    "moves_pages_of_files": _UNSEEN,
    "lock_with_the_process_number": "system call futex",
    "looks_for_holes": "system call lseek",
    "takes_large_pages": "system call mmap",
    "calls_as_32_bits": "SIGSYS",
    "calls_as_x32": "SIGSYS",
}
_CALLS = (
    *("setpriority", "ioprio_set", "sched_setaffinity"),
    *("sched_setscheduler", "sched_setattr", "pidfd_open", "pidfd_send_signal", "pidfd_getfd"),
    *("process_madvise", "move_pages", "migrate_pages", "kcmp", "shmget", "semget", "msgget"),
    *("mq_open", "unshare", "setns", "mount", "userfaultfd", "perf_event_open", "bpf"),
    *("io_uring_setup", "memfd_create", "pipe2", "clone3", "rt_sigaction", "setitimer"),
    *("getrandom", "gettimeofday", "getrusage", "mincore", "fadvise64", "readahead"),
    *("readv", "preadv2", "mlock", "mlock2", "mlockall", "msync", "sync", "syncfs", "statfs"),
    *("fstatfs", "uname", "getcpu", "times", "ppoll", "pselect6", "epoll_create1", "eventfd2"),
    *("signalfd4", "timerfd_create", "timer_create", "inotify_init1", "membarrier", "rseq"),
    *("add_key", "keyctl", "dup3", "tee", "splice", "vmsplice"),
)


def _isolated(is_apart: bool) -> Sequence[str]:
    if is_apart:
        return ()
    if not can_refuse_namespaces():
        pytest.skip("this host grants no namespaces: there is only one case")
    return NO_NAMESPACES


@pytest.mark.slow
@pytest.mark.parametrize("is_apart", [True, False], ids=["namespaces", "filters"])
@pytest.mark.parametrize("is_early", [True, False], ids=["loading", "running"])
def test_attacks_lose_their_own_runs_only(
    is_early: bool, is_apart: bool, objects: dict[str, Path], small_link: Link, tmp_path: Path
) -> None:
    when = {"WHILE_LOADING": "1"} if is_early else {}

    def hostile(attack: str, secret: Path) -> dict[str, Any]:
        name, _, call = attack.partition(" ")
        environment = {"ATTACK": name, "CALL": call, "SECRET": str(secret), **when}
        return scenario_of(small_link, objects["attacks"], environment)

    expected = {**_LOST, **{f"calls {call}": f"system call {call}," for call in _CALLS}}
    honest = scenario_of(small_link, objects["kit_sender"])
    require_lost(expected, hostile, honest, tmp_path, _isolated(is_apart))


def test_a_host_tells_no_seed_but_by_what_it_draws(
    objects: dict[str, Path], small_link: Link
) -> None:
    hostile = scenario_of(small_link, objects["attacks"], {"ATTACK": "which_seed"})
    one, again, other = run_batch([{**hostile, "seed": seed} for seed in (1, 1, 2)])
    assert "words 0 0 0" in one["reason"]
    assert one == again == other


def test_isolation_changes_no_byte(objects: dict[str, Path], small_link: Link) -> None:
    honest = [scenario_of(small_link, objects["kit_sender"], seed=seed) for seed in range(4)]
    assert run_batch(honest) == run_batch(honest, prefix=_isolated(False))


def test_the_end_of_the_emulator_ends_the_entry(
    objects: dict[str, Path], small_link: Link, tmp_path: Path
) -> None:
    attacks = Path(
        shutil.copy(objects["attacks"], tmp_path)
    )  # other processes run the shared object
    hostile = scenario_of(small_link, attacks, {"ATTACK": "never_returns"})
    with subprocess.Popen([EMULATE, "--batch"], stdin=subprocess.PIPE) as emulator:
        assert emulator.stdin is not None
        # Runs are short: on a busy host, a single run may end before the test observes it.
        emulator.stdin.write(30 * (json.dumps({"scenario": hostile}).encode() + b"\n"))
        emulator.stdin.flush()
        wait_until(lambda: are_running(str(attacks)))
        emulator.kill()
    wait_until(lambda: not are_running(str(attacks)))
